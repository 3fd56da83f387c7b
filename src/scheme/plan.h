/* plan.h - computes the shape for a request (keys and rate, keys and memory, or bits and hashes) by
 * inverting the exact models. */
#ifndef PETAL_SCHEME_PLAN_H
#define PETAL_SCHEME_PLAN_H

#include "scheme/scheme.h"

/* Checks that the size fields of `options` are consistent, for filters of any format. `keys` is the
 * filter's capacity, or the number of keys in its window. Returns PETAL_ERR_ARGUMENT if the fields
 * are inconsistent. */
petal_status petal_plan_check(const petal_options *options, uint64_t keys, petal_error *error);

/* Computes the normalized shape for the size, scheme and rate fields of `options`, which must have
 * been checked. Returns the same statuses as petal_plan(). */
petal_status petal_plan_shape(const petal_options *options, struct shape *shape,
                              petal_error *error);

/* Returns the minimum number of bits to which a filter of this normalized shape can be folded while
 * keeping the rate for this number of keys. The result is an integer fraction of the shape's bits,
 * or 0 if even the unfolded filter doesn't keep the rate. */
uint64_t petal_plan_folded_bits(const struct shape *shape, uint64_t keys, double rate);

/* Returns the maximum number of keys at which a filter of this normalized shape keeps the rate,
 * rounded down to a few significant bits. */
uint64_t petal_plan_capacity(const struct shape *shape, double rate);

#endif

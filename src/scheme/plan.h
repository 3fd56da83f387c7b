/* plan.h - turns a request (keys and rate, keys and memory, bits and hashes) into a shape, by
 * inverting the exact models. */
#ifndef PETAL_SCHEME_PLAN_H
#define PETAL_SCHEME_PLAN_H

#include "scheme/scheme.h"

/* Checks that the size fields of `options` fit together, for filters of any format. `keys` is the
 * filter's capacity, or the number of keys in its window. Returns PETAL_ERR_ARGUMENT if they
 * don't. */
petal_status petal_plan_check(const petal_options *options, uint64_t keys, petal_error *error);

/* Finds the normalized shape for the size, scheme and rate fields of checked `options`. Returns the
 * same statuses as petal_plan(). */
petal_status petal_plan_shape(const petal_options *options, struct shape *shape,
                              petal_error *error);

/* Returns the fewest bits to which a filter of this normalized shape can be folded (an integer
 * fraction of its own) and still keep the rate for this many keys. Returns 0 if even its own bits
 * don't keep it. */
uint64_t petal_plan_folded_bits(const struct shape *shape, uint64_t keys, double rate);

/* Returns the maximum number of keys at which a filter of this normalized shape keeps the rate,
 * rounded down to few significant bits. */
uint64_t petal_plan_capacity(const struct shape *shape, double rate);

#endif

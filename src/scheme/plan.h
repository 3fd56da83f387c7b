/* plan.h - from a request (keys and rate, keys and memory, bits and hashes) to a shape, by
 * inverting the exact models. */
#ifndef PETAL_SCHEME_PLAN_H
#define PETAL_SCHEME_PLAN_H

#include "scheme/scheme.h"

/* Do the size fields of `options` fit together, for filters of any format? `keys` is the filter's
 * capacity, or the keys of its window. PETAL_ERR_ARGUMENT if they don't. */
petal_status petal_plan_check(const petal_options *options, uint64_t keys, petal_error *error);

/* The normalized shape for the size, scheme and rate fields of checked `options`. Returns the same
 * statuses as petal_plan(). */
petal_status petal_plan_shape(const petal_options *options, struct shape *shape,
                              petal_error *error);

/* The fewest bits to which a filter of this normalized shape can be folded (an integer fraction of
 * its own) while keeping the rate for this many keys. 0: even its own bits don't keep it. */
uint64_t petal_plan_folded_bits(const struct shape *shape, uint64_t keys, double rate);

/* The maximum number of keys at which a filter of this normalized shape keeps the rate, rounded
 * down to few significant bits. */
uint64_t petal_plan_capacity(const struct shape *shape, double rate);

#endif

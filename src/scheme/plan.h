/* plan.h - from what is asked for (keys and rate, keys and memory, bits and hashes) to a shape, by
 * inverting the exact models. */
#ifndef PETAL_SCHEME_PLAN_H
#define PETAL_SCHEME_PLAN_H

#include "scheme/scheme.h"

/* Whether the size fields of `options` go together, for filters of any format; `keys` are its
 * capacity, or the keys of its window. PETAL_ERR_ARGUMENT otherwise. */
petal_status petal_plan_check(const petal_options *options, uint64_t keys, petal_error *error);

/* The normalized shape for the size, scheme and rate fields of checked `options`. Status as of
 * petal_plan(). */
petal_status petal_plan_shape(const petal_options *options, struct shape *shape,
                              petal_error *error);

/* The fewest bits that a filter of this normalized shape can be folded to (a whole fraction of its
 * own) and keep the rate for that many keys; 0: its own bits don't keep it. */
uint64_t petal_plan_folded_bits(const struct shape *shape, uint64_t keys, double rate);

/* The most keys at which a filter of this normalized shape keeps the rate, rounded down to few
 * significant bits. */
uint64_t petal_plan_capacity(const struct shape *shape, double rate);

#endif

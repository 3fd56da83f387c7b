/* growing.h - filters that grow: a new layer, larger and tighter, when the last is full. Pure
 * arithmetic except for the layer itself. */
#ifndef PETAL_FILTER_GROWING_H
#define PETAL_FILTER_GROWING_H

#include "filter/filter.h"

/* What docs/choosing.md finds best by bits per key, over 1 to 10,000 times the first capacity. */
#define PETAL_GROWTH_STEP 2u
#define PETAL_GROWTH_RATIO 0.85
#define PETAL_GROWTH_MAX_STEP 64u

/* The policy that the options ask for; options->growth is true. */
petal_status petal_growing_policy(const petal_options *options, struct policy *policy,
                                  petal_error *error);

/* Could a file with that many layers have this policy? */
bool petal_growing_is_possible(const struct policy *policy);

/* What the layer of this number, from 0, is planned for. False: more keys than 64 bits can
 * count. */
bool petal_growing_layer(const struct policy *policy, uint32_t number, uint64_t *capacity,
                         double *rate);

/* grow of such filters. */
petal_status petal_growing_grow(petal_filter *filter, petal_error *error);

#endif

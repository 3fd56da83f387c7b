/* growing.h - filters that grow: when the last layer is full, a larger one with a lower rate is
 * added. Pure arithmetic, except for adding the layer. */
#ifndef PETAL_FILTER_GROWING_H
#define PETAL_FILTER_GROWING_H

#include "filter/filter.h"

/* According to docs/choosing.md, these need the fewest bits per key from 1 to 10,000 times the
 * first capacity. */
#define PETAL_GROWTH_STEP 2u
#define PETAL_GROWTH_RATIO 0.85
#define PETAL_GROWTH_MAX_STEP 64u

/* The policy that the options request; options->growth must be set. */
petal_status petal_growing_policy(const petal_options *options, struct policy *policy,
                                  petal_error *error);

/* Can a file with this many layers have this policy? */
bool petal_growing_is_possible(const struct policy *policy);

/* The planned capacity and rate of layer `number`, from 0. False: more keys than 64 bits can
 * count. */
bool petal_growing_layer(const struct policy *policy, uint32_t number, uint64_t *capacity,
                         double *rate);

/* `grow` for such filters. */
petal_status petal_growing_grow(petal_filter *filter, petal_error *error);

#endif

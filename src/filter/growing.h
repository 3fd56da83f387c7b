/* growing.h - filters that grow. When the last layer is full, a larger layer with a lower rate is
 * added. */
#ifndef PETAL_FILTER_GROWING_H
#define PETAL_FILTER_GROWING_H

#include "filter/filter.h"

/* With these defaults, filters that grow to between 1 and 10,000 times their initial capacity need
 * the fewest bits per key: see docs/choosing.md. */
#define PETAL_GROWTH_STEP 2u
#define PETAL_GROWTH_RATIO 0.85
#define PETAL_GROWTH_MAX_STEP 64u

/* Computes the policy that the options request. options->growth must be set. */
petal_status petal_growing_policy(const petal_options *options, struct policy *policy,
                                  petal_error *error);

/* Returns true if a file may have this policy. */
bool petal_growing_is_possible(const struct policy *policy);

/* Computes the planned capacity and rate of a layer. `number` counts from 0. Returns false if the
 * capacity doesn't fit in 64 bits. */
bool petal_growing_layer(const struct policy *policy, uint32_t number, uint64_t *capacity,
                         double *rate);

/* The `grow` function of growing filters. */
petal_status petal_growing_grow(petal_filter *filter, petal_error *error);

#endif

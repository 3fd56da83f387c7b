/* rotating.h - filters that forget old keys. Such a filter is a ring of generations. The oldest
 * generation is dropped as a whole when its keys are older than the window. */
#ifndef PETAL_FILTER_ROTATING_H
#define PETAL_FILTER_ROTATING_H

#include "filter/filter.h"

/* The maximum number of generations G. A time window may have 2G - 1 layers, and a file has at most
 * 64. */
#define PETAL_MAX_GENERATIONS 32u

/* Computes the policy that the options request, and the number of keys and the normalized shape of
 * each generation. */
petal_status petal_rotating_plan(const petal_options *options, struct policy *policy,
                                 uint64_t *capacity, struct shape *shape, petal_error *error);

/* Returns the maximum number of layers. A window of keys always has this number. A time window
 * starts with one layer. */
uint32_t petal_rotating_max_layers(const struct policy *policy);

/* Returns true if a file may have this policy with `layer_count` layers of this capacity. */
bool petal_rotating_is_possible(const struct policy *policy, uint32_t layer_count,
                                uint64_t capacity);

/* Returns true if a file with this policy can have these layers in this order. `until_ms` belongs
 * to layer `number`, and `before` is the previous layer's until_ms, or 0 for the oldest layer. */
bool petal_rotating_has_time(const struct policy *policy, uint32_t number, uint32_t layer_count,
                             uint64_t before, uint64_t until_ms);

/* Returns how long a generation of a time window stays open, in milliseconds. */
uint64_t petal_rotating_span(const struct policy *policy);

/* Returns the last millisecond in which a generation that starts now accepts keys, or 0 before the
 * clock is set. */
uint64_t petal_rotating_until(const struct policy *policy);

/* Call this function before adding a key. If the newest generation is used up, it starts another.
 * Sets *room to the number of keys, at least 1, that the newest generation accepts. */
petal_status petal_rotating_make_room(petal_filter *filter, uint64_t *room, petal_error *error);

#endif

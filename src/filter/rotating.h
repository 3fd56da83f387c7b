/* rotating.h - filters that forget: rings of generations. The oldest generation is dropped as a
 * whole when its keys are older than the window. */
#ifndef PETAL_FILTER_ROTATING_H
#define PETAL_FILTER_ROTATING_H

#include "filter/filter.h"

/* A time window may have 2G - 1 layers, and a file at most 64. */
#define PETAL_MAX_GENERATIONS 32u

/* Computes the policy that the options request, and the number of keys and the normalized shape
 * planned for each generation. */
petal_status petal_rotating_plan(const petal_options *options, struct policy *policy,
                                 uint64_t *capacity, struct shape *shape, petal_error *error);

/* The maximum number of layers. A window of keys always has that many; a time window begins with
 * one. */
uint32_t petal_rotating_max_layers(const struct policy *policy);

/* Can a file have this policy, with that many layers of this capacity? */
bool petal_rotating_is_possible(const struct policy *policy, uint32_t layer_count,
                                uint64_t capacity);

/* Can a file with this policy have these layers in this order? `until_ms` is layer `number`'s;
 * `before` is the previous layer's, 0 for the oldest. */
bool petal_rotating_has_time(const struct policy *policy, uint32_t number, uint32_t layer_count,
                             uint64_t before, uint64_t until_ms);

/* How long a generation of a time window stays open, in milliseconds. */
uint64_t petal_rotating_span(const struct policy *policy);

/* The last millisecond at which a generation that begins now accepts keys. 0 until the clock is
 * set. */
uint64_t petal_rotating_until(const struct policy *policy);

/* Called before a key is added. If the newest generation is used up, begins another. *room is the
 * number of keys that the newest then accepts, at least 1. */
petal_status petal_rotating_make_room(petal_filter *filter, uint64_t *room, petal_error *error);

#endif

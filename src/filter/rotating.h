/* rotating.h - filters that forget: generations, the oldest dropped whole when its keys are older
 * than the window. */
#ifndef PETAL_FILTER_ROTATING_H
#define PETAL_FILTER_ROTATING_H

#include "filter/filter.h"

/* By time there may be 2G - 1 layers, and a file holds 64. */
#define PETAL_MAX_GENERATIONS 32u

/* The policy that the options ask for, and what each generation is planned for: its keys, and its
 * normalized shape. */
petal_status petal_rotating_plan(const petal_options *options, struct policy *policy,
                                 uint64_t *capacity, struct shape *shape, petal_error *error);

/* How many layers there can be. By keys that is also how many there always are; by time a filter
 * begins with one. */
uint32_t petal_rotating_max_layers(const struct policy *policy);

/* Could a file have this policy, with that many layers of this capacity? */
bool petal_rotating_is_possible(const struct policy *policy, uint32_t layer_count,
                                uint64_t capacity);

/* Could a file with this policy have these layers in this order? `until_ms` is that of layer
 * `number`, `before` that of the one before it, 0 for the oldest. */
bool petal_rotating_has_time(const struct policy *policy, uint32_t number, uint32_t layer_count,
                             uint64_t before, uint64_t until_ms);

/* By time: how long a generation stays open, in milliseconds. */
uint64_t petal_rotating_span(const struct policy *policy);

/* The last millisecond at which a generation that begins now takes keys; 0 while no time has been
 * told. */
uint64_t petal_rotating_until(const struct policy *policy);

/* Before a key is added: begins a generation if the newest is used up. *room is how many keys it
 * takes then, at least 1. */
petal_status petal_rotating_make_room(petal_filter *filter, uint64_t *room, petal_error *error);

#endif

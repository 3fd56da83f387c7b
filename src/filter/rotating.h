/* rotating.h - filters that forget: a ring of generations, the oldest dropped whole when its time is over. */
#ifndef PETAL_FILTER_ROTATING_H
#define PETAL_FILTER_ROTATING_H

#include "filter/filter.h"

#define PETAL_MOST_GENERATIONS 64u

/* The policy that the options ask for, and what each of how many generations is to be: its keys, and its settled shape. */
petal_status petal_rotating_plan(const petal_options *options, struct policy *policy, uint32_t *generations,
                                 uint64_t *capacity, struct shape *shape, petal_error *error);

/* Could a file have this policy, with so many generations of this capacity? */
bool petal_rotating_is_possible(const struct policy *policy, uint32_t generations, uint64_t capacity);

/* How long keys go into one generation, in milliseconds: the window over all generations but one, rounded up. */
uint64_t petal_rotating_span(const struct policy *policy, uint32_t generations);

/* Drops the oldest generations, `count` of them, and begins as many anew. */
void petal_rotating_drop(petal_filter *filter, uint64_t count);

#endif

/* overfull.c - finds out whether a filter holds more distinct keys than its capacity.
 *
 * `items` doesn't show whether a filter is overfull, since it counts repeats. The bits show it, but
 * counting 5 GB of them takes a second. So the bits are counted once per step, which is 1/32 of the
 * capacity. While `items` does not exceed the capacity, the bits are not counted at all:
 *
 *     items     0 .................... capacity |  step 1  |  step 2  |  step 3  |
 *     counted   never                           ^ once     ^ once     ^ once
 *
 * Removals also advance the steps, because the same number of other keys may have been added in the
 * meantime. */
#include "base/checked.h"
#include "filter/guard.h"

#define STEPS_PER_CAPACITY 32u

/* ---- windows of time ------------------------------------------------------------------------- */

/* Returns the number of keys in G generations, which is the maximum that the filter remembers if no
 * window has more keys than planned. */
static uint64_t max_items(const petal_filter *filter)
{
    uint64_t most = UINT64_MAX;
    (void)checked_mul(filter->layers->capacity, filter->policy.generations, &most);
    return most;
}

/* Returns true if a time window contained more keys than planned (so the rate may exceed the
 * requested rate). Considers only generations that still exist. */
static bool window_is_overfull(const petal_filter *filter)
{
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (filter->layers[i].items > filter->layers[i].capacity) return true;
    return petal_filter_items(filter) > max_items(filter);
}

/* Returns the number of keys, at least 1, that may be added before window_is_overfull() can become
 * true. */
static uint64_t keys_to_window_overfull(const petal_filter *filter)
{
    const struct layer *newest = petal_filter_last(filter);
    if (window_is_overfull(filter)) return 1;
    uint64_t left = max_items(filter) - petal_filter_items(filter),
             share_left = newest->capacity - newest->items;
    return saturating_add(left < share_left ? left : share_left, 1);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint64_t step_width(uint64_t capacity)
{
    return capacity < STEPS_PER_CAPACITY ? 1 : capacity / STEPS_PER_CAPACITY;
}

/* If the filter exceeds its capacity, returns the number of keys since the first one beyond the
 * capacity, which determines the step. A removed key counts twice: once for the removal, and once
 * because it lowered `items`. */
static uint64_t keys_beyond(const petal_filter *filter, uint64_t items, uint64_t capacity)
{
    return items - capacity - 1 + 2 * filter->removals;
}

/* Returns the filter's current step, counted from 1, or 0 if the bits needn't be counted. Growing
 * filters can't be overfull, and neither can windows of keys, which drop the oldest keys. Time
 * windows can be overfull, but they need no steps, since their generations count only new keys. */
static uint64_t current_step(const petal_filter *filter)
{
    uint64_t items = petal_filter_items(filter), capacity = petal_filter_capacity(filter);
    if (!petal_filter_is_single(filter) || capacity == 0 || items <= capacity) return 0;
    uint64_t step = keys_beyond(filter, items, capacity) / step_width(capacity) + 1;
    return step <= INT64_MAX ? step : INT64_MAX;
}

uint64_t petal_filter_keys_to_next_step(const petal_filter *filter)
{
    uint64_t items = petal_filter_items(filter), capacity = petal_filter_capacity(filter);
    if (filter->policy.kind == POLICY_TIME) return keys_to_window_overfull(filter);
    if (!petal_filter_is_single(filter) || capacity == 0) return UINT64_MAX;
    if (items <= capacity) return saturating_add(capacity - items, 1);
    return step_width(capacity) - keys_beyond(filter, items, capacity) % step_width(capacity);
}

/* Stores the last answer and its step in one word: step << 1 | answer. This also changes const
 * filters, which is safe because petal_filter_new() allocated every filter, so no filter object is
 * actually const. */
static _Atomic uint64_t *answer_of(const petal_filter *filter)
{
    return (_Atomic uint64_t *)(uintptr_t)&filter->overfull;
}

bool petal_filter_judge_overfull(const petal_filter *filter, const petal_estimate *distinct)
{
    uint64_t step = current_step(filter);
    if (filter->policy.kind == POLICY_TIME) return window_is_overfull(filter);
    if (step == 0) return false;
    bool is_overfull = petal_filter_is_too_much(distinct, petal_filter_capacity(filter));
    atomic_store_explicit(answer_of(filter), step << 1 | is_overfull, memory_order_relaxed);
    return is_overfull;
}

bool petal_filter_was_overfull(const petal_filter *filter)
{
    return atomic_load_explicit(answer_of(filter), memory_order_relaxed) & 1;
}

bool petal_is_overfull(const petal_filter *filter)
{
    uint64_t step = current_step(filter),
             known = atomic_load_explicit(answer_of(filter), memory_order_relaxed);
    if (filter->policy.kind == POLICY_TIME) return window_is_overfull(filter);
    if (step == 0) return false;
    if (known >> 1 == step) return known & 1;
    if (petal_guard_check_all(filter, NULL) != PETAL_OK) return false;
    petal_estimate distinct = petal_filter_estimate_distinct(filter);
    return petal_filter_judge_overfull(filter, &distinct);
}

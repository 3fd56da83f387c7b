/* rotating.c - see rotating.h.
 *
 * Of G generations the newest takes all keys; the G - 1 behind it together span the window. When the newest has had its span, of
 * keys or of time, the oldest is wiped and becomes the newest:
 *
 *     span     0        1        2        3        4                window = 3 spans, G = 4
 *     keys     aaaaaaaa bbbbbbbb cccccccc dddddddd
 *                       bbbbbbbb cccccccc dddddddd eeee             a is dropped as the first e comes
 *                       |<------- window ------->|
 *
 * So a key is found for a window at least, and for a window and one span at most. Each generation is rated for p / G, since a key
 * is found when any has it. By time, spans are counted from the clock's zero, so that filters of one policy rotate together, and
 * the clock alone tells what is due. */
#include "filter/rotating.h"

#include "base/checked.h"
#include "base/error.h"
#include "scheme/plan.h"

#include <string.h>

/* Among counts of generations whose memory differs by less, the lowest is taken: each is one more place to look. */
#define NEARLY 1.01
#define MOST_WORTH_TRYING 16u /* memory has its least near 8 */

static uint64_t part_of(uint64_t whole, uint32_t generations)
{
    uint64_t parts = generations - 1;
    return whole / parts + (whole % parts != 0);
}

uint64_t petal_rotating_span(const struct policy *policy, uint32_t generations)
{
    return part_of(policy->window_ms, generations);
}

bool petal_rotating_is_possible(const struct policy *policy, uint32_t generations, uint64_t capacity)
{
    bool by_time = policy->kind == POLICY_TIME;
    return generations >= 2 && generations <= PETAL_MOST_GENERATIONS && policy->window_keys > 0 && policy->rate > 0 &&
           policy->rate < 1 && capacity == part_of(policy->window_keys, generations) && policy->clock_ms <= INT64_MAX &&
           policy->window_ms <= INT64_MAX &&
           (by_time ? policy->window_ms > 0 : policy->window_ms == 0 && policy->clock_ms == 0);
}

/* ---- planning -------------------------------------------------------------------------------------------------------- */

static petal_status plan_generation(const petal_options *options, uint32_t generations, struct shape *shape,
                                    petal_error *error)
{
    petal_options one = PETAL_OPTIONS_INIT;
    one.scheme = options->scheme;
    one.lines_per_key = options->lines_per_key;
    one.hashes = options->hashes;
    one.capacity = part_of(options->window_keys, generations);
    one.rate = options->rate / generations;
    return petal_plan_shape(&one, shape, error);
}

/* The number of generations that needs the least memory, or nearly so. */
static petal_status choose_generations(const petal_options *options, uint32_t *generations, petal_error *error)
{
    double bits[MOST_WORTH_TRYING + 1] = {0}, least = 0;
    petal_status status = PETAL_OK;
    for (uint32_t i = 2; i <= MOST_WORTH_TRYING; i++) {
        struct shape shape;
        petal_status possible = plan_generation(options, i, &shape, status == PETAL_OK ? error : NULL);
        if (possible != PETAL_OK) status = possible;
        if (possible == PETAL_OK) bits[i] = (double)shape.bits * i;
        if (possible == PETAL_OK && (least == 0 || bits[i] < least)) least = bits[i];
    }
    if (least == 0) return status;
    for (*generations = 2; bits[*generations] == 0 || bits[*generations] > least * NEARLY;) ++*generations;
    return PETAL_OK;
}

petal_status petal_rotating_plan(const petal_options *options, struct policy *policy, uint32_t *generations,
                                 uint64_t *capacity, struct shape *shape, petal_error *error)
{
    *policy = (struct policy){.kind = options->window_ms ? POLICY_TIME : POLICY_KEYS,
                              .rate = options->rate,
                              .window_keys = options->window_keys,
                              .window_ms = options->window_ms};
    *generations = options->generations;
    if (options->window_keys == 0 || !(options->rate > 0 && options->rate < 1))
        return petal_fail(
            error, PETAL_ERR_ARGUMENT,
            "a window needs its number of keys (by time: how many are expected) and a rate between 0 and 1");
    if (*generations == 1 || *generations > PETAL_MOST_GENERATIONS || options->window_ms > INT64_MAX)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a window has 2 to %u generations and at most 2^63 - 1 ms",
                          PETAL_MOST_GENERATIONS);
    petal_status status = *generations ? PETAL_OK : choose_generations(options, generations, error);
    if (status == PETAL_OK) status = plan_generation(options, *generations, shape, error);
    if (status == PETAL_OK) *capacity = part_of(options->window_keys, *generations);
    policy->generations = *generations;
    return status;
}

/* ---- rotating -------------------------------------------------------------------------------------------------------- */

static void drop_oldest(petal_filter *filter)
{
    struct layer oldest = filter->layers[0];
    memmove(filter->layers, filter->layers + 1, (filter->layer_count - 1) * sizeof oldest);
    memset(oldest.array.bytes, 0, (size_t)oldest.array.size_bytes);
    oldest.items = 0;
    *petal_filter_last(filter) = oldest;
}

void petal_rotating_drop(petal_filter *filter, uint64_t count)
{
    if (count > filter->layer_count) count = filter->layer_count; /* months may have passed: never one by one */
    while (count-- > 0) drop_oldest(filter);
}

static petal_status advance(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    struct policy *policy = &filter->policy;
    if (policy->kind != POLICY_TIME)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "only a filter with a window of time has a clock");
    if (now_ms > INT64_MAX) return petal_fail(error, PETAL_ERR_ARGUMENT, "a clock beyond 2^63 - 1 ms");
    if (now_ms <= policy->clock_ms) return PETAL_OK; /* clocks are set back now and then: nothing is dropped early */
    petal_status status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    uint64_t span = petal_rotating_span(policy, filter->layer_count), before = policy->clock_ms;
    policy->clock_ms = now_ms;
    if (before != 0) petal_rotating_drop(filter, now_ms / span - before / span);
    return PETAL_OK;
}

petal_status petal_advance(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, advance(filter, now_ms, error), error);
}

/* rotating.c - see rotating.h.
 *
 * All keys are added to the newest generation. When it is used up, a new generation starts. The
 * oldest generation is dropped when all of its keys are older than the window. A key is found if
 * any generation contains it. So each generation is planned for a share of the window's keys, 1 /
 * (G - 1), at the rate p / G.
 *
 * By keys: a generation is used up when its share of keys has been added. There is a ring of G
 * generations, and each new one replaces the oldest:
 *
 *     share    0        1        2        3        4             window = 3 shares, G = 4
 *     keys     aaaaaaaa bbbbbbbb cccccccc dddddddd
 *                       bbbbbbbb cccccccc dddddddd eeee          a is dropped as the first e comes
 *                       |<------- window ------->|
 *
 * By time: a generation is used up when its span, 1 / (G - 1) of the window, is over, or when it
 * holds its share of keys, whichever comes first. So a burst of keys starts new generations, but no
 * key stays longer. A closed generation is dropped when its last key has left the window:
 *
 *     time     0        1        2        3        4             window = 3 spans, G = 4
 *     keys     aaaaaaaa bbccddee ffffffff gggggggg hhhhhhhh      four shares came in span 1
 *              |until a          |<------- window ------->|      a is dropped by age alone
 *
 * The until_ms of a closed generation is the time of its last key. For the newest generation it is
 * the last millisecond of its span. So a key is found for at least one window, and forgotten after
 * at most one window and one span.
 *
 * The rate. Assume that no window holds more keys than planned, that is, G - 1 shares. The oldest
 * generation may have begun before the window, and holds at most one share. All keys of the other
 * generations were added after its last key, within one window. So at most G shares of keys are
 * remembered. Let r(x) be the rate of a generation that holds x times its share. A query passes no
 * generation with a probability whose negative logarithm is -sum ln(1 - r(x)). This sum is highest
 * if as many generations as possible are full, since -ln(1 - r(x)) is convex in x from 0 to 1.
 * (Each key sets k bits, and a query needs all k, so r grows like x^k. For k = 1 the logarithm is
 * linear.) In the worst case, therefore, G generations are full, each with the rate r(1) = p / G.
 * tests/unit/layers.c checks this for many plans.
 *
 * The number of generations. Consider those that began after the last key of the oldest one. Let s
 * of them have been closed because they were full, and t because their time was up. Each full one
 * holds a share, so s <= G - 1. If s = G - 1, the window has no keys left for others, so t = 0.
 * Otherwise s <= G - 2, and t <= G - 1 because their spans lie in one window. Together with the
 * oldest and the newest, that makes at most 2G - 1 generations. If there are 2G - 1 generations and
 * even the newest is used up, the window holds more keys than planned. In that case the newest
 * accepts more than its share and stays open longer. The rate then rises and keys are forgotten
 * late, but none is lost. */
#include "filter/rotating.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/permission.h"
#include "petal/petal_host.h"
#include "scheme/model.h"
#include "scheme/plan.h"

#include <string.h>

/* Generation counts whose memory use is within this factor are treated as equal. The lowest such
 * count is chosen, since every query reads every generation. */
#define NEARLY 1.01
#define MAX_WORTH_TRYING 16u /* 5 (at 10 %) to 14 (at 10^-6) need the least memory */
#define LINE_BITS 512.0      /* a generation needs at least one line */

static uint64_t part_of(uint64_t whole, uint32_t generations)
{
    uint64_t parts = generations - 1;
    return whole / parts + (whole % parts != 0);
}

uint64_t petal_rotating_span(const struct policy *policy)
{
    return part_of(policy->window_ms, policy->generations);
}

uint32_t petal_rotating_max_layers(const struct policy *policy)
{
    return policy->kind == POLICY_TIME ? 2 * policy->generations - 1 : policy->generations;
}

bool petal_rotating_is_possible(const struct policy *policy, uint32_t layer_count,
                                uint64_t capacity)
{
    bool by_time = policy->kind == POLICY_TIME;
    if (policy->generations < 2 || policy->generations > PETAL_MAX_GENERATIONS) return false;
    uint32_t most = petal_rotating_max_layers(policy), least = by_time ? 1 : most;
    return layer_count >= least && layer_count <= most && policy->window_keys > 0 &&
           policy->rate > 0 && policy->rate < 1 &&
           capacity == part_of(policy->window_keys, policy->generations) &&
           policy->clock_ms <= INT64_MAX && policy->window_ms <= INT64_MAX &&
           (by_time ? policy->window_ms > 0 : policy->window_ms == 0 && policy->clock_ms == 0);
}

/* The until_ms of the newest generation is the last millisecond of its span, or later if the
 * generation is kept open longer. */
bool petal_rotating_has_time(const struct policy *policy, uint32_t number, uint32_t layer_count,
                             uint64_t before, uint64_t until_ms)
{
    bool is_newest = number == layer_count - 1;
    uint64_t clock = policy->clock_ms, latest = is_newest ? petal_rotating_until(policy) : clock;
    if (clock == 0) return until_ms == 0;
    return until_ms > 0 && until_ms >= before && until_ms <= latest &&
           (until_ms >= clock || clock - until_ms <= policy->window_ms);
}

/* ---- planning -------------------------------------------------------------------------------- */

static petal_status plan_generation(const petal_options *options, uint32_t generations,
                                    struct shape *shape, petal_error *error)
{
    petal_options one = PETAL_OPTIONS_INIT;
    one.scheme = options->scheme;
    one.lines_per_key = options->lines_per_key;
    one.hashes = options->hashes;
    one.capacity = part_of(options->window_keys, generations);
    one.rate = options->rate / generations;
    return petal_plan_shape(&one, shape, error);
}

/* Returns the number of lines of G full generations according to the classic filter's formula.
 * Planning for each G would evaluate the model about 200 times, and save a few per cent at best
 * (tests/unit/layers.c). */
static double guess_lines(const petal_options *options, uint32_t generations)
{
    double keys = (double)part_of(options->window_keys, generations), k = options->hashes,
           rate = options->rate / generations;
    double bits = k > 0 ? -k * keys / petal_model_ln(1 - petal_model_pow(rate, 1 / k))
                        : petal_model_optimal_bits(keys, rate);
    if (options->scheme != PETAL_SCHEME_CLASSIC) bits *= 1.1; /* blocked needs more */
    return generations * petal_model_ceil(bits / LINE_BITS);
}

/* Chooses the number of generations G for which G full ones need (nearly) the least memory. A time
 * window may temporarily have 2G - 1 of them. But if keys arrive evenly it has only G, and the best
 * G for that case takes at most 2 % more memory than the best G for 2G - 1
 * (tests/unit/layers.c). */
static uint32_t choose_generations(const petal_options *options)
{
    double lines[MAX_WORTH_TRYING + 1], least = 0;
    uint32_t lowest = 2;
    for (uint32_t i = 2; i <= MAX_WORTH_TRYING; i++) {
        lines[i] = guess_lines(options, i);
        if (least == 0 || lines[i] < least) least = lines[i];
    }
    while (lowest < MAX_WORTH_TRYING && lines[lowest] > least * NEARLY) lowest++;
    return lowest;
}

/* With the chosen number, a generation may be too large or its rate too low for the scheme. In that
 * case, the lowest possible number is used. */
static petal_status plan_best(const petal_options *options, uint32_t *generations,
                              struct shape *shape, petal_error *error)
{
    uint32_t best = choose_generations(options);
    *generations = best;
    if (plan_generation(options, best, shape, NULL) == PETAL_OK) return PETAL_OK;
    for (*generations = 2; *generations <= MAX_WORTH_TRYING; ++*generations)
        if (plan_generation(options, *generations, shape, NULL) == PETAL_OK) return PETAL_OK;
    return plan_generation(options, best, shape, error);
}

petal_status petal_rotating_plan(const petal_options *options, struct policy *policy,
                                 uint64_t *capacity, struct shape *shape, petal_error *error)
{
    *policy = (struct policy){.kind = options->window_ms ? POLICY_TIME : POLICY_KEYS,
                              .rate = options->rate,
                              .window_keys = options->window_keys,
                              .window_ms = options->window_ms,
                              .generations = options->generations};
    uint32_t *generations = &policy->generations;
    if (options->window_keys == 0 || !(options->rate > 0 && options->rate < 1))
        return petal_fail(
            error, PETAL_ERR_ARGUMENT,
            "a window needs its number of keys (by time: how many are expected) and a rate between 0 and 1");
    if (*generations == 1 || *generations > PETAL_MAX_GENERATIONS || options->window_ms > INT64_MAX)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a window has 2 to %u generations and at most 2^63 - 1 ms",
                          PETAL_MAX_GENERATIONS);
    petal_status status = *generations ? plan_generation(options, *generations, shape, error)
                                       : plan_best(options, generations, shape, error);
    if (status == PETAL_OK) *capacity = part_of(options->window_keys, *generations);
    policy->generations = *generations;
    return status;
}

/* ---- adding ---------------------------------------------------------------------------------- */

uint64_t petal_rotating_until(const struct policy *policy)
{
    return policy->clock_ms ? policy->clock_ms + petal_rotating_span(policy) - 1 : 0;
}

/* Clears the oldest generation and makes it the newest. */
static void recycle_oldest(petal_filter *filter)
{
    struct layer oldest = filter->layers[0];
    memmove(filter->layers, filter->layers + 1, (filter->layer_count - 1) * sizeof oldest);
    petal_zero(oldest.array.bytes, oldest.array.size_bytes);
    oldest.items = 0;
    *petal_filter_last(filter) = oldest;
}

/* By time: starts a generation, or leaves the newest open if there are already as many as allowed.
 * Sets until_ms of the newest to the clock if it is closed now, or if it must stay open even though
 * its time is up. */
static petal_status begin_generation(petal_filter *filter, petal_error *error)
{
    const struct policy *policy = &filter->policy;
    struct layer closed = *petal_filter_last(filter);
    bool time_is_over = closed.until_ms < policy->clock_ms;
    if (closed.items == 0) {
        petal_filter_last(filter)->until_ms = petal_rotating_until(policy);
        return PETAL_OK;
    }
    if (filter->layer_count == petal_rotating_max_layers(policy)) {
        if (time_is_over) petal_filter_last(filter)->until_ms = policy->clock_ms;
        return PETAL_OK;
    }
    petal_status status = petal_filter_add_layer(filter, &closed.array.shape, error);
    if (status != PETAL_OK) return status;
    struct layer *newest = petal_filter_last(filter);
    if (!time_is_over) newest[-1].until_ms = policy->clock_ms;
    newest->capacity = closed.capacity;
    newest->target_rate = closed.target_rate;
    newest->until_ms = petal_rotating_until(policy);
    return PETAL_OK;
}

static bool is_used_up(const petal_filter *filter)
{
    const struct layer *newest = petal_filter_last(filter);
    return newest->items >= newest->capacity || newest->until_ms < filter->policy.clock_ms;
}

petal_status petal_rotating_make_room(petal_filter *filter, uint64_t *room, petal_error *error)
{
    petal_status status = PETAL_OK;
    bool by_time = filter->policy.kind == POLICY_TIME;
    if (is_used_up(filter) && by_time) status = begin_generation(filter, error);
    if (is_used_up(filter) && !by_time) recycle_oldest(filter);
    const struct layer *newest = petal_filter_last(filter);
    *room = newest->items < newest->capacity ? newest->capacity - newest->items : UINT64_MAX;
    return status;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Dates the keys that were added before the clock was first set, with the first clock time. */
static void date_layers(petal_filter *filter)
{
    for (uint32_t i = 0; i < filter->layer_count; i++)
        filter->layers[i].until_ms = filter->policy.clock_ms;
    petal_filter_last(filter)->until_ms = petal_rotating_until(&filter->policy);
}

/* Drops the generations whose last key has left the window. If even the newest generation has
 * expired, it is cleared but kept. */
static void forget(petal_filter *filter)
{
    uint64_t now = filter->policy.clock_ms, window = filter->policy.window_ms;
    uint32_t gone = 0;
    while (gone < filter->layer_count && filter->layers[gone].until_ms < now &&
           now - filter->layers[gone].until_ms > window)
        gone++;
    bool all = gone == filter->layer_count;
    petal_filter_drop_layers(filter, 0, all ? gone - 1 : gone);
    if (!all) return;
    struct layer *newest = petal_filter_last(filter);
    petal_zero(newest->array.bytes, newest->array.size_bytes);
    newest->items = 0;
    newest->until_ms = petal_rotating_until(&filter->policy);
}

static petal_status check_time(const petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    if (filter->policy.kind != POLICY_TIME)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "only a filter with a window of time has a clock");
    if (now_ms > INT64_MAX)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a clock is at most 2^63 - 1 ms");
    return PETAL_OK;
}

static petal_status advance(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    struct policy *policy = &filter->policy;
    petal_status status = check_time(filter, now_ms, error);
    if (status != PETAL_OK || now_ms <= policy->clock_ms)
        return status; /* ignores an earlier time, so that no generation is dropped too early */
    status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    bool is_first = policy->clock_ms == 0;
    policy->clock_ms = now_ms;
    if (is_first)
        date_layers(filter);
    else
        forget(filter);
    return PETAL_OK;
}

petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, advance(filter, now_ms, error), error);
}

/* Sets the cutoff so that queries skip the generations that forget() would drop at that time.
 * Before the clock is set, generations have no dates, so no generation is skipped. */
static petal_status set_query_clock(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    const struct policy *policy = &filter->policy;
    petal_status status = check_time(filter, now_ms, error);
    if (status != PETAL_OK) return status;
    bool has_cutoff = policy->clock_ms > 0 && now_ms > policy->window_ms;
    filter->cutoff_ms = has_cutoff ? now_ms - policy->window_ms : 0;
    return PETAL_OK;
}

petal_status petal_set_query_clock(petal_filter *filter, uint64_t now_ms, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, set_query_clock(filter, now_ms, error), error);
}

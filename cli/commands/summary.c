/* summary.c - see summary.h. */
#include "commands/summary.h"

#include "keys/layers.h"
#include "keys/pipeline.h"
#include "output/numbers.h"
#include "output/report.h"
#include "output/terminal.h"

#include <inttypes.h>
#include <math.h>

bool is_verbose(const struct args *args)
{
    return args->verbose || is_terminal(stderr);
}

/* In a filter within its capacity, saturated counters are rare unless a key was added 15 times. */
static void warn_if_saturated(const char *path, const petal_info *info, const petal_stats *stats)
{
    if (stats->saturated_counters)
        remark(
            path,
            "%s of %s counters are saturated and no longer count; keys may stay in after they are removed",
            grouped(stats->saturated_counters).s, grouped(info->bits).s);
}

/* Estimates the number of keys from the bits, because `items` counts repeats. Warns only if the
 * estimate's entire confidence interval and the rate exceed the plan, so that chance alone causes
 * no warning. */
void warn_if_overfilled(const char *path, const petal_filter *filter)
{
    petal_info whole = info_of(filter), *info = &whole;
    petal_stats stats = stats_of(filter);
    double asked = isnan(info->target_rate) ? info->predicted_rate : info->target_rate;
    warn_if_saturated(path, info, &stats);
    if (!stats.overfull || stats.estimated_rate <= asked) return;
    if (info->policy == PETAL_POLICY_WINDOW_TIME)
        remark(
            path,
            "the window holds more keys than planned (%s): rate now %s, planned %s; plan with a larger -n",
            grouped(info->capacity).s, rate_text(stats.estimated_rate, 2).s, asked_rate(asked).s);
    else if (stats.saturated)
        remark(path, "every bit is set, so every key is probably in; plan a larger one");
    else if (isnan(stats.estimated_rate) || isnan(asked))
        remark(path, "holds %s keys, planned for %s: rate now %s; plan a larger one",
               rounded(stats.estimated_items.value).s, rounded((double)info->capacity).s,
               rate_text(stats.estimated_rate, 2).s);
    else
        remark(path, "holds %s keys, planned for %s: rate now %s, planned %s; plan a larger one",
               rounded(stats.estimated_items.value).s, rounded((double)info->capacity).s,
               rate_text(stats.estimated_rate, 2).s, asked_rate(asked).s);
}

void print_summary(const char *path, const petal_filter *filter, const struct args *args)
{
    if (!is_verbose(args)) return;
    petal_info whole = info_of(filter), *info = &whole;
    petal_stats stats = stats_of(filter);
    remark(path, "%s key%s %s, %s bytes, %s, k %" PRIu32 ", %s false positives now",
           grouped(info->items).s, plural(info->items), info->counter_bits ? "in" : "added",
           grouped(info->bytes).s, info->scheme_name, info->hashes,
           isnan(stats.estimated_rate) ? "an unknown rate of"
                                       : rate_text(stats.estimated_rate, 3).s);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* If the filter accepts hashes, any thread may hash keys ahead of time, but they are added in
 * order. */
struct adding {
    petal_filter *filter;
    const char *path;
    uint64_t skipped;
    petal_status failure;
    bool has_time;             /* rows have times */
    uint64_t clock, window_ms; /* if they do */
    struct lateness late;
};

bool complain_of_change(const char *path, const petal_filter *filter, petal_status status,
                        const char *consequence)
{
    petal_error error;
    petal_last_error(filter, &error);
    return complain(path, "%s; %s", error.message[0] ? error.message : petal_status_name(status),
                    consequence);
}

petal_status add_but_empty(petal_filter *filter, const struct key_block *block, uint8_t *results,
                           size_t *fresh, uint64_t *skipped)
{
    petal_status status = PETAL_OK;
    *fresh = 0;
    for (size_t i = 0, end, added; i < block->count && status >= 0; i = end) {
        for (end = i; end < block->count && block->keys[end].size_bytes > 0;) end++;
        status =
            add_some_keys(filter, block->keys + i, end - i, results ? results + i : NULL, &added);
        *fresh += added;
        for (; end < block->count && block->keys[end].size_bytes == 0; end++, ++*skipped)
            if (results) results[end] = 1;
    }
    return status;
}

void say_skipped(const char *path, const petal_filter *filter, uint64_t skipped)
{
    if (skipped)
        remark(path, "%s empty key%s skipped: %s filters do not accept them", grouped(skipped).s,
               plural(skipped), info_of(filter).scheme_name);
}

static void hash_block(void *context, struct key_block *block)
{
    const struct adding *adding = context;
    hash_keys(adding->filter, block->keys, block->count, block->hashes);
}

static bool note_adding(struct adding *adding, petal_status status)
{
    if (status < 0) adding->failure = status;
    return status >= 0;
}

static bool add_hash_block(void *context, struct key_block *block)
{
    struct adding *adding = context;
    return note_adding(adding, add_hashes(adding->filter, block->hashes, block->count, NULL, NULL));
}

static bool add_timed_block(void *context, struct key_block *block)
{
    struct adding *adding = context;
    petal_status status = PETAL_OK;
    for (size_t from = 0, run; from < block->count && status >= 0; from += run) {
        const uint64_t *times = block->times + from;
        run = begin_run(adding->filter, times, block->count - from, &adding->clock);
        note_lateness(&adding->late, times, run, adding->clock, adding->window_ms);
        status = add_hashes(adding->filter, block->hashes + from, run, NULL, NULL);
    }
    return note_adding(adding, status);
}

/* Adds keys in the same way, for rows with several keys. */
static bool add_runs(void *context, struct key_block *block)
{
    struct adding *adding = context;
    struct key_run *run = block->run;
    petal_status status = PETAL_OK;
    for (size_t from = 0, rows = block->count; from < block->count && status >= 0; from += rows) {
        const uint64_t *times = block->times + from;
        if (adding->has_time) {
            rows = begin_run(adding->filter, times, block->count - from, &adding->clock);
            note_lateness(&adding->late, times, rows, adding->clock, adding->window_ms);
        }
        for (run_begin(run, from, rows); status >= 0 && run_next(run);)
            status = add_some_keys(adding->filter, run->keys, run->count, NULL, NULL);
    }
    return note_adding(adding, status);
}

static bool add_block(void *context, struct key_block *block)
{
    struct adding *adding = context;
    return note_adding(adding,
                       add_some_keys(adding->filter, block->keys, block->count, NULL, NULL));
}

static bool add_taken(void *context, struct key_block *block)
{
    struct adding *adding = context;
    size_t fresh;
    return note_adding(adding,
                       add_but_empty(adding->filter, block, NULL, &fresh, &adding->skipped));
}

bool try_to_fill(struct key_reader *reader, petal_filter *filter, const char *path,
                 petal_status *failure)
{
    static const struct stages by_hash = {.work = hash_block, .enter = add_hash_block},
                               by_time = {.work = hash_block, .enter = add_timed_block},
                               by_key = {.enter = add_block}, but_empty = {.enter = add_taken},
                               by_run = {.enter = add_runs};
    petal_layers_info window = layers_info_of(filter, PETAL_ALL_LAYERS);
    struct adding adding = {
        .filter = filter, .path = path, .clock = window.clock_ms, .window_ms = window.window_ms};
    adding.has_time = reader->rows.has_time;
    const struct stages *stages = reader->rows.rule.unit != UNIT_ROW ? &by_run
                                  : reader->rows.has_time            ? &by_time
                                  : can(filter, PETAL_CAN_HASHES)    ? &by_hash
                                  : can(filter, PETAL_CAN_EMPTY_KEY) ? &by_key
                                                                     : &but_empty;
    bool added = run_pipeline(reader, stages, &adding) && !reader->failed;
    say_skipped(path, filter, adding.skipped);
    warn_of_lateness(path, &adding.late, adding.window_ms);
    *failure = adding.failure;
    return added;
}

bool fill_filter(struct key_reader *reader, petal_filter *filter, const char *path)
{
    petal_status failure;
    bool added = try_to_fill(reader, filter, path, &failure);
    return failure >= 0
               ? added
               : complain_of_change(path, filter, failure, "the keys after this are not in");
}

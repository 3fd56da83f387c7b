/* layers.c - see layers.h. */
#define _POSIX_C_SOURCE 200809L

#include "keys/layers.h"

#include "files/formats.h"
#include "keys/batch_calls.h"
#include "options/times.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/report.h"

#include <inttypes.h>
#include <math.h>

/* ---- time ------------------------------------------------------------------------------------ */

void tell_time(petal_filter *filter, const struct args *args)
{
    if (info_of(filter).policy != PETAL_POLICY_WINDOW_TIME) return;
    /* Can't fail: the filter is in memory. */
    petal_set_clock(filter, args->now ? args->now : time_now(), NULL);
}

petal_filter *make_current(petal_filter *filter, const char *path, const struct args *args)
{
    petal_filter *copy = NULL;
    petal_error error;
    if (!filter || info_of(filter).policy != PETAL_POLICY_WINDOW_TIME) return filter;
    if (petal_clone(filter, &copy, &error) != PETAL_OK) complain_of(path, &error);
    petal_free(filter);
    if (copy) tell_time(copy, args);
    return copy;
}

size_t begin_run(petal_filter *filter, const uint64_t *times, size_t count, uint64_t *clock)
{
    size_t i = 1;
    uint64_t first = times[0] ? times[0] : 1; /* 0 would mean that no time is set */
    if (first > *clock) {
        petal_set_clock(filter, first, NULL);
        *clock = first;
    }
    while (i < count && times[i] <= *clock) i++;
    return i;
}

petal_status add_at_times(petal_filter *filter, const uint64_t *hashes, const uint64_t *times,
                          size_t count, uint64_t *clock)
{
    petal_status status = PETAL_OK;
    for (size_t from = 0, run; from < count && status >= 0; from += run) {
        run = times ? begin_run(filter, times + from, count - from, clock) : count;
        status = add_hashes(filter, hashes + from, run, NULL, NULL);
    }
    return status;
}

void note_lateness(struct lateness *late, const uint64_t *times, size_t count, uint64_t clock,
                   uint64_t window_ms)
{
    for (size_t i = 0; i < count; i++) {
        if (times[i] >= clock) continue;
        uint64_t by = clock - times[i];
        late->rows++;
        late->beyond += by > window_ms;
        if (by > late->most_ms) late->most_ms = by;
    }
}

void warn_of_lateness(const char *path, const struct lateness *late, uint64_t window_ms)
{
    if (late->beyond)
        remark(
            path,
            "%s row%s more than a window (%s) older than earlier rows: counted at the latest time so far; pass files in order of time",
            grouped(late->beyond).s, late->beyond == 1 ? " is" : "s are", span_text(window_ms).s);
}

bool agrees_with_time(const char *path, const petal_info *info, const struct args *args,
                      const char *file)
{
    bool by_time = info->policy == PETAL_POLICY_WINDOW_TIME;
    if (args->time_field && !by_time)
        return complain(path, "has no window of time; leave out --time-field");
    if (by_time && !args->time_field && !args->now && file)
        remark(file, "its lines count as of now; --time-field FIELD reads the time of each");
    return true;
}

/* ---- for people ------------------------------------------------------------------------------ */

struct policy_text policy_text(const petal_filter *filter)
{
    struct policy_text out = {""};
    uint32_t policy = info_of(filter).policy;
    petal_layers_info how = layers_info_of(filter, PETAL_ALL_LAYERS);
    if (policy == PETAL_POLICY_GROWING)
        snprintf(out.s, sizeof out.s,
                 "grows by layers, each for %" PRIu32 " times the keys at %s of the rate",
                 how.growth_step, significant(how.growth_ratio, 2).s);
    if (policy == PETAL_POLICY_WINDOW_KEYS)
        snprintf(out.s, sizeof out.s, "remembers the last %s keys, in %" PRIu32 " generations",
                 compact(how.window_keys).s, how.generations);
    if (policy == PETAL_POLICY_WINDOW_TIME)
        snprintf(out.s, sizeof out.s,
                 "remembers the keys of the last %s, in %" PRIu32 " generations, of up to %s keys",
                 span_text(how.window_ms).s, how.generations, compact(how.window_keys).s);
    return out;
}

static petal_info layer_of(const petal_filter *filter, uint32_t number)
{
    petal_info layer = PETAL_INFO_INIT;
    petal_get_info(filter, number, &layer, NULL);
    return layer;
}

static petal_stats layer_stats(const petal_filter *filter, uint32_t number)
{
    petal_stats stats = PETAL_STATS_INIT;
    petal_get_stats(filter, number, &stats, NULL);
    return stats;
}

/* The minimum age of a generation's youngest key, and the maximum age of its oldest key. */
static void print_age(const petal_layers_info *generation)
{
    uint64_t now = generation->clock_ms;
    if (generation->latest_ms == 0) return;
    if (generation->latest_ms > now)
        printf("   since %s", span_text(now - generation->earliest_ms).s);
    else
        printf("   from %s to %s ago", span_text(now - generation->earliest_ms).s,
               span_text(now - generation->latest_ms).s);
}

void print_layers(const petal_filter *filter, const petal_info *info)
{
    bool grows = info->policy == PETAL_POLICY_GROWING;
    uint64_t younger = info->items;
    printf("%-18s%14s %14s %11s%s\n", grows ? "layers" : "generations", "keys", "rated for",
           "rate now", grows ? "" : "   age");
    for (uint32_t i = 0; i < info->layers; i++) {
        petal_info layer = layer_of(filter, i);
        petal_layers_info generation = layers_info_of(filter, i);
        younger -= layer.items; /* keys in the generations after this one */
        printf("  %-16" PRIu32 "%14s %14s %11s", i + 1, grouped(layer.items).s,
               grouped(layer.capacity).s, rate_text(layer_stats(filter, i).estimated_rate, 2).s);
        if (info->policy == PETAL_POLICY_WINDOW_KEYS && layer.items)
            printf("   %s to %s keys ago", grouped(younger + 1).s,
                   grouped(younger + layer.items).s);
        print_age(&generation);
        putchar('\n');
    }
}

/* ---- for machines ---------------------------------------------------------------------------- */

static void json_layer(struct json *json, const petal_filter *filter, uint32_t number, bool known)
{
    petal_info info = layer_of(filter, number), *layer = &info;
    petal_layers_info generation = layers_info_of(filter, number);
    petal_stats now = layer_stats(filter, number), *stats = &now;
    json_open(json);
    json_count(json, "bits", layer->bits);
    json_count(json, "hashes", layer->hashes);
    json_count(json, "capacity", layer->capacity);
    json_number(json, "target_rate", layer->target_rate);
    json_count(json, "items", layer->items);
    json_number(json, "estimated_items", known ? stats->estimated_items.value : NAN);
    json_number(json, "estimated_rate", known ? stats->estimated_rate : NAN);
    if (layer->policy == PETAL_POLICY_WINDOW_TIME) {
        json_count(json, "from_ms", generation.earliest_ms);
        json_count(json, "to_ms", generation.latest_ms);
    }
    json_close(json);
}

void json_policy(struct json *json, const petal_filter *filter, const petal_info *info,
                 bool has_stats)
{
    static const char *const names[] = {NULL, "growing", "last keys", "last time"};
    petal_layers_info how = layers_info_of(filter, PETAL_ALL_LAYERS);
    json_text(json, "policy", names[info->policy]);
    if (info->policy == PETAL_POLICY_NONE) return;
    if (info->policy == PETAL_POLICY_GROWING) {
        json_count(json, "growth_step", how.growth_step);
        json_number(json, "growth_ratio", how.growth_ratio);
    } else {
        json_count(json, "window_keys", how.window_keys);
        json_count(json, "generations", how.generations);
    }
    if (info->policy == PETAL_POLICY_WINDOW_TIME) {
        json_count(json, "window_ms", how.window_ms);
        json_count(json, "clock_ms", how.clock_ms);
    }
    json_list(json, "each_layer");
    for (uint32_t i = 0; i < info->layers; i++) json_layer(json, filter, i, has_stats);
    json_list_end(json);
}

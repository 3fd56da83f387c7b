/* layers.c - see layers.h. */
#define _POSIX_C_SOURCE 200809L

#include "layers.h"

#include "look.h"
#include "numbers.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

void tell_time(petal_filter *filter, const struct args *args)
{
    struct timespec t = {0, 0};
    if (info_of(filter).policy != PETAL_POLICY_TIME) return;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t now_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000, max = INT64_MAX;
    if (args->now) now_ms = args->now < max / 1000 ? args->now * 1000 : max;
    petal_advance(filter, now_ms, NULL); /* cannot fail: the filter is in memory */
}

/* ---- for people ------------------------------------------------------------------------------ */

struct policy_text policy_text(const petal_info *info)
{
    struct policy_text out = {""};
    if (info->policy == PETAL_POLICY_GROWING)
        snprintf(out.s, sizeof out.s,
                 "grows by layers, each for %" PRIu32 " times the keys at %s of the rate",
                 info->growth_step, significant(info->growth_ratio, 2).s);
    if (info->policy == PETAL_POLICY_KEYS)
        snprintf(out.s, sizeof out.s, "remembers the last %s keys, in %" PRIu32 " generations",
                 compact(info->window_keys).s, info->generations);
    if (info->policy == PETAL_POLICY_TIME)
        snprintf(out.s, sizeof out.s,
                 "remembers the keys of the last %s, in %" PRIu32 " generations, of up to %s keys",
                 span_text(info->window_ms).s, info->generations, compact(info->window_keys).s);
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

/* How old the youngest and the oldest key of a generation can be. `younger`: keys in those after
 * it. */
static void print_age(const petal_info *info, const petal_info *layer, uint64_t younger)
{
    if (info->policy == PETAL_POLICY_KEYS && layer->items)
        printf("   %s to %s keys ago", grouped(younger + 1).s, grouped(younger + layer->items).s);
    if (info->policy != PETAL_POLICY_TIME || layer->to_ms == 0) return;
    if (layer->to_ms > info->clock_ms)
        printf("   since %s", span_text(info->clock_ms - layer->from_ms).s);
    else
        printf("   from %s to %s ago", span_text(info->clock_ms - layer->from_ms).s,
               span_text(info->clock_ms - layer->to_ms).s);
}

void print_layers(const petal_filter *filter, const petal_info *info)
{
    bool grows = info->policy == PETAL_POLICY_GROWING;
    uint64_t younger = info->items;
    printf("%-18s%14s %14s %11s%s\n", grows ? "layers" : "generations", "keys", "rated for",
           "rate now", grows ? "" : "   age");
    for (uint32_t i = 0; i < info->layers; i++) {
        petal_info layer = layer_of(filter, i);
        younger -= layer.items;
        printf("  %-16" PRIu32 "%14s %14s %11s", i + 1, grouped(layer.items).s,
               grouped(layer.capacity).s, rate_text(layer_stats(filter, i).estimated_rate, 2).s);
        print_age(info, &layer, younger);
        putchar('\n');
    }
}

/* ---- for machines ---------------------------------------------------------------------------- */

static void json_layer(struct json *json, const petal_info *info, const petal_info *layer,
                       const petal_stats *stats, bool known)
{
    json_open(json);
    json_count(json, "bits", layer->bits);
    json_count(json, "hashes", layer->hashes);
    json_count(json, "capacity", layer->capacity);
    json_number(json, "target_rate", layer->target_rate);
    json_count(json, "items", layer->items);
    json_number(json, "estimated_items", known ? stats->estimated_items.value : NAN);
    json_number(json, "estimated_rate", known ? stats->estimated_rate : NAN);
    if (info->policy == PETAL_POLICY_TIME) {
        json_count(json, "from_ms", layer->from_ms);
        json_count(json, "to_ms", layer->to_ms);
    }
    json_close(json);
}

void json_policy(struct json *json, const petal_filter *filter, const petal_info *info,
                 bool has_stats)
{
    static const char *const names[] = {NULL, "growing", "last keys", "last time"};
    json_text(json, "policy", names[info->policy]);
    if (info->policy == PETAL_POLICY_NONE) return;
    if (info->policy == PETAL_POLICY_GROWING) {
        json_count(json, "growth_step", info->growth_step);
        json_number(json, "growth_ratio", info->growth_ratio);
    } else {
        json_count(json, "window_keys", info->window_keys);
        json_count(json, "generations", info->generations);
    }
    if (info->policy == PETAL_POLICY_TIME) {
        json_count(json, "window_ms", info->window_ms);
        json_count(json, "clock_ms", info->clock_ms);
    }
    json_list(json, "each_layer");
    for (uint32_t i = 0; i < info->layers; i++) {
        petal_info layer = layer_of(filter, i);
        petal_stats stats = layer_stats(filter, i);
        json_layer(json, info, &layer, &stats, has_stats);
    }
    json_list_end(json);
}

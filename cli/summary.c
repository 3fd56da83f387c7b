/* summary.c - see summary.h. */
#include "summary.h"

#include "numbers.h"
#include "pipeline.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>

bool wants_talk(const struct args *args)
{
    return args->verbose || is_terminal(stderr);
}

petal_info info_of(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, &info, NULL);
    return info;
}

/* Counters that stick are rare at the rated load; keys that were added 15 times make them. */
static void warn_if_saturated(const char *path, const petal_info *info)
{
    if (info->saturated_counters)
        remark(path, "%s of %s counters are saturated and count no more; keys there stay in when they are removed",
               grouped(info->saturated_counters).s, grouped(info->bits).s);
}

/* By the bits, since `items` counts repeats. Past the interval and past the rate: neither is chance. */
void warn_if_overfilled(const char *path, const petal_info *info)
{
    double asked = isnan(info->target_rate) ? info->predicted_rate : info->target_rate;
    warn_if_saturated(path, info);
    if (!info->overfull || info->estimated_rate <= asked) return;
    if (info->policy == PETAL_POLICY_TIME)
        remark(path, "the window holds more keys than planned (%s): rate now %s, asked %s; plan with a larger -n",
               grouped(info->window_keys).s, rate_text(info->estimated_rate, 2).s, asked_rate(asked).s);
    else if (info->saturated)
        remark(path, "every bit is set, so it says probably to everything; plan a larger one");
    else
        remark(path, "holds %s keys, planned for %s: rate now %s, asked %s; plan a larger one",
               rounded(info->estimated_items).s, rounded((double)info->capacity).s,
               rate_text(info->estimated_rate, 2).s, asked_rate(asked).s);
}

void say_what_is(const char *path, const petal_info *info, const struct args *args)
{
    if (!wants_talk(args)) return;
    remark(path, "%s key%s %s, %s bytes, %s, k %" PRIu32 ", %s false positives now", grouped(info->items).s,
           plural(info->items), info->counter_bits ? "in" : "added", grouped(info->bytes).s, info->scheme_name,
           info->hashes, rate_text(info->estimated_rate, 3).s);
}

/* ---- adding ---------------------------------------------------------------------------------------------------------- */

/* Where hashes can stand for keys, hashing is any thread's work, ahead of the adding, which is done in order. */
struct adding {
    petal_filter *filter;
    const char *path;
};

static void hash_block(void *context, struct key_block *block)
{
    const struct adding *adding = context;
    petal_hash_keys(adding->filter, block->keys, block->count, block->hashes);
}

static bool note_adding(const struct adding *adding, petal_status status)
{
    return status >= 0 || complain(adding->path, "cannot be written: %s", petal_status_name(status));
}

static bool add_hashes(void *context, struct key_block *block)
{
    const struct adding *adding = context;
    return note_adding(adding, petal_add_hashes(adding->filter, block->hashes, block->count, NULL, NULL));
}

static bool add_block(void *context, struct key_block *block)
{
    const struct adding *adding = context;
    return note_adding(adding, petal_add_many(adding->filter, block->keys, block->count, NULL, NULL));
}

bool add_keys(struct key_reader *reader, petal_filter *filter, const char *path)
{
    static const struct stages by_hash = {.work = hash_block, .enter = add_hashes}, by_key = {.enter = add_block};
    struct adding adding = {filter, path};
    return run_pipeline(reader, petal_takes_hashes(filter) ? &by_hash : &by_key, &adding) && !reader->failed;
}

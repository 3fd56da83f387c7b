/* adding.c - see adding.h. */
#include "adding.h"

#include "common.h"
#include "valkey.h"

#include <stdio.h>
#include <string.h>

/* ---- growing --------------------------------------------------------------------------------- */

/* The limit doesn't apply to a command that must be obeyed, because the master, or the server that
 * wrote the AOF, had enough memory. */
static int is_over_limit(RedisModuleCtx *ctx, struct value *value, uint64_t more_bytes)
{
    value->refused = (uint8_t)value_over_limit(value, more_bytes);
    if (value->refused && must_obey(ctx)) {
        value->unlimited = 1;
        value->refused = 0;
    }
    return value->refused;
}

static petal_status grow(RedisModuleCtx *ctx, struct value *value, petal_error *error)
{
    petal_lent_layer next = {0};
    struct layer_note note = {0};
    int is_valkey = value->classic == CLASSIC_VALKEY; /* valkey-bloom has its own limit */
    petal_status status = is_valkey ? valkey_plan_next(value, must_obey(ctx), &next, error)
                                    : value_plan_next(value, &next, &note, error);
    if (status != PETAL_OK) return status;
    uint64_t bytes = (next.bits + 7) / 8 + note.padding;
    next.bytes =
        !is_valkey && is_over_limit(ctx, value, bytes) ? NULL : memory_zeroed((size_t)bytes);
    if (next.bytes && value_append_layer(value, &next, &note)) return PETAL_OK;
    memory_free(next.bytes, (size_t)bytes);
    *error = (petal_error){.status = PETAL_ERR_MEMORY, .offset = PETAL_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "no memory for a layer of %llu bytes",
             (unsigned long long)bytes);
    return PETAL_ERR_MEMORY;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Counts the new items in the last layer. */
static void count_items(struct value *value, uint64_t added)
{
    value->layers[value->layer_count - 1].items += added;
    atomic_fetch_add_explicit(&totals.items, added, memory_order_relaxed);
}

/* The keys in a batch, starting at index `from`. */
static petal_batch batch_from(const petal_batch *batch, uint64_t from)
{
    petal_batch rest = *batch;
    if (batch->layout == PETAL_LAYOUT_POINTERS)
        rest.data = (const petal_key *)batch->data + from;
    else /* PETAL_LAYOUT_OFFSETS32 */
        rest.offsets = (const uint32_t *)batch->offsets + from;
    rest.count -= from;
    return rest;
}

petal_status value_add_batch(RedisModuleCtx *ctx, struct value *value, const petal_batch *batch,
                             uint8_t *results, petal_batch_outcome *outcome, petal_error *error)
{
    petal_status status = PETAL_OK;
    *outcome = PETAL_BATCH_OUTCOME_INIT;
    do {
        petal_batch rest = batch_from(batch, outcome->done);
        petal_batch_outcome part = PETAL_BATCH_OUTCOME_INIT;
        value->refused = 0;
        status = petal_add_batch(value_filter(value), &rest, results + outcome->done, &part, error);
        if (value->classic) count_items(value, part.positive);
        outcome->done += part.done;
        outcome->positive += part.positive;
        if (status == PETAL_ERR_FULL && value->classic)
            status = grow(ctx, value, error);
        else if (status != PETAL_ERR_MEMORY || !value->refused || !must_obey(ctx))
            return status;
        else
            value->unlimited = 1, status = PETAL_OK;
    } while (status == PETAL_OK);
    return status;
}

petal_status value_add(struct value *value, const void *key, size_t key_bytes)
{
    petal_status status = petal_add(value_filter(value), key, key_bytes);
    if (status == PETAL_OK && value->classic) count_items(value, 1);
    return status;
}

/* ---- a command ------------------------------------------------------------------------------- */

/* Items in a batch that are still to be added, and their indices in it. */
static struct {
    petal_key *keys;
    uint32_t *places;
    size_t room, count;
} absent;

static petal_key key_at(const petal_batch *batch, size_t i)
{
    if (batch->layout == PETAL_LAYOUT_POINTERS) return ((const petal_key *)batch->data)[i];
    const uint32_t *offsets = batch->offsets;
    return (petal_key){(const char *)batch->data + offsets[i], offsets[i + 1] - offsets[i]};
}

/* On entry, results[i] is 1 if the item is present. Sets those to 0, because these items are not
 * new. */
static void collect_absent(const petal_batch *batch, uint8_t *results)
{
    size_t count = (size_t)batch->count;
    if (!is_good_room(absent.room, count)) {
        server.Free(absent.keys);
        server.Free(absent.places);
        absent.room = count + count / 2 + 1024;
        absent.keys = server.Alloc(absent.room * sizeof *absent.keys);
        absent.places = server.Alloc(absent.room * sizeof *absent.places);
    }
    absent.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!results[i]) {
            absent.keys[absent.count] = key_at(batch, i);
            absent.places[absent.count++] = (uint32_t)i;
        }
        results[i] = 0;
    }
}

/* Adds as many of the next absent items as the filter has room for. */
static petal_status add_some(struct value *value, size_t from, size_t count, struct change *change,
                             size_t *done, uint64_t *added)
{
    petal_batch batch = PETAL_BATCH_INIT;
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    uint8_t *results = scratch_more_results((size_t)change->batch.count);
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = absent.keys + from;
    batch.count = count;
    petal_status status =
        petal_add_batch(value_filter(value), &batch, results, &outcome, &change->failure.error);
    *done = (size_t)outcome.done;
    *added = outcome.positive;
    for (size_t i = 0; i < *done; i++) change->results[absent.places[from + i]] = results[i];
    return status;
}

/* A fixed-size filter accepts as many new items as it was created for; after that, it accepts only
 * items that are already present. A replica accepts more, because its master did. */
static void add_to_fixed(struct value *value, struct change *change, int unlimited)
{
    const petal_filter *filter = value_filter(value);
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    uint64_t items = info.items, given = info.items;
    if (petal_contains_batch(filter, &change->batch, change->results, NULL, NULL) != PETAL_OK)
        memset(change->results, 0, (size_t)change->batch.count); /* adding will report the reason */
    collect_absent(&change->batch, change->results);
    size_t at = 0;
    while (change->status == PETAL_OK && at < absent.count) {
        size_t count = absent.count - at, done;
        uint64_t room = items < info.capacity ? info.capacity - items : 0, added;
        if (!unlimited && info.capacity && count > room) count = (size_t)room;
        if (count) {
            change->status = add_some(value, at, count, change, &done, &added);
            items += added;
            given += done;
            at += done;
        } else if (petal_contains(filter, absent.keys[at].data, absent.keys[at].size_bytes)) {
            at++; /* repeats an item in this batch that still fitted */
        } else {
            change->status = PETAL_ERR_FULL;
            snprintf(change->failure.error.message, sizeof change->failure.error.message,
                     "full: it does not grow, and was made for %llu items",
                     (unsigned long long)info.capacity);
        }
    }
    /* The library counts every key it is given, including repeats within a batch. BF.CARD counts
     * only new items, so the number is corrected. */
    if (given != items) petal_set_items(value_filter(value), items, NULL);
    change->outcome.done = at < absent.count ? absent.places[at] : change->batch.count;
    change->outcome.positive = items - info.items;
}

void add_change(RedisModuleCtx *ctx, struct value *value, struct change *change)
{
    enum value_kind kind = value_kind(value);
    change->results = scratch_results((size_t)change->batch.count);
    change->outcome = PETAL_BATCH_OUTCOME_INIT;
    change->status = PETAL_OK;
    if (kind == KIND_FIXED)
        add_to_fixed(value, change, must_obey(ctx));
    else
        change->status = value_add_batch(ctx, value, &change->batch, change->results,
                                         &change->outcome, &change->failure.error);
    /* Adding an item again renews it in a window, and is counted by a counting filter. In other
     * filters it changes nothing, and is not replicated. */
    int repeats_count = kind == KIND_COUNTING || kind == KIND_WINDOW || kind == KIND_WINDOW_OF_TIME;
    change->changed = (repeats_count ? change->outcome.done : change->outcome.positive) > 0;
}

void reply_change(RedisModuleCtx *ctx, const struct change *change, const char *line)
{
    server.ReplyWithArray(ctx, (long)change->outcome.done + (line != NULL));
    for (uint64_t i = 0; i < change->outcome.done; i++)
        server.ReplyWithBool(ctx, change->results[i]);
    if (line) server.ReplyWithError(ctx, line);
}

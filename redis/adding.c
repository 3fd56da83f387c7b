/* adding.c - see adding.h. */
#include "adding.h"

#include "valkey.h"

#include <stdio.h>

/* ---- growing --------------------------------------------------------------------------------- */

/* Its master, or the server that wrote the AOF, had the memory. */
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
    int is_valkey = value->classic == CLASSIC_VALKEY; /* which has a limit of its own */
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

/* Into the last layer. */
static void count_items(struct value *value, uint64_t added)
{
    value->layers[value->layer_count - 1].items += added;
    atomic_fetch_add_explicit(&totals.items, added, memory_order_relaxed);
}

/* The keys of a batch from number `from` on. */
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

/* remove.c - removes keys from counting filters, and converts counting filters to filters without
 * counters. */
#include "base/error.h"
#include "filter/batch.h"
#include "filter/permission.h"

/* ---- removing -------------------------------------------------------------------------------- */

/* In a filter with several layers, it is not known which layer a key was added to, so the key's
 * counters can't be decremented. */
static petal_status check_removing(const petal_filter *filter, petal_error *error)
{
    if (filter->scheme->counters && petal_filter_is_single(filter)) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "only counting filters of one layer can remove keys; build one of those");
}

/* Returns the number of leading hashes whose blocks in a map need no check. */
static size_t count_checked(const petal_filter *filter, const uint64_t *hashes, size_t count)
{
    size_t i = 0;
    if (!filter->layers->blocks) return count;
    while (i < count && petal_filter_note_change(filter, filter->layers, &hashes[i])) i++;
    return i;
}

/* Checks all blocks of a key before any block changes. */
static petal_status remove_piece(petal_filter *filter, const uint64_t *hashes, size_t count,
                                 uint8_t *results, struct progress *progress, petal_error *error)
{
    struct layer *layer = filter->layers;
    petal_status status = PETAL_OK;
    for (size_t done = 0, part; status == PETAL_OK && done < count; done += part) {
        part = count_checked(filter, hashes + done, count - done);
        status = part ? petal_filter_prepare_lowering(filter, LOWERING_COUNTS, error)
                      : petal_filter_check_wanted(filter, error);
        if (status != PETAL_OK || part == 0) continue;
        size_t removed = filter->scheme->counters->remove_many(&layer->array, hashes + done, part,
                                                               results + done);
        layer->items -= removed < layer->items ? removed : layer->items;
        filter->removals += removed;
        progress->positive += removed;
        progress->done += part;
    }
    return status;
}

petal_status petal_remove_hash(petal_filter *filter, uint64_t hash)
{
    struct progress progress = {0, 0};
    petal_error error;
    uint8_t was_removed;
    petal_status status = check_removing(filter, &error);
    if (status == PETAL_OK)
        status = remove_piece(filter, &hash, 1, &was_removed, &progress, &error);
    if (status != PETAL_OK) return petal_filter_note_error(filter, status, &error);
    return progress.positive ? PETAL_OK : PETAL_ABSENT;
}

petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_remove_hash(filter, petal_hash_key(filter, key, key_bytes));
}

petal_status petal_remove_i64(petal_filter *filter, int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return petal_remove(filter, key, sizeof key);
}

/* The number of keys per piece of a batch. In counting filters, each hash has one word. */
#define PIECE_KEYS 256u

static petal_status remove_keys(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                                struct progress *progress, petal_error *error)
{
    uint64_t room[PIECE_KEYS];
    uint8_t unwanted[PIECE_KEYS];
    petal_status status = check_removing(filter, error);
    if (status != PETAL_OK) return status;
    while (status == PETAL_OK && progress->done < batch->count) {
        uint64_t from = progress->done, left = batch->count - from;
        size_t piece = left < PIECE_KEYS ? (size_t)left : PIECE_KEYS;
        const uint64_t *words = petal_batch_words(filter, batch, from, piece, room);
        status = remove_piece(filter, words, piece, results ? results + from : unwanted, progress,
                              error);
    }
    if (status != PETAL_OK) error->offset = progress->done;
    return status;
}

petal_status petal_remove_batch(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                                petal_batch_outcome *outcome, petal_error *error)
{
    struct progress progress = {0, 0};
    petal_batch ours;
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_batch_begin(batch, &ours, &outcome, error);
    if (status == PETAL_OK) status = remove_keys(filter, &ours, results, &progress, error);
    return petal_batch_end(filter, &ours, &progress, results, outcome, status, error);
}

/* ---- without counts -------------------------------------------------------------------------- */

/* Creates a filter with the same parameters, but without bits. */
static petal_status make_frame(const petal_filter *filter, petal_filter **made, petal_error *error)
{
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    struct shape shape = filter->layers->array.shape;
    shape.scheme = filter->scheme->counters->bit_scheme;
    return petal_filter_new(&shape, 1, filter->hash->id, filter->hash_key.seed, secret,
                            &filter->allocator, made, error);
}

petal_status petal_drop_counts(const petal_filter *filter, petal_filter **dropped,
                               petal_error *error)
{
    petal_filter *made = NULL;
    *dropped = NULL;
    if (!filter->scheme->counters)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a %s filter has no counts to drop; use a copy", filter->scheme->name);
    petal_status status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = make_frame(filter, &made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK)
        status = petal_filter_set_metadata(made, filter->metadata, filter->metadata_bytes, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    made->layers->capacity = filter->layers->capacity;
    made->layers->target_rate = filter->layers->target_rate;
    made->layers->items = petal_layer_items(filter, 0);
    made->key_type = filter->key_type;
    filter->scheme->counters->to_bits(&filter->layers->array, made->layers->array.bytes);
    status = petal_filter_check_unchanged(filter, error);
    if (status == PETAL_OK)
        *dropped = made;
    else
        petal_free(made);
    return status;
}

/* remove.c - taking keys out of filters that count them, and what is left when the counts are given up. */
#include "base/error.h"
#include "filter/filter.h"

/* ---- removing -------------------------------------------------------------------------------------------------------- */

/* A filter of several layers does not know into which a key went: only one layer can count keys down again. */
static petal_status check_removing(const petal_filter *filter)
{
    if (filter->scheme->counters && filter->layer_count == 1 && !filter->grow) return PETAL_OK;
    return petal_filter_fail(filter, PETAL_ERR_UNSUPPORTED,
                             "keys can be removed from counting filters of one layer only; build one of those");
}

/* Permission to count down these keys: the blocks of a map that they lie in are checked before any of them changes. */
static petal_status prepare(petal_filter *filter, const uint64_t *hashes, size_t count)
{
    bool checked = true;
    for (size_t i = 0; filter->layers->blocks && i < count; i++)
        checked &= petal_filter_note_change(filter, filter->layers, &hashes[i]);
    petal_status status = checked ? PETAL_OK : petal_filter_check_wanted(filter, NULL);
    return status == PETAL_OK ? petal_filter_prepare_lowering(filter, LOWERING_COUNTS, NULL) : status;
}

/* Returns how many were removed; 0 if *status is a failure. */
static size_t remove_piece(petal_filter *filter, const uint64_t *hashes, size_t count, uint8_t *was_removed,
                           petal_status *status)
{
    struct layer *layer = filter->layers;
    *status = prepare(filter, hashes, count);
    if (*status != PETAL_OK) return 0;
    size_t removed = filter->scheme->counters->remove_many(&layer->array, hashes, count, was_removed);
    layer->items -= removed < layer->items ? removed : layer->items;
    filter->removals += removed;
    return removed;
}

petal_status petal_remove_hash(petal_filter *filter, uint64_t hash)
{
    uint8_t was_removed;
    petal_status status = check_removing(filter);
    if (status == PETAL_OK && remove_piece(filter, &hash, 1, &was_removed, &status) == 0 && status == PETAL_OK)
        status = PETAL_ABSENT;
    return status;
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

petal_status petal_remove_f64(petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_remove(filter, key, sizeof key);
}

/* Batches go through in pieces of so many keys. */
#define PIECE_KEYS 256u

static size_t piece_of(size_t left)
{
    return left < PIECE_KEYS ? left : PIECE_KEYS;
}

petal_status petal_remove_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *was_removed,
                                 size_t *removed_count)
{
    uint8_t unwanted[PIECE_KEYS];
    size_t sum = 0, piece;
    petal_status status = check_removing(filter);
    for (size_t from = 0; status == PETAL_OK && from < hash_count; from += piece) {
        piece = piece_of(hash_count - from);
        sum += remove_piece(filter, hashes + from, piece, was_removed ? was_removed + from : unwanted, &status);
    }
    if (removed_count) *removed_count = sum;
    return status;
}

petal_status petal_remove_many(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_removed,
                               size_t *removed_count)
{
    uint64_t hashes[PIECE_KEYS];
    uint8_t unwanted[PIECE_KEYS];
    size_t sum = 0, piece;
    petal_status status = check_removing(filter);
    for (size_t from = 0; status == PETAL_OK && from < key_count; from += piece) {
        piece = piece_of(key_count - from);
        petal_hash_keys(filter, keys + from, piece, hashes);
        sum += remove_piece(filter, hashes, piece, was_removed ? was_removed + from : unwanted, &status);
    }
    if (removed_count) *removed_count = sum;
    return status;
}

/* ---- without counts -------------------------------------------------------------------------------------------------- */

/* Bits stand for positions of their own scheme; only counters have the same ones elsewhere. */
static petal_status check_target(const petal_filter *filter, petal_scheme scheme, petal_error *error)
{
    const struct scheme_def *from = filter->scheme, *to = petal_scheme_find(scheme);
    if (!to) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no scheme number %d", (int)scheme);
    if (from == to)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "the filter is %s already; a copy of it will do", to->name);
    if (!from->counters || from->counters->bit_scheme != scheme)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "%s cannot become %s: bits are never translated, that needs the keys; build one from them",
                          from->name, to->name);
    if (filter->layer_count > 1)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "filters of several layers cannot be converted");
    return PETAL_OK;
}

/* The filter without its bits. */
static petal_status make_frame(const petal_filter *filter, petal_scheme scheme, petal_filter **made, petal_error *error)
{
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    struct shape shape = filter->layers->array.shape;
    shape.scheme = scheme;
    return petal_filter_new(&shape, 1, filter->hash->id, filter->hash_key.seed, secret, &filter->allocator, made,
                            error);
}

petal_status petal_convert_scheme(const petal_filter *filter, petal_scheme scheme, petal_filter **converted,
                                  petal_error *error)
{
    petal_filter *made = NULL;
    *converted = NULL;
    petal_status status = check_target(filter, scheme, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = make_frame(filter, scheme, &made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK) status = petal_filter_set_metadata(made, filter->metadata, filter->metadata_bytes, error);
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
        *converted = made;
    else
        petal_free(made);
    return status;
}

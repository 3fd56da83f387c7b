/* keys.c - adding keys and asking for them: one, a batch, by hash, by number. */
#include "base/bytes.h"
#include "base/checked.h"
#include "filter/filter.h"

#include <string.h>

static void hash_into(const petal_filter *filter, const void *key, size_t key_bytes, uint64_t *words)
{
    filter->hash->compute(&filter->hash_key, key, key_bytes, words);
}

/* ---- one key --------------------------------------------------------------------------------------------------------- */

static struct layer *last_layer(const petal_filter *filter)
{
    return &filter->layers[filter->layer_count - 1];
}

static bool contains_words(const petal_filter *filter, const uint64_t *words)
{
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (filter->kernel->contains(&filter->layers[i].array, words)) return true;
    return false;
}

/* A key that an older layer has is not added again: it would only fill the last one. */
static bool older_layer_has(const petal_filter *filter, const uint64_t *words)
{
    for (uint32_t i = 0; i + 1 < filter->layer_count; i++)
        if (filter->kernel->contains(&filter->layers[i].array, words)) return true;
    return false;
}

static petal_status add_words(petal_filter *filter, const uint64_t *words)
{
    struct layer *layer = last_layer(filter);
    petal_status status = petal_filter_prepare_write(filter, NULL);
    if (status != PETAL_OK) return status;
    layer->items = saturating_add(layer->items, 1);
    if (older_layer_has(filter, words)) return PETAL_SEEN;
    if (layer->touched) filter->scheme->touch(&layer->array, words, layer->touched);
    return filter->kernel->add(&layer->array, words) ? PETAL_OK : PETAL_SEEN;
}

petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    hash_into(filter, key, key_bytes, words);
    return add_words(filter, words);
}

bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    hash_into(filter, key, key_bytes, words);
    return contains_words(filter, words);
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

/* Batches go through in pieces of so many words of hashes, so that hashes and results stay in the first-level cache. */
#define PIECE_WORDS 512u

static size_t piece_of(const petal_filter *filter, size_t left)
{
    size_t most = PIECE_WORDS / filter->hash->words;
    return left < most ? left : most;
}

static size_t add_one_by_one(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += was_new[i] = add_words(filter, words + i * filter->hash->words) == PETAL_OK;
    return sum;
}

static size_t add_piece(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new)
{
    uint8_t unwanted[PIECE_WORDS];
    struct layer *layer = last_layer(filter);
    if (!was_new) was_new = unwanted;
    if (filter->layer_count > 1) return add_one_by_one(filter, words, count, was_new);
    if (layer->touched)
        for (size_t i = 0; i < count; i++)
            filter->scheme->touch(&layer->array, words + i * filter->hash->words, layer->touched);
    layer->items = saturating_add(layer->items, count);
    return filter->kernel->add_many(&layer->array, words, count, was_new);
}

/* Asks the older layers too, for all keys: most keys of most batches are in none, and a batch hides the misses. */
static size_t contains_piece(const petal_filter *filter, const uint64_t *words, size_t count, uint8_t *found)
{
    uint8_t unwanted[PIECE_WORDS], older[PIECE_WORDS];
    if (!found) found = unwanted;
    size_t sum = filter->kernel->contains_many(&last_layer(filter)->array, words, count, found);
    for (uint32_t layer = 0; layer + 1 < filter->layer_count; layer++) {
        filter->kernel->contains_many(&filter->layers[layer].array, words, count, older);
        sum = 0;
        for (size_t i = 0; i < count; i++) sum += found[i] |= older[i];
    }
    return sum;
}

static void hash_piece(const petal_filter *filter, const petal_key *keys, size_t count, uint64_t *words)
{
    for (size_t i = 0; i < count; i++)
        hash_into(filter, keys[i].data, keys[i].size_bytes, words + i * filter->hash->words);
}

petal_status petal_add_many(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_new,
                            size_t *new_count)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    petal_status status = petal_filter_prepare_write(filter, NULL);
    for (size_t from = 0; status == PETAL_OK && from < key_count; from += piece) {
        piece = piece_of(filter, key_count - from);
        hash_piece(filter, keys + from, piece, words);
        sum += add_piece(filter, words, piece, was_new ? was_new + from : NULL);
    }
    if (new_count) *new_count = sum;
    return status;
}

size_t petal_contains_many(const petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *found)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    for (size_t from = 0; from < key_count; from += piece) {
        piece = piece_of(filter, key_count - from);
        hash_piece(filter, keys + from, piece, words);
        sum += contains_piece(filter, words, piece, found ? found + from : NULL);
    }
    return sum;
}

/* The index of the first key whose answer is `wanted`, or key_count. */
static size_t first_that_is(const petal_filter *filter, const petal_key *keys, size_t key_count, bool wanted)
{
    size_t i = 0;
    while (i < key_count && petal_contains(filter, keys[i].data, keys[i].size_bytes) != wanted) i++;
    return i;
}

bool petal_contains_any(const petal_filter *filter, const petal_key *keys, size_t key_count)
{
    return first_that_is(filter, keys, key_count, true) < key_count;
}

bool petal_contains_all(const petal_filter *filter, const petal_key *keys, size_t key_count)
{
    return first_that_is(filter, keys, key_count, false) == key_count;
}

/* ---- hashes ---------------------------------------------------------------------------------------------------------- */

uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    hash_into(filter, key, key_bytes, words);
    return words[0];
}

/* A 64-bit hash says it all only where the filter's own hash has no more. */
static bool takes_hashes(const petal_filter *filter)
{
    return filter->hash->words == 1;
}

petal_status petal_add_hash(petal_filter *filter, uint64_t hash)
{
    return takes_hashes(filter) ? add_words(filter, &hash) : PETAL_ERR_UNSUPPORTED;
}

bool petal_contains_hash(const petal_filter *filter, uint64_t hash)
{
    return !takes_hashes(filter) || contains_words(filter, &hash);
}

petal_status petal_add_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *was_new,
                              size_t *new_count)
{
    size_t sum = 0, piece;
    petal_status status = takes_hashes(filter) ? petal_filter_prepare_write(filter, NULL) : PETAL_ERR_UNSUPPORTED;
    for (size_t from = 0; status == PETAL_OK && from < hash_count; from += piece) {
        piece = piece_of(filter, hash_count - from);
        sum += add_piece(filter, hashes + from, piece, was_new ? was_new + from : NULL);
    }
    if (new_count) *new_count = sum;
    return status;
}

size_t petal_contains_hashes(const petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *found)
{
    size_t sum = 0, piece;
    if (!takes_hashes(filter)) {
        if (found) memset(found, 1, hash_count);
        return hash_count;
    }
    for (size_t from = 0; from < hash_count; from += piece) {
        piece = piece_of(filter, hash_count - from);
        sum += contains_piece(filter, hashes + from, piece, found ? found + from : NULL);
    }
    return sum;
}

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

void petal_encode_i64(int64_t value, uint8_t key[8])
{
    store64le(key, (uint64_t)value);
}

void petal_encode_f64(double value, uint8_t key[8])
{
    uint64_t bits = value == 0 ? 0 : value != value ? 0x7ff8000000000000u : bits_from_double(value);
    store64le(key, bits);
}

petal_status petal_add_i64(petal_filter *filter, int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return petal_add(filter, key, sizeof key);
}

bool petal_contains_i64(const petal_filter *filter, int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return petal_contains(filter, key, sizeof key);
}

petal_status petal_add_f64(petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_add(filter, key, sizeof key);
}

bool petal_contains_f64(const petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_contains(filter, key, sizeof key);
}

/* keys.c - adding keys and asking for them: one, a batch, by hash, by number. */
#include "base/bytes.h"
#include "base/checked.h"
#include "filter/filter.h"

/* ---- hashes ---------------------------------------------------------------------------------------------------------- */

uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes)
{
    return filter->hash->compute(&filter->hash_key, key, key_bytes);
}

petal_status petal_add_hash(petal_filter *filter, uint64_t hash)
{
    petal_status status = petal_filter_prepare_write(filter, NULL);
    if (status != PETAL_OK) return status;
    if (filter->touched) filter->scheme->touch(&filter->array, hash, filter->touched);
    filter->items = saturating_add(filter->items, 1);
    return filter->kernel->add(&filter->array, hash) ? PETAL_OK : PETAL_SEEN;
}

bool petal_contains_hash(const petal_filter *filter, uint64_t hash)
{
    return filter->kernel->contains(&filter->array, hash);
}

/* Batches go through in pieces of this many, so that hashes and results stay in the first-level cache. */
#define PIECE 256u

static size_t piece_of(size_t left)
{
    return left < PIECE ? left : PIECE;
}

static size_t add_piece(petal_filter *filter, const uint64_t *hashes, size_t count, uint8_t *was_new)
{
    uint8_t unwanted[PIECE];
    if (filter->touched)
        for (size_t i = 0; i < count; i++) filter->scheme->touch(&filter->array, hashes[i], filter->touched);
    filter->items = saturating_add(filter->items, count);
    return filter->kernel->add_many(&filter->array, hashes, count, was_new ? was_new : unwanted);
}

petal_status petal_add_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *was_new,
                              size_t *new_count)
{
    size_t sum = 0;
    petal_status status = petal_filter_prepare_write(filter, NULL);
    if (new_count) *new_count = 0;
    if (status != PETAL_OK) return status;
    for (size_t from = 0; from < hash_count; from += PIECE)
        sum += add_piece(filter, hashes + from, piece_of(hash_count - from), was_new ? was_new + from : NULL);
    if (new_count) *new_count = sum;
    return PETAL_OK;
}

size_t petal_contains_hashes(const petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *found)
{
    uint8_t unwanted[PIECE];
    size_t sum = 0;
    for (size_t from = 0; from < hash_count; from += PIECE)
        sum += filter->kernel->contains_many(&filter->array, hashes + from, piece_of(hash_count - from),
                                             found ? found + from : unwanted);
    return sum;
}

/* ---- keys ------------------------------------------------------------------------------------------------------------ */

petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_add_hash(filter, petal_hash_key(filter, key, key_bytes));
}

bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_contains_hash(filter, petal_hash_key(filter, key, key_bytes));
}

static void hash_piece(const petal_filter *filter, const petal_key *keys, size_t count, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++) hashes[i] = petal_hash_key(filter, keys[i].data, keys[i].size_bytes);
}

petal_status petal_add_many(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_new,
                            size_t *new_count)
{
    uint64_t hashes[PIECE];
    size_t sum = 0;
    petal_status status = petal_filter_prepare_write(filter, NULL);
    if (new_count) *new_count = 0;
    if (status != PETAL_OK) return status;
    for (size_t from = 0; from < key_count; from += PIECE) {
        size_t count = piece_of(key_count - from);
        hash_piece(filter, keys + from, count, hashes);
        sum += add_piece(filter, hashes, count, was_new ? was_new + from : NULL);
    }
    if (new_count) *new_count = sum;
    return PETAL_OK;
}

size_t petal_contains_many(const petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *found)
{
    uint64_t hashes[PIECE];
    size_t sum = 0;
    for (size_t from = 0; from < key_count; from += PIECE) {
        size_t count = piece_of(key_count - from);
        hash_piece(filter, keys + from, count, hashes);
        sum += petal_contains_hashes(filter, hashes, count, found ? found + from : NULL);
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

/* keys.c - adding keys and asking for them: one, a batch, by hash, by number. */
#include "base/bytes.h"
#include "base/checked.h"
#include "filter/layers.h"
#include "hash/xxh3.h"
#include "petal/petal_inline.h"

#include <string.h>

/* A key of no bytes may come without a pointer, and hashes may reckon with theirs.
 * The default hash is inlined here: for a short key the call would cost as much as the hash. */
static inline void hash_into(const petal_filter *filter, const void *key, size_t key_bytes, uint64_t *words)
{
    if (filter->hash->id == PETAL_HASH_XXH3)
        words[0] = xxh3(key, key_bytes, filter->hash_key.seed);
    else
        filter->hash->compute(&filter->hash_key, key_bytes ? key : "", key_bytes, words);
}

/* Nearly every filter has the default hash and one layer: then a key is one hash and one look. */
static inline bool is_usual(const petal_filter *filter)
{
    return filter->hash->id == PETAL_HASH_XXH3 && filter->layer_count == 1;
}

/* Most hashes are the same for all layers; those that are not are worked out for each. */
static bool hash_is_shared(const petal_filter *filter)
{
    return filter->hash->words != 0;
}

static void hash_for_layer(const petal_filter *filter, const struct layer *layer, const void *key, size_t key_bytes,
                           uint64_t *words)
{
    struct hash_key with = filter->hash_key;
    with.hashes = layer->array.shape.hashes;
    with.bits = layer->array.shape.bits;
    filter->hash->compute(&with, key_bytes ? key : "", key_bytes, words);
}

/* A key that the original of the filter does not take, and so cannot find. */
static bool is_refused(const petal_filter *filter, size_t key_bytes)
{
    return key_bytes == 0 && filter->scheme->no_empty_key;
}

bool petal_filter_refuses_any(const petal_filter *filter, const petal_key *keys, size_t key_count)
{
    size_t i = filter->scheme->no_empty_key ? 0 : key_count;
    while (i < key_count && !is_refused(filter, keys[i].size_bytes)) i++;
    return i < key_count;
}

/* ---- one key --------------------------------------------------------------------------------------------------------- */

static struct layer *last_layer(const petal_filter *filter)
{
    return &filter->layers[filter->layer_count - 1];
}

/* Is it in one of the first `layer_count` layers? */
static bool layers_have(const petal_filter *filter, uint32_t layer_count, const uint64_t *words)
{
    for (uint32_t i = 0; i < layer_count; i++)
        if (filter->kernel->contains(&filter->layers[i].array, words)) return true;
    return false;
}

static bool layers_have_key(const petal_filter *filter, uint32_t layer_count, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    if (hash_is_shared(filter)) {
        hash_into(filter, key, key_bytes, words);
        return layers_have(filter, layer_count, words);
    }
    for (uint32_t i = 0; i < layer_count; i++) {
        hash_for_layer(filter, &filter->layers[i], key, key_bytes, words);
        if (filter->kernel->contains(&filter->layers[i].array, words)) return true;
    }
    return false;
}

static bool wants_to_grow(const petal_filter *filter)
{
    const struct layer *layer = last_layer(filter);
    return filter->grow && layer->items >= layer->capacity;
}

static bool is_new(petal_status status)
{
    return status == PETAL_OK;
}

/* PETAL_ERR_FULL, if that is wanted. */
static petal_status check_room(const petal_filter *filter, bool is_overfull)
{
    if (!is_overfull) return PETAL_OK;
    return petal_filter_fail(filter, PETAL_ERR_FULL,
                             "the filter holds more keys than it is rated for; make a larger one");
}

/* Sets the bits in the last layer. */
static petal_status add_to_last(petal_filter *filter, const uint64_t *words)
{
    struct layer *layer = last_layer(filter);
    petal_status status = petal_layers_prepare(filter, words, 1);
    if (status != PETAL_OK) return status;
    bool changed = filter->kernel->add(&layer->array, words);
    if (changed || !petal_filter_counts_new_only(filter)) layer->items = saturating_add(layer->items, 1);
    return changed ? PETAL_OK : PETAL_SEEN;
}

static petal_status add_to_newest(petal_filter *filter, const uint64_t *words)
{
    petal_status status = PETAL_OK;
    uint8_t was_new;
    bool is_new = petal_layers_add(filter, words, 1, &was_new, &status);
    return status < 0 ? status : is_new ? PETAL_OK : PETAL_SEEN;
}

/* A filter that is for reading only takes no key, not even one that it has; a map, and a filter that
 * threads share, ask when they know which blocks. */
static petal_status may_add(petal_filter *filter)
{
    petal_status status = check_room(filter, filter->refuse_overfull && petal_is_overfull(filter));
    return status == PETAL_OK && !filter->sharing ? petal_filter_may_write(filter, NULL) : status;
}

/* A key that an older layer has is not added again: it would only fill the last one. */
static petal_status add_words(petal_filter *filter, const uint64_t *words)
{
    petal_status status = may_add(filter);
    if (status == PETAL_OK && petal_filter_rotates(filter)) return add_to_newest(filter, words);
    if (status == PETAL_OK && layers_have(filter, filter->layer_count - 1, words)) return PETAL_SEEN;
    if (status == PETAL_OK && wants_to_grow(filter)) {
        if (layers_have(filter, filter->layer_count, words)) return PETAL_SEEN;
        status = petal_filter_grow(filter);
    }
    return status == PETAL_OK ? add_to_last(filter, words) : status;
}

/* The same where each layer has a hash of its own. */
static petal_status add_layer_by_layer(petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    petal_status status = may_add(filter);
    if (status == PETAL_OK && layers_have_key(filter, filter->layer_count - 1, key, key_bytes)) return PETAL_SEEN;
    if (status == PETAL_OK && wants_to_grow(filter)) {
        if (layers_have_key(filter, filter->layer_count, key, key_bytes)) return PETAL_SEEN;
        status = petal_filter_grow(filter);
    }
    if (status != PETAL_OK) return status;
    hash_for_layer(filter, last_layer(filter), key, key_bytes, words);
    return add_to_last(filter, words);
}

/* Summing up what all threads have counted is too much for each key: a few keys do, and the others go by what they found. */
#define KEYS_PER_SUM 64u

static bool shared_is_overfull(const petal_filter *filter, uint64_t hash)
{
    return hash % KEYS_PER_SUM == 0 ? petal_is_overfull(filter) : petal_filter_was_overfull(filter);
}

/* One of several threads adds. */
static petal_status add_shared(petal_filter *filter, const uint64_t *words)
{
    struct layer *layer = filter->layers;
    petal_status status = check_room(filter, filter->refuse_overfull && shared_is_overfull(filter, *words));
    if (status == PETAL_OK) status = petal_layers_prepare(filter, words, 1);
    if (status != PETAL_OK) return status;
    return filter->kernel->add_shared(&layer->array, &filter->sharing->stripes, words) ? PETAL_OK : PETAL_SEEN;
}

/* Adds a hash that all layers share. */
static petal_status add_hash(petal_filter *filter, const uint64_t *words)
{
    return filter->sharing ? add_shared(filter, words) : add_words(filter, words);
}

/* A usual filter where nothing but the bits and the count changes: no other threads, no file, no growing. Sharing is looked at
 * first: where there are other threads, one of them may be changing the rest. */
static inline bool is_plain(const petal_filter *filter)
{
    return is_usual(filter) && !filter->sharing && !filter->before_write && !filter->grow && !filter->refuse_overfull &&
           !filter->layers->blocks;
}

/* In a stream of new and old keys nobody can foresee the answer, so there is no branch on it. */
static inline petal_status add_plainly(petal_filter *filter, uint64_t hash)
{
    struct layer *layer = filter->layers;
    layer->items = saturating_add(layer->items, 1);
    bool is_new = filter->kernel->add(&layer->array, &hash);
    return (petal_status)(PETAL_SEEN - is_new);
}

_Static_assert(PETAL_SEEN - 1 == PETAL_OK, "add_plainly() counts on it");

static petal_status refuse_empty_key(const petal_filter *filter)
{
    return petal_filter_fail(filter, PETAL_ERR_UNSUPPORTED, "filters of this scheme do not accept the empty key");
}

static petal_status add_carefully(petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    if (is_refused(filter, key_bytes)) return refuse_empty_key(filter);
    if (!hash_is_shared(filter)) return add_layer_by_layer(filter, key, key_bytes);
    hash_into(filter, key, key_bytes, words);
    return add_hash(filter, words);
}

petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes)
{
    return is_plain(filter) ? add_plainly(filter, xxh3(key, key_bytes, filter->hash_key.seed))
                            : add_carefully(filter, key, key_bytes);
}

static inline bool usual_has(const petal_filter *filter, uint64_t hash)
{
    return filter->kernel->contains(&filter->layers->array, &hash);
}

bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes)
{
    if (is_usual(filter)) return usual_has(filter, xxh3(key, key_bytes, filter->hash_key.seed));
    return !is_refused(filter, key_bytes) && layers_have_key(filter, filter->layer_count, key, key_bytes);
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

/* Batches go through in pieces of so many words of hashes. Small ones stay in the first-level cache; but each begins by waiting for
 * memory, so they are larger where the filter is. */
#define NEAR_PIECE_WORDS 512u
#define PIECE_WORDS PETAL_PIECE_WORDS

static petal_status end_of_batch(petal_status status)
{
    return status < 0 ? status : PETAL_OK;
}

static size_t piece_of(const petal_filter *filter, size_t left)
{
    bool is_near = filter->layers->array.size_bytes <= PETAL_CACHED_BYTES;
    size_t most = (is_near ? NEAR_PIECE_WORDS : PIECE_WORDS) / filter->hash->words;
    return left < most ? left : most;
}

/* Where overfull filters are refused, a piece ends where an add would count the bits again. */
static size_t piece_to_add(const petal_filter *filter, size_t left)
{
    size_t piece = piece_of(filter, left);
    uint64_t most = filter->refuse_overfull ? petal_filter_keys_to_next_step(filter) : piece;
    return most < piece ? (size_t)most : piece;
}

/* Adds a piece of a batch; the number of new keys is returned. */
static size_t add_piece(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                        petal_status *status)
{
    uint8_t unwanted[PIECE_WORDS];
    if (!was_new) was_new = unwanted;
    *status = may_add(filter);
    if (*status != PETAL_OK) return 0;
    if (petal_is_layered(filter)) return petal_layers_add(filter, words, count, was_new, status);
    if (!filter->sharing) return petal_layers_add_to_last(filter, words, count, was_new, status);
    *status = petal_layers_prepare(filter, words, count);
    if (*status < 0) return 0;
    return filter->kernel->add_many_shared(&last_layer(filter)->array, &filter->sharing->stripes, words, count,
                                           was_new);
}

static size_t contains_piece(const petal_filter *filter, const uint64_t *words, size_t count, uint8_t *found)
{
    uint8_t unwanted[PIECE_WORDS];
    if (!found) found = unwanted;
    if (filter->layer_count > 1) return petal_layers_contain(filter, filter->layer_count, words, count, found);
    return filter->kernel->contains_many(&filter->layers->array, words, count, found);
}

void petal_filter_hash_keys(const petal_filter *filter, const petal_key *keys, size_t count, uint64_t *words)
{
    for (size_t i = 0; i < count; i++)
        hash_into(filter, keys[i].data, keys[i].size_bytes, words + i * filter->hash->words);
}

static petal_status add_keys_one_by_one(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_new,
                                        size_t *new_count)
{
    size_t sum = 0;
    petal_status status = PETAL_OK;
    for (size_t i = 0; i < key_count && status >= 0; i++) {
        status = petal_add(filter, keys[i].data, keys[i].size_bytes);
        if (was_new) was_new[i] = is_new(status);
        sum += is_new(status);
    }
    if (new_count) *new_count = sum;
    return end_of_batch(status);
}

petal_status petal_add_many(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_new,
                            size_t *new_count)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    if (petal_filter_refuses_any(filter, keys, key_count)) { /* all or none, so that the caller knows which are in */
        if (was_new) memset(was_new, 0, key_count);
        if (new_count) *new_count = 0;
        return refuse_empty_key(filter);
    }
    if (!hash_is_shared(filter)) return add_keys_one_by_one(filter, keys, key_count, was_new, new_count);
    petal_status status = PETAL_OK;
    for (size_t from = 0; status >= 0 && from < key_count; from += piece) {
        piece = piece_to_add(filter, key_count - from);
        petal_filter_hash_keys(filter, keys + from, piece, words);
        sum += add_piece(filter, words, piece, was_new ? was_new + from : NULL, &status);
    }
    if (new_count) *new_count = sum;
    return end_of_batch(status);
}

size_t petal_contains_many(const petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *found)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    if (!hash_is_shared(filter) || petal_filter_refuses_any(filter, keys, key_count)) {
        for (size_t i = 0; i < key_count; i++) {
            bool is_in = petal_contains(filter, keys[i].data, keys[i].size_bytes);
            if (found) found[i] = is_in;
            sum += is_in;
        }
        return sum;
    }
    for (size_t from = 0; from < key_count; from += piece) {
        piece = piece_of(filter, key_count - from);
        petal_filter_hash_keys(filter, keys + from, piece, words);
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
    hash_for_layer(filter, last_layer(filter), key, key_bytes, words);
    return words[0];
}

void petal_hash_keys(const petal_filter *filter, const petal_key *keys, size_t key_count, uint64_t *hashes)
{
    bool direct = filter->hash->words == 1;
    if (direct) petal_filter_hash_keys(filter, keys, key_count, hashes);
    for (size_t i = 0; i < key_count && !direct; i++)
        hashes[i] = petal_hash_key(filter, keys[i].data, keys[i].size_bytes);
}

/* A 64-bit hash can stand for a key only if the filter's own hash is no longer. */
static bool hash_is_64_bits(const petal_filter *filter)
{
    return filter->hash->words == 1;
}

static petal_status refuse_hashes(const petal_filter *filter)
{
    return petal_filter_fail(filter, PETAL_ERR_UNSUPPORTED,
                             "filters of this scheme need more than 64 bits of hash; pass the key itself");
}

bool petal_takes_hashes(const petal_filter *filter)
{
    return hash_is_64_bits(filter) && !filter->scheme->no_empty_key;
}

petal_status petal_add_hash(petal_filter *filter, uint64_t hash)
{
    if (is_plain(filter)) return add_plainly(filter, hash);
    return hash_is_64_bits(filter) ? add_hash(filter, &hash) : refuse_hashes(filter);
}

bool petal_contains_hash(const petal_filter *filter, uint64_t hash)
{
    if (is_usual(filter)) return usual_has(filter, hash);
    if (!hash_is_64_bits(filter)) return refuse_hashes(filter), true;
    return layers_have(filter, filter->layer_count, &hash);
}

petal_status petal_add_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *was_new,
                              size_t *new_count)
{
    size_t sum = 0, piece;
    petal_status status = hash_is_64_bits(filter) ? PETAL_OK : refuse_hashes(filter);
    for (size_t from = 0; status >= 0 && from < hash_count; from += piece) {
        piece = piece_to_add(filter, hash_count - from);
        sum += add_piece(filter, hashes + from, piece, was_new ? was_new + from : NULL, &status);
    }
    if (new_count) *new_count = sum;
    return end_of_batch(status);
}

size_t petal_contains_hashes(const petal_filter *filter, const uint64_t *hashes, size_t hash_count, uint8_t *found)
{
    size_t sum = 0, piece;
    if (!hash_is_64_bits(filter)) {
        (void)refuse_hashes(filter);
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

void petal_encode_i32(int32_t value, uint8_t key[4])
{
    store32le(key, (uint32_t)value);
}

void petal_encode_i64(int64_t value, uint8_t key[8])
{
    store64le(key, (uint64_t)value);
}

void petal_encode_f64(double value, uint8_t key[8])
{
    uint64_t bits = value == 0 ? 0 : value != value ? 0x7ff8000000000000u : bits_from_double(value);
    store64le(key, bits);
}

static inline uint64_t xxh3_of_i64(const petal_filter *filter, int64_t value)
{
    return petal_inline_xxh3((uint64_t)value, petal_xxh3_seed_flip(filter->hash_key.seed));
}

petal_status petal_add_i64(petal_filter *filter, int64_t value)
{
    uint8_t key[8];
    if (is_plain(filter)) return add_plainly(filter, xxh3_of_i64(filter, value));
    petal_encode_i64(value, key);
    return petal_add(filter, key, sizeof key);
}

bool petal_contains_i64(const petal_filter *filter, int64_t value)
{
    uint8_t key[8];
    if (is_usual(filter)) return usual_has(filter, xxh3_of_i64(filter, value));
    petal_encode_i64(value, key);
    return petal_contains(filter, key, sizeof key);
}

/* Hashes of a piece of numbers. The default hash takes several at a time. */
void petal_filter_hash_i64(const petal_filter *filter, const int64_t *values, size_t count, uint64_t *words)
{
    uint8_t key[8];
    if (filter->hash->id == PETAL_HASH_XXH3) {
        petal_xxh3_i64(values, count, filter->hash_key.seed, words);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        petal_encode_i64(values[i], key);
        hash_into(filter, key, sizeof key, words + i * filter->hash->words);
    }
}

petal_status petal_add_many_i64(petal_filter *filter, const int64_t *values, size_t value_count, uint8_t *was_new,
                                size_t *new_count)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    petal_status status = PETAL_OK;
    for (size_t from = 0; status >= 0 && from < value_count; from += piece) {
        uint8_t *results = was_new ? was_new + from : NULL;
        if (hash_is_shared(filter)) {
            piece = piece_to_add(filter, value_count - from);
            petal_filter_hash_i64(filter, values + from, piece, words);
            sum += add_piece(filter, words, piece, results, &status);
        } else {
            piece = 1;
            status = petal_add_i64(filter, values[from]);
            if (results) *results = is_new(status);
            sum += is_new(status);
        }
    }
    if (new_count) *new_count = sum;
    return end_of_batch(status);
}

size_t petal_contains_many_i64(const petal_filter *filter, const int64_t *values, size_t value_count, uint8_t *found)
{
    uint64_t words[PIECE_WORDS];
    size_t sum = 0, piece;
    for (size_t from = 0; from < value_count; from += piece) {
        uint8_t *results = found ? found + from : NULL, one;
        if (hash_is_shared(filter)) {
            piece = piece_of(filter, value_count - from);
            petal_filter_hash_i64(filter, values + from, piece, words);
            sum += contains_piece(filter, words, piece, results);
        } else {
            piece = 1;
            one = petal_contains_i64(filter, values[from]);
            if (results) *results = one;
            sum += one;
        }
    }
    return sum;
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

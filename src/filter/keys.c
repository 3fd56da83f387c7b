/* keys.c - adds keys and looks them up, one at a time: by bytes, number or hash. */
#include "base/bytes.h"
#include "base/error.h"
#include "filter/batch.h"
#include "filter/guard.h"
#include "filter/strategy.h"
#include "hash/xxh3.h"

#include <stddef.h>

/* ---- the general way ------------------------------------------------------------------------- */

/* Returns true if the filter's library rejects this key. In that case, the filter can't contain
 * it. */
static inline bool is_refused(const petal_filter *filter, size_t key_bytes)
{
    return key_bytes == 0 && filter->scheme->no_empty_key;
}

petal_status petal_filter_refuse_empty_key(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "filters of this scheme do not accept the empty key");
}

/* The pointer of an empty key may be NULL. Hash functions may do arithmetic on the pointer, so a
 * valid pointer replaces NULL. If each layer has its own hash, nothing is hashed yet. The default
 * hash is inlined, since a call would cost as much as the hash for short keys. */
static inline struct probe probe_of(const petal_filter *filter, const void *key, size_t key_bytes,
                                    uint64_t *words)
{
    struct probe probe = {key_bytes ? key : "", key_bytes, NULL};
    if (filter->hash->words == 0) return probe;
    if (filter->hash->id == PETAL_HASH_XXH3)
        words[0] = xxh3(probe.data, key_bytes, filter->hash_key.seed);
    else
        filter->hash->compute(&filter->hash_key, probe.data, key_bytes, words);
    probe.words = words;
    return probe;
}

petal_status petal_filter_add_key(petal_filter *filter, const void *key, size_t key_bytes,
                                  petal_error *error)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (is_refused(filter, key_bytes)) return petal_filter_refuse_empty_key(error);
    struct probe probe = probe_of(filter, key, key_bytes, words);
    return filter->strategy->add(filter, &probe, error);
}

/* Writes the answer, unless it depends on damaged bits. */
static petal_status find(const petal_filter *filter, const struct probe *probe, bool *answer,
                         petal_error *error)
{
    petal_status status =
        petal_guard_is_up(filter) ? petal_guard_check(filter, probe, error) : PETAL_OK;
    if (status == PETAL_OK) *answer = filter->strategy->contains(filter, probe);
    return status;
}

petal_status petal_filter_find_key(const petal_filter *filter, const void *key, size_t key_bytes,
                                   bool *answer, petal_error *error)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    struct probe probe;
    if (is_refused(filter, key_bytes)) {
        *answer = false;
        return PETAL_OK;
    }
    probe = probe_of(filter, key, key_bytes, words);
    return find(filter, &probe, answer, error);
}

petal_status petal_filter_find_hash(const petal_filter *filter, uint64_t hash, bool *answer,
                                    petal_error *error)
{
    struct probe probe = {.words = &hash};
    return find(filter, &probe, answer, error);
}

bool petal_filter_has_key(const petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    if (is_refused(filter, key_bytes)) return false;
    struct probe probe = probe_of(filter, key, key_bytes, words);
    return filter->strategy->contains(filter, &probe);
}

/* ---- one key, for any filter: see direct in scheme.h ----------------------------------------- */

static bool contains(const struct direct *way, const void *key, size_t key_bytes)
{
    return petal_filter_has_key((const petal_filter *)way, key, key_bytes);
}

static bool contains_i64(const struct direct *way, int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return contains(way, key, sizeof key);
}

/* The caller of petal_add() passed a mutable filter, so it is safe to cast const away. */
static petal_status add(const struct direct *way, const void *key, size_t key_bytes)
{
    petal_filter *filter = (petal_filter *)(uintptr_t)way;
    petal_error error;
    petal_status status = petal_filter_add_key(filter, key, key_bytes, &error);
    return status < 0 ? petal_filter_note_error(filter, status, &error) : status;
}

static petal_status add_i64(const struct direct *way, int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return add(way, key, sizeof key);
}

const struct direct_calls petal_keys_by_strategy = {
    .contains = contains, .contains_i64 = contains_i64, .add = add, .add_i64 = add_i64};

_Static_assert(offsetof(petal_filter, direct) == 0, "a way is its filter's first member");

/* ---- the public calls: one load and one jump ------------------------------------------------- */

petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes)
{
    return filter->direct.calls.add(&filter->direct, key, key_bytes);
}

bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes)
{
    return filter->direct.calls.contains(&filter->direct, key, key_bytes);
}

petal_status petal_add_i64(petal_filter *filter, int64_t value)
{
    return filter->direct.calls.add_i64(&filter->direct, value);
}

bool petal_contains_i64(const petal_filter *filter, int64_t value)
{
    return filter->direct.calls.contains_i64(&filter->direct, value);
}

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

uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes)
{
    uint64_t words[PETAL_HASH_MAX_WORDS];
    if (filter->lacks_secret) return 0;
    petal_probe_hash(filter, petal_filter_last(filter), key, key_bytes, words);
    return words[0];
}

petal_status petal_filter_check_hashes(const petal_filter *filter, petal_error *error)
{
    if (filter->hash->words == 1) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "filters of this scheme need more than 64 bits of hash; pass the key itself");
}

petal_status petal_add_hash(petal_filter *filter, uint64_t hash)
{
    struct probe probe = {.words = &hash};
    petal_error error;
    petal_status status = PETAL_IS_READ_ONLY ? petal_refuse_read_only(&error)
                                             : petal_filter_check_hashes(filter, &error);
    if (status == PETAL_OK) status = filter->strategy->add(filter, &probe, &error);
    return petal_filter_note_error(filter, status, &error);
}

bool petal_contains_hash(const petal_filter *filter, uint64_t hash)
{
    petal_error error;
    bool answer = true;
    petal_status status = petal_filter_check_hashes(filter, &error);
    if (status == PETAL_OK) status = petal_filter_find_hash(filter, hash, &answer, &error);
    (void)petal_filter_note_error(filter, status, &error);
    return answer;
}

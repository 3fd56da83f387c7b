/* batch.c - adds and looks up many keys in one call: see batch.h. */
#include "filter/batch.h"
#include "filter/guard.h"
#include "filter/permission.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/sized.h"
#include "hash/xxh3.h"

/* ---- the descriptor -------------------------------------------------------------------------- */

/* The field values that each layout implies. 0 means that the batch itself specifies the field. */
enum { OFFSETS = 1 };
static const struct {
    uint8_t uses;
    uint8_t key_bytes; /* if all keys have the same size; for FIXED it is a field of the batch */
    uint8_t stride;    /* size of the array that `data` or `offsets` points to */
} layouts[] = {
    [PETAL_LAYOUT_POINTERS] = {0, sizeof(petal_key), sizeof(petal_key)},
    [PETAL_LAYOUT_OFFSETS32] = {OFFSETS, 0, sizeof(uint32_t)},
    [PETAL_LAYOUT_OFFSETS64] = {OFFSETS, 0, sizeof(uint64_t)},
    [PETAL_LAYOUT_FIXED] = {0, 0, 0},
    [PETAL_LAYOUT_I64] = {0, sizeof(int64_t), sizeof(int64_t)},
    [PETAL_LAYOUT_HASHES] = {0, sizeof(uint64_t), sizeof(uint64_t)},
};

static inline uint64_t offset_at(const petal_batch *batch, uint32_t layout, uint64_t i)
{
    uint32_t narrow;
    uint64_t wide;
    const uint8_t *offsets = batch->offsets;
    if (layout == PETAL_LAYOUT_OFFSETS32) {
        memcpy(&narrow, offsets + i * sizeof narrow, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, offsets + i * sizeof wide, sizeof wide);
    return wide;
}

/* The loop has no branch per pair of offsets, so that the compiler can vectorize it. */
static inline bool ascend(const petal_batch *batch, uint32_t layout)
{
    uint64_t backwards = 0;
    for (uint64_t i = 0; i < batch->count; i++)
        backwards |= offset_at(batch, layout, i) > offset_at(batch, layout, i + 1);
    return !backwards;
}

/* Returns true if every key is 8 bytes long, like a number; in that case, the offsets also ascend.
 * Differences are computed at the width of the offsets, and comparing the first offset with the
 * last detects wraparound. */
static inline bool are_by_eight(const petal_batch *batch, uint32_t layout)
{
    uint64_t mask = layout == PETAL_LAYOUT_OFFSETS32 ? UINT32_MAX : UINT64_MAX, other = 0;
    uint64_t first = offset_at(batch, layout, 0), last = offset_at(batch, layout, batch->count);
    if (offset_at(batch, layout, 1) - first != sizeof(int64_t)) return false;
    for (uint64_t i = 1; i < batch->count; i++)
        other |= (offset_at(batch, layout, i + 1) - offset_at(batch, layout, i)) ^ sizeof(int64_t);
    return (other & mask) == 0 && last >= first && last - first == sizeof(int64_t) * batch->count;
}

/* Finds the first invalid key, for the message. The other checks only find out whether any key is
 * invalid, which keeps their loops fast. */
static petal_status refuse_offset(const petal_batch *batch, petal_error *error)
{
    uint64_t i = 0, from, to;
    do {
        from = offset_at(batch, batch->layout, i);
        to = offset_at(batch, batch->layout, i + 1);
    } while (from <= to && to <= batch->data_bytes && ++i < batch->count);
    if (from > to)
        return petal_fail_at(error, PETAL_ERR_ARGUMENT, i,
                             "key %llu of the batch ends at offset %llu, before it begins",
                             (unsigned long long)i, (unsigned long long)to);
    return petal_fail_at(error, PETAL_ERR_ARGUMENT, i,
                         "key %llu of the batch ends at offset %llu, after the end of the data",
                         (unsigned long long)i, (unsigned long long)to);
}

static petal_status check_offsets(petal_batch *batch, petal_error *error)
{
    uint32_t layout = batch->layout;
    uint64_t end = offset_at(batch, layout, batch->count);
    /* A size of 0 means that the caller doesn't know the size. In that case, the last offset is
     * trusted. */
    if (batch->data_bytes == 0 && batch->data) batch->data_bytes = end;
    bool by_eight = layout == PETAL_LAYOUT_OFFSETS32 ? are_by_eight(batch, PETAL_LAYOUT_OFFSETS32)
                                                     : are_by_eight(batch, PETAL_LAYOUT_OFFSETS64);
    bool good =
        by_eight || (layout == PETAL_LAYOUT_OFFSETS32 ? ascend(batch, PETAL_LAYOUT_OFFSETS32)
                                                      : ascend(batch, PETAL_LAYOUT_OFFSETS64));
    if (!good || end > batch->data_bytes) return refuse_offset(batch, error);
    /* On a little-endian machine, 8-byte keys can be hashed as numbers, which is faster. */
    if (by_eight && batch->data && !PETAL_BIG_ENDIAN)
        *batch = (petal_batch){.struct_size = sizeof *batch,
                               .layout = PETAL_LAYOUT_I64,
                               .data = (const uint8_t *)batch->data + offset_at(batch, layout, 0),
                               .key_bytes = sizeof(int64_t),
                               .stride = sizeof(int64_t),
                               .count = batch->count};
    return PETAL_OK;
}

/* Checks the range from the first key to the end of the last. Returns false if it exceeds the
 * address space. */
static bool span(uint64_t count, uint64_t stride, uint64_t last_bytes)
{
    /* This test avoids a division, which would take as long as hashing 8 keys. */
    uint64_t bytes = (count - 1) * stride;
    return mulhi64(count - 1, stride) == 0 && checked_add(bytes, last_bytes, &bytes) &&
           bytes <= PTRDIFF_MAX;
}

/* Sets the fields that the layout implies. */
static petal_status check_fields(petal_batch *batch, petal_error *error)
{
    uint64_t offsets = (uintptr_t)batch->offsets | batch->data_bytes, unused;
    uint32_t size = layouts[batch->layout].stride;
    if (layouts[batch->layout].uses & OFFSETS)
        unused = batch->key_bytes | batch->stride;
    else if (batch->layout == PETAL_LAYOUT_POINTERS)
        unused = offsets | batch->key_bytes | batch->stride;
    else
        unused = offsets | (size ? batch->key_bytes : 0);
    if (unused)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a batch field that its layout does not use must be 0");
    if (batch->layout != PETAL_LAYOUT_FIXED) batch->key_bytes = layouts[batch->layout].key_bytes;
    if (batch->stride == 0) batch->stride = size ? size : batch->key_bytes;
    return PETAL_OK;
}

static petal_status check_sizes(petal_batch *batch, petal_error *error)
{
    bool has_offsets = layouts[batch->layout].uses & OFFSETS;
    uint64_t last_bytes = has_offsets ? 2 * batch->stride : batch->key_bytes;
    if (!span(batch->count, batch->stride, last_bytes))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a batch of %llu keys, %llu bytes apart, is more than memory can hold",
                          (unsigned long long)batch->count, (unsigned long long)batch->stride);
    if (has_offsets ? !batch->offsets : !batch->data && batch->key_bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the batch has keys, but its %s is NULL",
                          has_offsets ? "offsets" : "data");
    petal_status status = has_offsets ? check_offsets(batch, error) : PETAL_OK;
    if (!batch->data) batch->data = ""; /* all keys are empty, so this is never read */
    return status;
}

petal_status petal_batch_take(const petal_batch *theirs, petal_batch *batch, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (theirs && theirs->struct_size == sizeof *batch)
        *batch = *theirs; /* the usual size, which takes only a few moves */
    else
        status = petal_sized_take(theirs, batch, sizeof *batch, "PETAL_BATCH_INIT", error);
    if (status != PETAL_OK) return status;
    if (batch->layout >= sizeof layouts / sizeof *layouts)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no batch layout number %u",
                          batch->layout);
    status = check_fields(batch, error);
    return status == PETAL_OK && batch->count ? check_sizes(batch, error) : status;
}

/* ---- its keys -------------------------------------------------------------------------------- */

static inline const uint8_t *place_of(const petal_batch *batch, uint64_t i)
{
    return (const uint8_t *)batch->data + i * batch->stride;
}

/* This function is inlined into a loop for one layout, so that the layout is a constant. It doesn't
 * support numbers. */
static inline petal_key key_at(const petal_batch *batch, uint32_t layout, uint64_t i)
{
    if (layout == PETAL_LAYOUT_POINTERS) return ((const petal_key *)batch->data)[i];
    if (layout == PETAL_LAYOUT_FIXED)
        return (petal_key){place_of(batch, i), (size_t)batch->key_bytes};
    uint64_t from = offset_at(batch, layout, i), to = offset_at(batch, layout, i + 1);
    return (petal_key){(const uint8_t *)batch->data + from, (size_t)(to - from)};
}

static inline int64_t number_at(const petal_batch *batch, uint64_t i)
{
    int64_t value;
    memcpy(&value, place_of(batch, i), sizeof value);
    return value;
}

petal_key petal_batch_key(const petal_batch *batch, uint64_t i, uint8_t number[8])
{
    if (batch->layout != PETAL_LAYOUT_I64) return key_at(batch, batch->layout, i);
    petal_encode_i64(number_at(batch, i), number);
    return (petal_key){number, 8};
}

petal_batch petal_batch_slice(const petal_batch *batch, uint64_t from, uint64_t count)
{
    petal_batch slice = *batch;
    if (layouts[batch->layout].uses & OFFSETS)
        slice.offsets = (const uint8_t *)batch->offsets + from * batch->stride;
    else if (from)
        slice.data = place_of(batch, from);
    slice.count = count;
    return slice;
}

petal_status petal_batch_check_hashes(const petal_filter *filter, const petal_batch *batch,
                                      petal_error *error)
{
    if (batch->layout != PETAL_LAYOUT_HASHES) return PETAL_OK;
    return petal_filter_check_hashes(filter, error);
}

petal_status petal_batch_check_keys(const petal_filter *filter, const petal_batch *batch,
                                    petal_error *error)
{
    uint8_t number[8];
    uint64_t i = 0;
    petal_status status = petal_batch_check_hashes(filter, batch, error);
    if (status != PETAL_OK || !filter->scheme->no_empty_key || batch->layout == PETAL_LAYOUT_HASHES)
        return status;
    while (i < batch->count && petal_batch_key(batch, i, number).size_bytes > 0) i++;
    if (i == batch->count) return PETAL_OK;
    status = petal_filter_refuse_empty_key(error);
    if (error) error->offset = i;
    return status;
}

/* ---- their hashes ---------------------------------------------------------------------------- */

/* 8-byte keys are hashed as numbers, several at a time. */
#define NUMBERS 64u

static size_t load_numbers(const petal_batch *batch, uint64_t from, size_t count, int64_t *numbers)
{
    size_t i = 0;
    for (; i < count; i++) {
        petal_key key = key_at(batch, batch->layout, from + i);
        if (key.size_bytes != sizeof *numbers) break;
        numbers[i] = (int64_t)load64le(key.data);
    }
    return i;
}

static void hash_numbers(const petal_batch *batch, uint64_t from, size_t count, uint64_t seed,
                         uint64_t *words)
{
    int64_t numbers[NUMBERS];
    if (batch->stride == sizeof *numbers && (uintptr_t)batch->data % sizeof *numbers == 0) {
        petal_xxh3_i64((const int64_t *)batch->data + from, count, seed, words);
        return;
    }
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < NUMBERS ? count - done : NUMBERS;
        for (size_t i = 0; i < part; i++) numbers[i] = number_at(batch, from + done + i);
        petal_xxh3_i64(numbers, part, seed, words + done);
    }
}

/* Hashes the leading keys if they are 8 bytes long. Returns the number of keys hashed. */
static size_t hash_short(const petal_batch *batch, uint64_t from, size_t count, uint64_t seed,
                         uint64_t *words)
{
    int64_t numbers[NUMBERS];
    size_t done = 0, part, loaded;
    do {
        part = count - done < NUMBERS ? count - done : NUMBERS;
        loaded = load_numbers(batch, from + done, part, numbers);
        petal_xxh3_i64(numbers, loaded, seed, words + done);
        done += loaded;
    } while (loaded == part && done < count);
    return done;
}

static inline __attribute__((always_inline)) void hash_each(const petal_batch *batch,
                                                            uint32_t layout, uint64_t from,
                                                            size_t count, uint64_t seed,
                                                            uint64_t *words)
{
    const struct xxh3_flips flips = petal_xxh3_flips(seed);
    for (size_t i = 0; i < count; i++) {
        petal_key key = key_at(batch, layout, from + i);
        words[i] = petal_xxh3_is_medium(key.size_bytes)
                       ? petal_xxh3_medium(key.data, key.size_bytes, &flips)
                       : xxh3(key.data, key.size_bytes, seed);
    }
}

/* xxh3 is inlined into each loop. For short keys, a call would cost as much as the hash. */
__attribute__((flatten)) static void hash_default(const petal_batch *batch, uint64_t from,
                                                  size_t count, uint64_t seed, uint64_t *words)
{
    size_t done = key_at(batch, batch->layout, from).size_bytes == 8
                      ? hash_short(batch, from, count, seed, words)
                      : 0;
    if (done == count) return;
    from += done, count -= done, words += done;
    switch (batch->layout) {
    case PETAL_LAYOUT_POINTERS:
        hash_each(batch, PETAL_LAYOUT_POINTERS, from, count, seed, words);
        break;
    case PETAL_LAYOUT_OFFSETS32:
        hash_each(batch, PETAL_LAYOUT_OFFSETS32, from, count, seed, words);
        break;
    case PETAL_LAYOUT_OFFSETS64:
        hash_each(batch, PETAL_LAYOUT_OFFSETS64, from, count, seed, words);
        break;
    default: hash_each(batch, PETAL_LAYOUT_FIXED, from, count, seed, words); break;
    }
}

/* Uses hashes in place if they are aligned and contiguous, and copies them otherwise. */
static const uint64_t *ready_hashes(const petal_batch *batch, uint64_t from, size_t count,
                                    uint64_t *room)
{
    if (batch->stride == sizeof *room && (uintptr_t)batch->data % sizeof *room == 0)
        return (const uint64_t *)batch->data + from;
    for (size_t i = 0; i < count; i++) room[i] = (uint64_t)number_at(batch, from + i);
    return room;
}

const uint64_t *petal_batch_words(const petal_filter *filter, const petal_batch *batch,
                                  uint64_t from, size_t count, uint64_t *room)
{
    uint8_t number[8];
    const struct hash_def *hash = filter->hash;
    if (batch->layout == PETAL_LAYOUT_HASHES) return ready_hashes(batch, from, count, room);
    if (hash->id == PETAL_HASH_XXH3 && batch->layout == PETAL_LAYOUT_I64) {
        hash_numbers(batch, from, count, filter->hash_key.seed, room);
        return room;
    }
    if (hash->id == PETAL_HASH_XXH3) {
        hash_default(batch, from, count, filter->hash_key.seed, room);
        return room;
    }
    for (size_t i = 0; i < count; i++) {
        petal_key key = petal_batch_key(batch, from + i, number);
        hash->compute(&filter->hash_key, key.size_bytes ? key.data : "", key.size_bytes,
                      room + i * hash->words);
    }
    return room;
}

/* ---- in pieces ------------------------------------------------------------------------------- */

/* Small pieces stay in the first-level cache. But each piece starts with a wait for memory, so
 * larger pieces are better for filters that don't fit in the cache. */
#define NEAR_PIECE_WORDS 512u
#define PIECE_WORDS PETAL_PIECE_WORDS

static size_t piece_of(const petal_filter *filter, uint64_t left)
{
    bool is_near = filter->layers->array.size_bytes <= PETAL_CACHED_BYTES;
    uint32_t room = is_near ? NEAR_PIECE_WORDS : PIECE_WORDS, words = filter->hash->words;
    return at_most(left, words == 1 ? room : room / words);
}

/* If the filter refuses keys when it is overfull, a piece ends before the add that counts the bits
 * again. */
static size_t piece_to_add(const petal_filter *filter, uint64_t left)
{
    size_t piece = piece_of(filter, left);
    return filter->refuse_overfull ? at_most(piece, petal_filter_keys_to_next_step(filter)) : piece;
}

static petal_status add_one_by_one(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                                   struct progress *progress, petal_error *error)
{
    uint8_t number[8];
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; i < batch->count; i++) {
        petal_key key = petal_batch_key(batch, i, number);
        status = petal_filter_add_key(filter, key.data, key.size_bytes, error);
        if (status < 0) return status;
        if (results) results[i] = status == PETAL_OK;
        progress->positive += status == PETAL_OK;
        progress->done++;
    }
    return PETAL_OK;
}

/* If a key needs a damaged block, the keys before it are added, and then the call fails, as if the
 * keys were added one by one. */
static petal_status add_pieces(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                               struct progress *progress, petal_error *error)
{
    uint64_t room[PIECE_WORDS];
    uint8_t unwanted[PIECE_WORDS];
    petal_status status = PETAL_OK;
    while (status == PETAL_OK && progress->done < batch->count) {
        uint64_t from = progress->done;
        size_t piece = piece_to_add(filter, batch->count - from), sound = piece;
        petal_status next = PETAL_OK;
        petal_error own;
        const uint64_t *words = petal_batch_words(filter, batch, from, piece, room);
        /* Adding a key also queries the older layers. */
        if (filter->layer_count > 1 && petal_guard_is_up(filter))
            sound = petal_guard_check_piece(filter, words, piece, &next, &own);
        status = filter->strategy->add_piece(filter, words, sound,
                                             results ? results + from : unwanted, progress, error);
        if (status == PETAL_OK && next != PETAL_OK) {
            *error = own;
            status = next;
        }
    }
    return status;
}

petal_status petal_batch_add(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                             struct progress *progress, petal_error *error)
{
    petal_status status =
        PETAL_IS_READ_ONLY                               ? petal_refuse_read_only(error)
        : filter->scheme->is_in_turn && !filter->builder ? petal_filter_refuse_static(filter, error)
        : filter->strategy->add_piece ? add_pieces(filter, batch, results, progress, error)
                                      : add_one_by_one(filter, batch, results, progress, error);
    if (status != PETAL_OK) error->offset = progress->done;
    return status;
}

static bool has_key(const petal_filter *filter, const petal_batch *batch, uint64_t i)
{
    uint8_t number[8];
    if (batch->layout == PETAL_LAYOUT_HASHES)
        return petal_contains_hash(filter, (uint64_t)number_at(batch, i));
    petal_key key = petal_batch_key(batch, i, number);
    return petal_contains(filter, key.data, key.size_bytes);
}

static petal_status find_guarded(const petal_filter *filter, const petal_batch *batch, uint64_t i,
                                 bool *answer, petal_error *error)
{
    uint8_t number[8];
    if (batch->layout == PETAL_LAYOUT_HASHES)
        return petal_filter_find_hash(filter, (uint64_t)number_at(batch, i), answer, error);
    petal_key key = petal_batch_key(batch, i, number);
    return petal_filter_find_key(filter, key.data, key.size_bytes, answer, error);
}

static petal_status find_key(const petal_filter *filter, const petal_batch *batch, uint64_t i,
                             bool *answer, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (petal_guard_is_up(filter))
        status = find_guarded(filter, batch, i, answer, error);
    else
        *answer = has_key(filter, batch, i);
    if (status != PETAL_OK) error->offset = i;
    return status;
}

/* Returns true if the keys can be looked up in pieces of hashes. They can't if each layer has its
 * own hash, or if a key is empty and the scheme rejects the empty key. */
static bool goes_by_pieces(const petal_filter *filter, const petal_batch *batch)
{
    return filter->strategy->contains_piece &&
           (!filter->scheme->no_empty_key ||
            petal_batch_check_keys(filter, batch, NULL) == PETAL_OK);
}

static petal_status look_up(const petal_filter *filter, const petal_batch *batch, uint8_t *results,
                            struct progress *progress, petal_error *error)
{
    uint64_t room[PIECE_WORDS], done = 0;
    uint8_t unwanted[PIECE_WORDS];
    petal_status status = PETAL_OK;
    while (status == PETAL_OK && done < batch->count) {
        size_t piece = piece_of(filter, batch->count - done);
        const uint64_t *words = petal_batch_words(filter, batch, done, piece, room);
        if (petal_guard_is_up(filter))
            piece = petal_guard_check_piece(filter, words, piece, &status, error);
        progress->positive += filter->strategy->contains_piece(filter, words, piece,
                                                               results ? results + done : unwanted);
        done += piece;
    }
    progress->done = done;
    if (status != PETAL_OK) error->offset = done;
    return status;
}

static petal_status look_up_one_by_one(const petal_filter *filter, const petal_batch *batch,
                                       uint8_t *results, struct progress *progress,
                                       petal_error *error)
{
    for (; progress->done < batch->count; progress->done++) {
        bool is_in = false;
        petal_status status = find_key(filter, batch, progress->done, &is_in, error);
        if (status != PETAL_OK) return status;
        if (results) results[progress->done] = is_in;
        progress->positive += is_in;
    }
    return PETAL_OK;
}

/* ---- beginning and ending a call ------------------------------------------------------------- */

petal_status petal_batch_end(const petal_filter *filter, const petal_batch *batch,
                             const struct progress *progress, uint8_t *results,
                             petal_batch_outcome *outcome, petal_status status, petal_error *error)
{
    if (outcome) {
        petal_batch_outcome ours = {0};
        ours.done = progress->done;
        ours.positive = progress->positive;
        petal_sized_give(&ours, sizeof ours, outcome);
    }
    if (status == PETAL_OK) return status;
    /* petal.h promises that a malformed batch leaves the results unchanged. */
    if (results && status != PETAL_ERR_ARGUMENT)
        memset(results + progress->done, 0, (size_t)(batch->count - progress->done));
    return petal_filter_note_error(filter, status, error);
}

petal_status petal_batch_begin(const petal_batch *theirs, petal_batch *batch,
                               petal_batch_outcome **outcome, petal_error *error)
{
    petal_status status =
        *outcome ? petal_sized_check(*outcome, "PETAL_BATCH_OUTCOME_INIT", error) : PETAL_OK;
    if (status != PETAL_OK) *outcome = NULL;
    if (status == PETAL_OK) status = petal_batch_take(theirs, batch, error);
    if (status != PETAL_OK) batch->count = 0;
    return status;
}

/* ---- batches that need no pieces ------------------------------------------------------------- */

/* If the filter has direct functions (scheme.h) for this number of keys, they process all keys. If
 * the caller wants no results, they go to a local array with room for FEW. */
#define FEW 512u

/* Returns true for 1 to `max` keys. For an empty batch, 0 - 1 wraps, so the batch takes the general
 * path. */
static inline bool is_direct(uint32_t max, uint64_t count)
{
    return count - 1 < max;
}

/* Direct functions don't check blocks, so they are not used while any block is unchecked. */
static inline uint32_t max_to_look_up(const petal_filter *filter)
{
    return petal_guard_is_up(filter) ? 0 : filter->direct.max_contains;
}

static inline direct_many *many_of(const struct direct *way, bool adds, bool numbers)
{
    const struct direct_calls *calls = &way->calls;
    if (numbers) return adds ? calls->add_many_i64 : calls->contains_many_i64;
    return adds ? calls->add_many : calls->contains_many;
}

/* Batches of consecutive numbers (or of 8-byte keys on a little-endian machine) and of pointers to
 * keys need no checks. For a few keys, checking would cost more than processing them. */
static inline bool is_plain(const petal_batch *batch, const petal_batch_outcome *outcome)
{
    /* The fields that must be 0 are ORed, so that one branch checks all of them. */
    uint64_t unused = (uintptr_t)batch->offsets | batch->data_bytes, number = sizeof(int64_t);
    if (batch->layout == PETAL_LAYOUT_I64)
        unused |= batch->key_bytes | (batch->stride & ~number) | (uintptr_t)batch->data % number;
    else if (batch->layout == PETAL_LAYOUT_POINTERS)
        unused |= batch->key_bytes | batch->stride;
    else if (batch->layout == PETAL_LAYOUT_FIXED && !PETAL_BIG_ENDIAN)
        unused |= (batch->key_bytes ^ number) | (batch->stride & ~number) |
                  (uintptr_t)batch->data % number;
    else
        return false;
    return !unused && batch->struct_size == sizeof *batch && batch->data &&
           (!outcome || outcome->struct_size == sizeof *outcome);
}

static inline bool goes_plainly(uint32_t max, const petal_batch *batch, const uint8_t *results,
                                const petal_batch_outcome *outcome)
{
    return batch && is_plain(batch, outcome) && is_direct(max, batch->count) &&
           (results || batch->count <= FEW);
}

/* This function is not inlined, so that the caller's fast path needs no stack frame. */
static __attribute__((noinline)) petal_status go_plainly(const petal_filter *filter, bool adds,
                                                         const petal_batch *batch, uint8_t *results,
                                                         petal_batch_outcome *outcome)
{
    uint8_t unwanted[FEW];
    size_t count = (size_t)batch->count;
    direct_many *many = many_of(&filter->direct, adds, batch->layout != PETAL_LAYOUT_POINTERS);
    size_t sum = many(&filter->direct, batch->data, count, results ? results : unwanted);
    if (outcome) *outcome = (petal_batch_outcome){sizeof *outcome, 0, count, sum};
    return PETAL_OK;
}

/* Tries the direct functions for a batch that petal_batch_take() has checked. */
static bool go_taken(const petal_filter *filter, bool adds, uint32_t max, const petal_batch *batch,
                     uint8_t *results, struct progress *progress)
{
    uint8_t unwanted[FEW];
    bool numbers = batch->layout == PETAL_LAYOUT_I64;
    direct_many *many = many_of(&filter->direct, adds, numbers);
    const uint8_t *data = batch->data;
    if (!is_direct(max, batch->count) || !(numbers || batch->layout == PETAL_LAYOUT_POINTERS) ||
        (numbers && (batch->stride != sizeof(int64_t) || (uintptr_t)data % sizeof(int64_t) != 0)))
        return false;
    for (size_t part; progress->done < batch->count; progress->done += part) {
        part = at_most(batch->count - progress->done, results ? batch->count : FEW);
        progress->positive += many(&filter->direct, data + progress->done * batch->stride, part,
                                   results ? results : unwanted);
    }
    return true;
}

/* Processes a few keys in another layout: makes pointers to them and checks their offsets at the
 * same time. Returns false if an offset is invalid or there are too many keys. */
#define POINTED 128u

static inline __attribute__((always_inline)) bool point_by_offsets(const petal_batch *batch,
                                                                   uint32_t layout, petal_key *keys)
{
    uint64_t from = offset_at(batch, layout, 0), backwards = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t to = offset_at(batch, layout, i + 1);
        backwards |= to < from;
        keys[i] = (petal_key){(const uint8_t *)batch->data + from, (size_t)(to - from)};
        from = to;
    }
    return !backwards && (batch->data_bytes == 0 || from <= batch->data_bytes);
}

static bool point(const petal_batch *batch, petal_key *keys)
{
    if (batch->count - 1 >= POINTED || !batch->data) return false;
    if (batch->layout == PETAL_LAYOUT_FIXED) {
        uint64_t stride = batch->stride ? batch->stride : batch->key_bytes;
        if ((uintptr_t)batch->offsets | batch->data_bytes | (stride | batch->key_bytes) >> 32)
            return false;
        for (uint64_t i = 0; i < batch->count; i++)
            keys[i] =
                (petal_key){(const uint8_t *)batch->data + i * stride, (size_t)batch->key_bytes};
        return true;
    }
    if (!batch->offsets || (batch->key_bytes | batch->stride)) return false;
    if (batch->layout == PETAL_LAYOUT_OFFSETS32)
        return point_by_offsets(batch, PETAL_LAYOUT_OFFSETS32, keys);
    return batch->layout == PETAL_LAYOUT_OFFSETS64 &&
           point_by_offsets(batch, PETAL_LAYOUT_OFFSETS64, keys);
}

static __attribute__((noinline)) bool go_by_pointers(const petal_filter *filter, bool adds,
                                                     uint32_t max, const petal_batch *batch,
                                                     uint8_t *results, petal_batch_outcome *outcome)
{
    petal_key keys[POINTED];
    petal_batch pointed = PETAL_BATCH_INIT;
    if (!batch || batch->struct_size != sizeof *batch || !is_direct(max, 1) || !point(batch, keys))
        return false;
    pointed.data = keys;
    pointed.count = batch->count;
    return goes_plainly(max, &pointed, results, outcome) &&
           go_plainly(filter, adds, &pointed, results, outcome) == PETAL_OK;
}

/* Tries three methods, from the fastest to the most general: pointers to a few keys, direct
 * functions, and pieces. */
static __attribute__((noinline)) petal_status
add_any_batch(petal_filter *filter, const petal_batch *batch, uint8_t *results,
              petal_batch_outcome *outcome, petal_error *error)
{
    uint32_t max = filter->direct.max_add;
    if (go_by_pointers(filter, true, max, batch, results, outcome)) return PETAL_OK;
    struct progress progress = {0, 0};
    petal_batch ours;
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_batch_begin(batch, &ours, &outcome, error);
    if (status == PETAL_OK) status = petal_batch_check_keys(filter, &ours, error);
    if (status == PETAL_OK && !go_taken(filter, true, max, &ours, results, &progress))
        status = petal_batch_add(filter, &ours, results, &progress, error);
    return petal_batch_end(filter, &ours, &progress, results, outcome, status, error);
}

static __attribute__((noinline)) petal_status
look_up_any_batch(const petal_filter *filter, const petal_batch *batch, uint8_t *results,
                  petal_batch_outcome *outcome, petal_error *error)
{
    uint32_t max = max_to_look_up(filter);
    if (go_by_pointers(filter, false, max, batch, results, outcome)) return PETAL_OK;
    struct progress progress = {0, 0};
    petal_batch ours;
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_batch_begin(batch, &ours, &outcome, error);
    if (status == PETAL_OK) status = petal_batch_check_hashes(filter, &ours, error);
    if (status == PETAL_OK && !go_taken(filter, false, max, &ours, results, &progress))
        status = (goes_by_pieces(filter, &ours) ? look_up : look_up_one_by_one)(
            filter, &ours, results, &progress, error);
    return petal_batch_end(filter, &ours, &progress, results, outcome, status, error);
}

/* ---- the public calls ------------------------------------------------------------------------ */

petal_status petal_add_batch(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                             petal_batch_outcome *outcome, petal_error *error)
{
    if (goes_plainly(filter->direct.max_add, batch, results, outcome))
        return go_plainly(filter, true, batch, results, outcome);
    return add_any_batch(filter, batch, results, outcome, error);
}

petal_status petal_contains_batch(const petal_filter *filter, const petal_batch *batch,
                                  uint8_t *results, petal_batch_outcome *outcome,
                                  petal_error *error)
{
    if (goes_plainly(max_to_look_up(filter), batch, results, outcome))
        return go_plainly(filter, false, batch, results, outcome);
    return look_up_any_batch(filter, batch, results, outcome, error);
}

static void hash_all(const petal_filter *filter, const petal_batch *batch, uint64_t *hashes)
{
    uint8_t number[8];
    if (filter->hash->words == 1 && batch->count) {
        const uint64_t *words = petal_batch_words(filter, batch, 0, (size_t)batch->count, hashes);
        if (words != hashes) memcpy(hashes, words, (size_t)batch->count * sizeof *hashes);
        return;
    }
    for (uint64_t i = 0; i < batch->count; i++) {
        petal_key key = petal_batch_key(batch, i, number);
        hashes[i] = petal_hash_key(filter, key.data, key.size_bytes);
    }
}

petal_status petal_hash_batch(const petal_filter *filter, const petal_batch *batch,
                              uint64_t *hashes, petal_error *error)
{
    petal_batch ours;
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_batch_take(batch, &ours, error);
    if (status == PETAL_OK) status = petal_batch_check_hashes(filter, &ours, error);
    if (status == PETAL_OK) status = petal_filter_check_secret(filter, error);
    if (status == PETAL_OK) hash_all(filter, &ours, hashes);
    return petal_filter_note_error(filter, status, error);
}

/* Finds out whether any key has the answer `wanted`. */
static petal_status find(const petal_filter *filter, const petal_batch *batch, bool wanted,
                         bool *found, petal_error *error)
{
    petal_batch ours;
    petal_error own;
    bool answer = !wanted;
    if (!error) error = &own;
    petal_status status = petal_batch_take(batch, &ours, error);
    if (status == PETAL_OK) status = petal_batch_check_hashes(filter, &ours, error);
    for (uint64_t i = 0; status == PETAL_OK && answer != wanted && i < ours.count; i++)
        status = find_key(filter, &ours, i, &answer, error);
    if (status == PETAL_OK) *found = answer == wanted;
    return petal_filter_note_error(filter, status, error);
}

petal_status petal_contains_any(const petal_filter *filter, const petal_batch *batch, bool *answer,
                                petal_error *error)
{
    return find(filter, batch, true, answer, error);
}

petal_status petal_contains_all(const petal_filter *filter, const petal_batch *batch, bool *answer,
                                petal_error *error)
{
    bool is_missing = false;
    petal_status status = find(filter, batch, false, &is_missing, error);
    if (status == PETAL_OK) *answer = !is_missing;
    return status;
}

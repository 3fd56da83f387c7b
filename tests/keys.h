/* keys.h - helpers that let tests, fuzzers and benchmarks use a batch in a single line. */
#ifndef PETAL_TESTS_KEYS_H
#define PETAL_TESTS_KEYS_H

#include <petal/petal_build.h>

static inline petal_batch batch_of(uint32_t layout, const void *data, size_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = layout;
    batch.data = data;
    batch.count = count;
    return batch;
}

static inline petal_batch batch_of_keys(const petal_key *keys, size_t count)
{
    return batch_of(PETAL_LAYOUT_POINTERS, keys, count);
}

static inline petal_batch batch_of_numbers(const int64_t *numbers, size_t count)
{
    return batch_of(PETAL_LAYOUT_I64, numbers, count);
}

static inline petal_batch batch_of_hashes(const uint64_t *hashes, size_t count)
{
    return batch_of(PETAL_LAYOUT_HASHES, hashes, count);
}

static inline petal_status add_whole_batch(petal_filter *filter, petal_batch batch,
                                           uint8_t *was_new, size_t *new_count)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_add_batch(filter, &batch, was_new, &outcome, NULL);
    if (new_count) *new_count = (size_t)outcome.positive;
    return status;
}

static inline petal_status add_key_batch(petal_filter *filter, const petal_key *keys, size_t count,
                                         uint8_t *was_new, size_t *new_count)
{
    return add_whole_batch(filter, batch_of_keys(keys, count), was_new, new_count);
}

static inline petal_status add_number_batch(petal_filter *filter, const int64_t *numbers,
                                            size_t count, uint8_t *was_new, size_t *new_count)
{
    return add_whole_batch(filter, batch_of_numbers(numbers, count), was_new, new_count);
}

static inline petal_status add_hash_batch(petal_filter *filter, const uint64_t *hashes,
                                          size_t count, uint8_t *was_new, size_t *new_count)
{
    return add_whole_batch(filter, batch_of_hashes(hashes, count), was_new, new_count);
}

/* Returns the number of keys found, or SIZE_MAX if the call fails. */
static inline size_t contains_batch(const petal_filter *filter, petal_batch batch, uint8_t *found)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_contains_batch(filter, &batch, found, &outcome, NULL);
    return status == PETAL_OK ? (size_t)outcome.positive : SIZE_MAX;
}

static inline size_t contains_keys(const petal_filter *filter, const petal_key *keys, size_t count,
                                   uint8_t *found)
{
    return contains_batch(filter, batch_of_keys(keys, count), found);
}

static inline size_t contains_numbers(const petal_filter *filter, const int64_t *numbers,
                                      size_t count, uint8_t *found)
{
    return contains_batch(filter, batch_of_numbers(numbers, count), found);
}

static inline size_t contains_hashes(const petal_filter *filter, const uint64_t *hashes,
                                     size_t count, uint8_t *found)
{
    return contains_batch(filter, batch_of_hashes(hashes, count), found);
}

/* Returns false if the call fails. */
static inline bool contains_any(const petal_filter *filter, const petal_key *keys, size_t count)
{
    bool answer = false;
    petal_batch batch = batch_of_keys(keys, count);
    return petal_contains_any(filter, &batch, &answer, NULL) == PETAL_OK && answer;
}

static inline bool contains_all(const petal_filter *filter, const petal_key *keys, size_t count)
{
    bool answer = false;
    petal_batch batch = batch_of_keys(keys, count);
    return petal_contains_all(filter, &batch, &answer, NULL) == PETAL_OK && answer;
}

static inline petal_status remove_batch(petal_filter *filter, petal_batch batch,
                                        uint8_t *was_removed, size_t *removed_count)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_remove_batch(filter, &batch, was_removed, &outcome, NULL);
    if (removed_count) *removed_count = (size_t)outcome.positive;
    return status;
}

static inline petal_status remove_keys(petal_filter *filter, const petal_key *keys, size_t count,
                                       uint8_t *was_removed, size_t *removed_count)
{
    return remove_batch(filter, batch_of_keys(keys, count), was_removed, removed_count);
}

static inline petal_status remove_hashes(petal_filter *filter, const uint64_t *hashes, size_t count,
                                         uint8_t *was_removed, size_t *removed_count)
{
    return remove_batch(filter, batch_of_hashes(hashes, count), was_removed, removed_count);
}

static inline petal_status hash_keys(const petal_filter *filter, const petal_key *keys,
                                     size_t count, uint64_t *hashes)
{
    petal_batch batch = batch_of_keys(keys, count);
    return petal_hash_batch(filter, &batch, hashes, NULL);
}

/* Like petal_add() and petal_contains(), but use the key bytes of petal_encode_f64(value). */
static inline petal_status add_f64(petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_add(filter, key, sizeof key);
}

static inline bool contains_f64(const petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_contains(filter, key, sizeof key);
}

static inline petal_status remove_f64(petal_filter *filter, double value)
{
    uint8_t key[8];
    petal_encode_f64(value, key);
    return petal_remove(filter, key, sizeof key);
}

static inline petal_status build_batch(petal_builder *builder, uint32_t worker, petal_batch batch)
{
    return petal_builder_add(builder, worker, &batch, NULL);
}

#endif

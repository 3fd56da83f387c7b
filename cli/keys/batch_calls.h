/* batch_calls.h - passes a block's keys and hashes to the library. */
#ifndef PETAL_CLI_BATCH_CALLS_H
#define PETAL_CLI_BATCH_CALLS_H

#include <petal/petal.h>

static inline petal_batch keys_batch(const petal_key *keys, size_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = keys;
    batch.count = count;
    return batch;
}

static inline petal_batch hashes_batch(const uint64_t *hashes, size_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_HASHES;
    batch.data = hashes;
    batch.count = count;
    return batch;
}

/* results may be NULL, and so may `fresh`, which receives the number of new keys. */
static inline petal_status add_batch(petal_filter *filter, const petal_batch *batch,
                                     uint8_t *results, size_t *fresh)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_add_batch(filter, batch, results, &outcome, NULL);
    if (fresh) *fresh = (size_t)outcome.positive;
    return status;
}

static inline petal_status add_some_keys(petal_filter *filter, const petal_key *keys, size_t count,
                                         uint8_t *results, size_t *fresh)
{
    petal_batch batch = keys_batch(keys, count);
    return add_batch(filter, &batch, results, fresh);
}

static inline petal_status add_hashes(petal_filter *filter, const uint64_t *hashes, size_t count,
                                      uint8_t *results, size_t *fresh)
{
    petal_batch batch = hashes_batch(hashes, count);
    return add_batch(filter, &batch, results, fresh);
}

/* Sets *found to the number of keys in a batch that are probably present. results may be NULL. */
static inline petal_status look_up_batch(const petal_filter *filter, const petal_batch *batch,
                                         uint8_t *results, size_t *found, petal_error *error)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_contains_batch(filter, batch, results, &outcome, error);
    *found = (size_t)outcome.positive;
    return status;
}

/* Looks up keys, and sets *found to the number of keys that are probably present. results may be
 * NULL. A failure, caused by a damaged map, is recorded for petal_last_error(). */
static inline petal_status try_to_look_up(const petal_filter *filter, const petal_key *keys,
                                          size_t count, uint8_t *results, size_t *found)
{
    petal_batch batch = keys_batch(keys, count);
    return look_up_batch(filter, &batch, results, found, NULL);
}

/* Looks up keys in filters that can't have damaged blocks. */
static inline size_t look_up_keys(const petal_filter *filter, const petal_key *keys, size_t count,
                                  uint8_t *results)
{
    size_t found;
    (void)try_to_look_up(filter, keys, count, results, &found);
    return found;
}

static inline void hash_keys(const petal_filter *filter, const petal_key *keys, size_t count,
                             uint64_t *hashes)
{
    petal_batch batch = keys_batch(keys, count);
    (void)petal_hash_batch(filter, &batch, hashes, NULL);
}

#endif

/* batch.h - checks a caller's petal_batch, and hashes its keys piece by piece. */
#ifndef PETAL_FILTER_BATCH_H
#define PETAL_FILTER_BATCH_H

#include "filter/strategy.h"

/* Copies a caller's batch, sets its stride, and checks everything that can be checked without
 * reading keys: sizes must not overflow, and offsets must ascend and stay within the data. On
 * PETAL_ERR_ARGUMENT, error->offset is the index of the first invalid key. */
petal_status petal_batch_take(const petal_batch *theirs, petal_batch *batch, petal_error *error);

/* Checks that this filter can use the batch's hashes and add all of its keys. If not, error->offset
 * is the index of the first key that it rejects. */
petal_status petal_batch_check_hashes(const petal_filter *filter, const petal_batch *batch,
                                      petal_error *error);
petal_status petal_batch_check_keys(const petal_filter *filter, const petal_batch *batch,
                                    petal_error *error);

/* Returns a batch of `count` keys, starting with key `from`. */
petal_batch petal_batch_slice(const petal_batch *batch, uint64_t from, uint64_t count);

/* Returns the bytes of key i. If the key is a number, its bytes are written to `number`. Must not
 * be called for a batch of hashes. */
petal_key petal_batch_key(const petal_batch *batch, uint64_t i, uint8_t number[8]);

/* Returns the hashes of a piece. Each hash consists of filter->hash->words words, which must not
 * be 0. The hashes are computed in `room`, or used in place. */
const uint64_t *petal_batch_words(const petal_filter *filter, const petal_batch *batch,
                                  uint64_t from, size_t count, uint64_t *room);

/* Like petal_add_batch(), but without checking the batch. results may be NULL. The results of keys
 * that were not processed are not written. */
petal_status petal_batch_add(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                             struct progress *progress, petal_error *error);

/* Begins a public call with a batch: checks the caller's arguments before the call does anything.
 * If the outcome can't be written, its pointer is set to NULL. */
petal_status petal_batch_begin(const petal_batch *theirs, petal_batch *batch,
                               petal_batch_outcome **outcome, petal_error *error);

/* Ends a public call with a batch: fills in the outcome, sets the results of unprocessed keys to 0,
 * and records the error in the filter. */
petal_status petal_batch_end(const petal_filter *filter, const petal_batch *batch,
                             const struct progress *progress, uint8_t *results,
                             petal_batch_outcome *outcome, petal_status status, petal_error *error);

/* These calls report rejected keys and hashes. */
petal_status petal_filter_refuse_empty_key(petal_error *error);
petal_status petal_filter_check_hashes(const petal_filter *filter, petal_error *error);

/* Like petal_add() and petal_contains(), using the filter's strategy. */
petal_status petal_filter_add_key(petal_filter *filter, const void *key, size_t key_bytes,
                                  petal_error *error);
bool petal_filter_has_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* Like petal_contains() and petal_contains_hash(), but return a status. If the answer would come
 * from damaged bits, *answer is not written (guard.h). */
petal_status petal_filter_find_key(const petal_filter *filter, const void *key, size_t key_bytes,
                                   bool *answer, petal_error *error);
petal_status petal_filter_find_hash(const petal_filter *filter, uint64_t hash, bool *answer,
                                    petal_error *error);

#endif

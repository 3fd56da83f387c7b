/* batch.h - petal_batch: checked, and hashed piece by piece. */
#ifndef PETAL_FILTER_BATCH_H
#define PETAL_FILTER_BATCH_H

#include "filter/strategy.h"

/* Copies a caller's batch, with its stride filled in, and checks all that can be known without its
 * keys: that its sizes do not overflow, and that offsets ascend and stay within the data.
 * PETAL_ERR_ARGUMENT; error->offset is the index of the first key that is wrong. */
petal_status petal_batch_take(const petal_batch *theirs, petal_batch *batch, petal_error *error);

/* Can this filter take its hashes, and add all of its keys? error->offset is the index of the first
 * that it does not accept. */
petal_status petal_batch_check_hashes(const petal_filter *filter, const petal_batch *batch,
                                      petal_error *error);
petal_status petal_batch_check_keys(const petal_filter *filter, const petal_batch *batch,
                                    petal_error *error);

/* The keys from number `from` on, as a batch. */
petal_batch petal_batch_slice(const petal_batch *batch, uint64_t from, uint64_t count);

/* The bytes of key number i; of a number they are put into `number`. Not for hashes. */
petal_key petal_batch_key(const petal_batch *batch, uint64_t i, uint8_t number[8]);

/* The hashes of a piece, filter->hash->words each, if that is not 0: in `room`, or where they
 * are. */
const uint64_t *petal_batch_words(const petal_filter *filter, const petal_batch *batch,
                                  uint64_t from, size_t count, uint64_t *room);

/* petal_add_batch() without checks of the batch. results may be NULL; those of keys that are not
 * done are not written. */
petal_status petal_batch_add(petal_filter *filter, const petal_batch *batch, uint8_t *results,
                             struct progress *progress, petal_error *error);

/* Begins a public call for a batch: checks what the caller gave before anything is done with it. An
 * outcome that cannot be written to becomes NULL. */
petal_status petal_batch_begin(const petal_batch *theirs, petal_batch *batch,
                               petal_batch_outcome **outcome, petal_error *error);

/* Ends a public call for a batch: what is known goes into the outcome, results of keys that are not
 * done become 0, and the filter keeps the error. */
petal_status petal_batch_end(const petal_filter *filter, const petal_batch *batch,
                             const struct progress *progress, uint8_t *results,
                             petal_batch_outcome *outcome, petal_status status, petal_error *error);

/* How keys that are refused are refused. */
petal_status petal_filter_refuse_empty_key(petal_error *error);
petal_status petal_filter_check_hashes(const petal_filter *filter, petal_error *error);

/* petal_add() and petal_contains() in the general way. */
petal_status petal_filter_add_key(petal_filter *filter, const void *key, size_t key_bytes,
                                  petal_error *error);
bool petal_filter_has_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* petal_contains() and petal_contains_hash() with a status: *answer is not written if it would be
 * one of damaged bits (guard.h). */
petal_status petal_filter_find_key(const petal_filter *filter, const void *key, size_t key_bytes,
                                   bool *answer, petal_error *error);
petal_status petal_filter_find_hash(const petal_filter *filter, uint64_t hash, bool *answer,
                                    petal_error *error);

#endif

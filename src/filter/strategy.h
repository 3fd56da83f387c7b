/* strategy.h - defines how keys are added to a filter and looked up in it.
 *
 * The strategy depends on the filter's state: how many layers it has, whether several threads add
 * keys, and whether the bits belong to a file. It is chosen when the state changes (ways.c), not
 * for each key. */
#ifndef PETAL_FILTER_STRATEGY_H
#define PETAL_FILTER_STRATEGY_H

#include "filter/probe.h"

/* The progress of a batch: the number of keys added or looked up so far, and how many results are
 * 1. */
struct progress {
    uint64_t done, positive;
};

/* The maximum number of hash words per piece of a batch. */
#define PETAL_PIECE_WORDS 2048u

struct key_strategy {
    petal_status (*add)(petal_filter *filter, const struct probe *probe, petal_error *error);
    bool (*contains)(const petal_filter *filter, const struct probe *probe);
    /* These add or look up the hashes of a piece. Adding a piece must change the filter in exactly
     * the same way as adding its keys one by one. results[i] is set to 1 or 0 for each processed
     * key. On failure, *error describes the problem with the first key that was not processed.
     * These functions are NULL if each layer has its own hash. */
    petal_status (*add_piece)(petal_filter *filter, const uint64_t *words, size_t count,
                              uint8_t *results, struct progress *progress, petal_error *error);
    size_t (*contains_piece)(const petal_filter *filter, const uint64_t *words, size_t count,
                             uint8_t *results);
};

/* Adds or queries one key in any filter, using its strategy (keys.c). */
extern const struct direct_calls petal_keys_by_strategy;

/* The strategies for one layer (strategy.c), and for several (layers.c). */
extern const struct key_strategy petal_strategy_plain, petal_strategy_careful,
    petal_strategy_shared;
extern const struct key_strategy petal_strategy_growing, petal_strategy_window,
    petal_strategy_hash_per_layer, petal_strategy_in_turn, petal_strategy_collecting;

/* Returns PETAL_ERR_FULL if the filter is overfull and the user chose refuse_overfull. A read-only
 * filter also refuses every key, even a key that it contains. */
petal_status petal_strategy_may_add(petal_filter *filter, petal_error *error);

/* These add keys to the last layer. In a map, they check all blocks of a key before they change
 * any. */
petal_status petal_strategy_add_to_last(petal_filter *filter, const uint64_t *words,
                                        petal_error *error);
petal_status petal_strategy_add_piece_to_last(petal_filter *filter, const uint64_t *words,
                                              size_t count, uint8_t *changed,
                                              struct progress *progress, petal_error *error);

#endif

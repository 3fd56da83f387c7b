/* layers.h - adding to filters of several layers, whose hash is the same for all. */
#ifndef PETAL_FILTER_LAYERS_H
#define PETAL_FILTER_LAYERS_H

#include "filter/filter.h"

/* The pieces that batches go through in have so many words of hashes at most. */
#define PETAL_PIECE_WORDS 2048u

/* Does adding need more than the last layer's kernel? */
static inline bool petal_is_layered(const petal_filter *filter)
{
    return filter->layer_count > 1 || filter->grow;
}

/* Adds a piece of a batch. The filter becomes, byte for byte, what adding one by one makes of it.
 * was_new[i] is 1 or 0, and their sum is returned. *status is set if the filter could not grow, or not be written: then the keys before the one
 * that did not fit are in, and those after it are not. */
size_t petal_layers_add(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                        petal_status *status);

/* Permission to add these hashes to the last layer: the blocks of a map that they lie in are checked before any of them
 * changes, and the file is marked as dirty. */
petal_status petal_layers_prepare(petal_filter *filter, const uint64_t *words, size_t count);

/* With that, adds them to the last layer and counts the keys. changed[i] is 1 for those that changed a bit, and 0; their
 * sum is returned. 0 if *status is a failure. */
size_t petal_layers_add_to_last(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *changed,
                                petal_status *status);

/* Which of the hashes are in any of the first `layer_count` layers? found[i] is 1 or 0, and their sum is returned. */
size_t petal_layers_contain(const petal_filter *filter, uint32_t layer_count, const uint64_t *words, size_t count,
                            uint8_t *found);

#endif

/* probe.h - a key that is being added or looked up, with its hash. */
#ifndef PETAL_FILTER_PROBE_H
#define PETAL_FILTER_PROBE_H

#include "filter/filter.h"

/* `words` is NULL if each layer has its own hash. */
struct probe {
    const void *data;
    size_t size_bytes;
    const uint64_t *words;
};

/* Computes the hash of a key with a layer's parameters. */
static inline void petal_probe_hash(const petal_filter *filter, const struct layer *layer,
                                    const void *data, size_t size_bytes, uint64_t *words)
{
    struct hash_key with = filter->hash_key;
    with.hashes = layer->array.shape.hashes;
    with.bits = layer->array.shape.bits;
    filter->hash->compute(&with, size_bytes ? data : "", size_bytes, words);
}

/* Returns the hash that a layer uses: either the probe's hash, or the layer's own hash, which is
 * computed in `own`. */
static inline const uint64_t *petal_probe_words(const petal_filter *filter,
                                                const struct layer *layer,
                                                const struct probe *probe,
                                                uint64_t own[PETAL_HASH_MAX_WORDS])
{
    if (probe->words) return probe->words;
    petal_probe_hash(filter, layer, probe->data, probe->size_bytes, own);
    return own;
}

#endif

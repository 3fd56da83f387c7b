/* hash32.h - derives a key's hashes from a 32-bit hash function, as Spark, Hadoop and HBase do. */
#ifndef PETAL_HASH_HASH32_H
#define PETAL_HASH_HASH32_H

#include "hash/hash.h"

typedef uint32_t hash32(const void *data, size_t size_bytes, uint32_t seed);

/* Stores h1 in the low half of a word, and h2 in the high half. h2 is computed by the same function
 * with h1 as the seed. */
static inline void hash32_pair(hash32 *hash, uint64_t seed, const void *data, size_t size_bytes,
                               uint64_t *words)
{
    uint32_t first = hash(data, size_bytes, (uint32_t)seed);
    words[0] = first | (uint64_t)hash(data, size_bytes, first) << 32;
}

/* Computes one hash per probe. The first hash has seed 0, and each later hash has the previous hash
 * as its seed. */
static inline void hash32_chain(hash32 *hash, uint32_t hashes, const void *data, size_t size_bytes,
                                uint64_t *words)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < hashes; i++) words[i] = last = hash(data, size_bytes, last);
}

#endif

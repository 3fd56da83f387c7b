/* hash32.h - how Spark, Hadoop and HBase use a 32-bit hash. */
#ifndef PETAL_HASH_HASH32_H
#define PETAL_HASH_HASH32_H

#include "hash/hash.h"

typedef uint32_t hash32(const void *data, size_t size_bytes, uint32_t seed);

/* h1 is in the low half. h2, the same hash with the seed h1, is in the high half. */
static inline void hash32_pair(hash32 *hash, uint64_t seed, const void *data, size_t size_bytes,
                               uint64_t *words)
{
    uint32_t first = hash(data, size_bytes, (uint32_t)seed);
    words[0] = first | (uint64_t)hash(data, size_bytes, first) << 32;
}

/* Computes one hash per probe. The first has the seed 0, and each of the others has the previous
 * hash as its seed. */
static inline void hash32_chain(hash32 *hash, uint32_t hashes, const void *data, size_t size_bytes,
                                uint64_t *words)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < hashes; i++) words[i] = last = hash(data, size_bytes, last);
}

#endif

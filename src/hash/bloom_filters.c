/* bloom_filters.c - the hash of npm bloom-filters 2 and 3: of two XXH64 of the key, seeded with the filter's seed + 1
 * and + 2, the low 32 bits; of the seeds too only the low 32 bits count. docs/formats/bloom-filters.md. */
#include "hash/hash.h"

/* A seed that comes out as 0 is taken for one that is missing, and this is put in its place. */
static uint32_t real_seed(uint64_t seed)
{
    return (uint32_t)(seed ? seed : PETAL_BLOOM_FILTERS_SEED);
}

/* The first in the low half, the second in the high half. */
uint64_t petal_bloom_filters_hash(const void *data, size_t size_bytes, uint64_t seed)
{
    uint64_t first = petal_xxh64(data, size_bytes, real_seed(seed + 1));
    uint64_t second = petal_xxh64(data, size_bytes, real_seed(seed + 2));
    return (uint32_t)first | second << 32;
}

/* xxh64.c - XXH64 (64 bits, with seed) from libxxhash's header. The code is inlined, so no function
 * of libxxhash is linked or exported. Parquet and npm bloom-filters 2 and 3 use XXH64. DataSketches
 * also uses it, and computes a second hash with the first hash as the seed.
 *
 * bloom-filters uses the low 32 bits of two XXH64 hashes of the key. The two seeds are the low 32
 * bits of the filter's seed + 1 and of the filter's seed + 2. See docs/formats/bloom-filters.md. */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data ? data : "", size_bytes,
                 seed); /* `data` may be NULL for an empty key, but XXH64() need not accept NULL */
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    words[0] = xxh64(data, size_bytes, with->seed);
}

const struct hash_def petal_hash_xxh64 = {
    .id = PETAL_HASH_XXH64, .name = "xxh64", .words = 1, .compute = compute};

static void compute_pair(const struct hash_key *with, const void *data, size_t size_bytes,
                         uint64_t *words)
{
    words[0] = xxh64(data, size_bytes, with->seed);
    words[1] = xxh64(data, size_bytes, words[0]);
}

const struct hash_def petal_hash_datasketches = {
    .id = PETAL_HASH_DATASKETCHES, .name = "xxh64-pair", .words = 2, .compute = compute_pair};

/* Replaces a seed of 0, which means "no seed", with the default seed of bloom-filters. */
static uint32_t real_seed(uint64_t seed)
{
    return (uint32_t)(seed ? seed : PETAL_BLOOM_FILTERS_SEED);
}

/* Stores the first hash in the low half of the word, and the second hash in the high half. */
static void compute_bloom_filters(const struct hash_key *with, const void *data, size_t size_bytes,
                                  uint64_t *words)
{
    uint64_t first = xxh64(data, size_bytes, real_seed(with->seed + 1));
    uint64_t second = xxh64(data, size_bytes, real_seed(with->seed + 2));
    words[0] = (uint32_t)first | second << 32;
}

const struct hash_def petal_hash_bloom_filters = {.id = PETAL_HASH_BLOOM_FILTERS,
                                                  .name = "bloom-filters",
                                                  .words = 1,
                                                  .compute = compute_bloom_filters};

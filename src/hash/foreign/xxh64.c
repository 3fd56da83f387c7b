/* xxh64.c - XXH64 (64 bits, with seed) from libxxhash's header. It is inlined, so no function of
 * libxxhash is linked or exported. Parquet uses it. So does DataSketches, which hashes again with
 * the first hash as the seed, and so do npm bloom-filters 2 and 3.
 *
 * bloom-filters uses the low 32 bits of two XXH64 hashes of the key. Their seeds are the filter's
 * seed + 1 and + 2, of which only the low 32 bits matter. docs/formats/bloom-filters.md. */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data ? data : "", size_bytes,
                 seed); /* the empty key may be NULL, which XXH64 needn't accept */
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

/* A seed of 0 would mean that there is no seed, so this number replaces it. */
static uint32_t real_seed(uint64_t seed)
{
    return (uint32_t)(seed ? seed : PETAL_BLOOM_FILTERS_SEED);
}

/* The first hash is in the low half, and the second in the high half. */
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

/* xxh3.c - 64-bit XXH3 with a seed. No function of libxxhash is linked or exported. */
#define XXH3_HERE
#include "hash/xxh3.h"

#include "hash/hash.h"

uint64_t petal_xxh3(const void *data, size_t size_bytes, uint64_t seed)
{
    return xxh3(data, size_bytes, seed);
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    words[0] = xxh3(data, size_bytes, with->seed);
}

const struct hash_def petal_hash_xxh3 = {
    .id = PETAL_HASH_XXH3, .name = "xxh3", .words = 1, .compute = compute};

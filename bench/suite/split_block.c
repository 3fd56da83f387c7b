/* split_block.c - a split-block filter in C at its best: 256-bit blocks, one bit in each of eight
 * words, inlined and compiled for this CPU, with the cheapest good hash (a multiply-and-shift mix
 * for numbers, XXH3 for other keys) and 2 MB pages.
 *
 * The algorithm is Parquet's (BloomFilter.md in apache/parquet-format), except for the hash. The
 * code uses the compiler's vector types, so it is the same on every CPU. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef uint32_t block __attribute__((vector_size(32)));

struct filter {
    block *blocks;
    uint64_t count;
};

static const block salts = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                            0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

static inline uint64_t hash_of(const uint8_t *key, size_t key_bytes)
{
    if (key_bytes != 8) return XXH3_64bits(key, key_bytes);
    uint64_t h;
    memcpy(&h, key, sizeof h);
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static inline block *block_of(const struct filter *filter, uint64_t hash)
{
    return filter->blocks + ((hash >> 32) * filter->count >> 32);
}

static inline block bits_of(uint64_t hash)
{
    block one = {1, 1, 1, 1, 1, 1, 1, 1};
    return one << ((uint32_t)hash * salts >> 27);
}

/* Returns true if all bits are set. Tests four 64-bit words, since C can't test a whole vector. */
static inline bool has(const block *at, block bits)
{
    uint64_t missing[4];
    block rest = bits & ~*at;
    memcpy(missing, &rest, sizeof missing);
    return (missing[0] | missing[1] | missing[2] | missing[3]) == 0;
}

static void *make(size_t keys, double bits_per_key)
{
    double blocks = (double)keys * bits_per_key / 256;
    if (blocks >= UINT32_MAX) return NULL;
    struct filter *filter = malloc(sizeof *filter);
    if (!filter) return NULL;
    filter->count = (uint64_t)blocks + 1;
    filter->blocks = take_pages(filter->count * sizeof(block), true);
    if (filter->blocks) return filter;
    free(filter);
    return NULL;
}

static void add(void *memory, const struct keys *keys)
{
    struct filter filter = *(struct filter *)memory;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(key_at(keys, i), keys->key_bytes);
        *block_of(&filter, hash) |= bits_of(hash);
    }
}

static size_t count_found(void *memory, const struct keys *keys)
{
    struct filter filter = *(struct filter *)memory;
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(key_at(keys, i), keys->key_bytes);
        found += has(block_of(&filter, hash), bits_of(hash));
    }
    return found;
}

static size_t add_new(void *memory, const struct keys *keys)
{
    struct filter filter = *(struct filter *)memory;
    size_t added = 0;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(key_at(keys, i), keys->key_bytes);
        block *at = block_of(&filter, hash), bits = bits_of(hash);
        added += !has(at, bits);
        *at |= bits;
    }
    return added;
}

static double bits(void *memory)
{
    return 256.0 * (double)((struct filter *)memory)->count;
}

static void drop(void *memory)
{
    struct filter *filter = memory;
    drop_pages(filter->blocks, filter->count * sizeof(block));
    free(filter);
}

const struct contender INLINED(split_block)[] = {
    {"split-block in C" COMPILER, 0, make, add, NULL, count_found, add_new, bits, drop},
    {.name = NULL},
};

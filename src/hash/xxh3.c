/* xxh3.c - XXH3 (64 bits, with seed) from libxxhash's header: inlined, so nothing of it is linked or exported. */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t petal_xxh3(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size_bytes, seed);
}

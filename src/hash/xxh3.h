/* xxh3.h - XXH3 from libxxhash's header. The hash is inlined in the two places where hashing
 * dominates the cost per key. */
#ifndef PETAL_HASH_XXH3_H
#define PETAL_HASH_XXH3_H

/* A WebAssembly module should be small, so it contains this function only once. */
#if defined(__wasm__) && !defined(XXH3_HERE)
#include "hash/hash.h"
#define xxh3 petal_xxh3
#else

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t xxh3(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size_bytes, seed);
}

#endif
#endif

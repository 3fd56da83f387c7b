/* xxh3.h - XXH3 from libxxhash's header, inlined where it is called: for the two places where a
 * key's cost is mostly its hash. */
#ifndef PETAL_HASH_XXH3_H
#define PETAL_HASH_XXH3_H

/* A WebAssembly module should be small, so it has the function only once. */
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

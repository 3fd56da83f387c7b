/* xxh64.c - XXH64 (64 bits, with seed) from libxxhash's header: inlined, so nothing of it is linked or exported. Used by
 * Parquet. */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t petal_xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data ? data : "", size_bytes,
                 seed); /* the empty key may be NULL, which XXH64 does not promise to take */
}

/* xxh3.c - XXH3 (64 bits, with seed): nothing of libxxhash is linked or exported. */
#include "hash/xxh3.h"

#include "hash/hash.h"

uint64_t petal_xxh3(const void *data, size_t size_bytes, uint64_t seed)
{
    return xxh3(data, size_bytes, seed);
}

/* murmur64a.c - MurmurHash64A, the 64-bit form of MurmurHash2 (Austin Appleby, public domain). Written from its definition: words
 * are little-endian on every machine; a tail of up to 7 bytes is filled up with zeros; bytes are unsigned. Used by RedisBloom. */
#include "base/bytes.h"
#include "hash/hash.h"

#define M 0xc6a4a7935bd1e995u

static inline uint64_t mix(uint64_t word)
{
    word *= M;
    return (word ^ word >> 47) * M;
}

uint64_t petal_murmur64a(const void *data, size_t size_bytes, uint64_t seed)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h = seed ^ (size_bytes * M);
    for (; left >= 8; left -= 8, at += 8) h = (h ^ mix(load64le(at))) * M;
    if (left) {
        uint8_t tail[8] = {0};
        memcpy(tail, at, left);
        h = (h ^ load64le(tail)) * M;
    }
    h = (h ^ h >> 47) * M;
    return h ^ h >> 47;
}

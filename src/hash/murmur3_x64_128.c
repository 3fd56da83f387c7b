/* murmur3_x64_128.c - MurmurHash3 for 64-bit machines, 128 bits (Austin Appleby, public domain). Written from its definition:
 * blocks of two little-endian words are mixed into two lanes; a tail of up to 15 bytes is filled up with zeros; bytes are
 * unsigned. Used by Guava and bits-and-blooms. */
#include "base/bytes.h"
#include "hash/hash.h"

#define C1 0x87c37b91114253d5u
#define C2 0x4cf5ad432745937fu

static inline uint64_t mix_first(uint64_t word)
{
    return rotl64(word * C1, 31) * C2;
}

static inline uint64_t mix_second(uint64_t word)
{
    return rotl64(word * C2, 33) * C1;
}

void petal_murmur3_x64_128(const void *data, size_t size_bytes, uint64_t seed, uint64_t words[2])
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h1 = seed, h2 = seed;
    for (; left >= 16; left -= 16, at += 16) {
        h1 = (rotl64(h1 ^ mix_first(load64le(at)), 27) + h2) * 5 + 0x52dce729u;
        h2 = (rotl64(h2 ^ mix_second(load64le(at + 8)), 31) + h1) * 5 + 0x38495ab5u;
    }
    uint8_t tail[16] = {0};
    if (left) memcpy(tail, at, left);
    h1 ^= mix_first(load64le(tail)) ^ size_bytes; /* mixing zero changes nothing */
    h2 ^= mix_second(load64le(tail + 8)) ^ size_bytes;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    words[0] = h1 + h2;
    words[1] = h2 + words[0];
}

/* murmur64a.h - MurmurHash64A, the 64-bit form of MurmurHash2 (Austin Appleby, public domain). The
 * hash is implemented from its definition, and inlined into RedisBloom's scheme, which uses it
 * most. Words are little-endian on every machine. A tail of up to 7 bytes is padded with zeros.
 * Bytes are unsigned. */
#ifndef PETAL_HASH_MURMUR64A_H
#define PETAL_HASH_MURMUR64A_H

#include "base/bytes.h"
#include "hash/hash.h"

#define MURMUR64A_M 0xc6a4a7935bd1e995u

static inline uint64_t murmur64a_mix(uint64_t word)
{
    word *= MURMUR64A_M;
    return (word ^ word >> 47) * MURMUR64A_M;
}

/* Mixes in the tail, which may be empty. */
static inline uint64_t murmur64a_finished(uint64_t h, uint64_t tail, size_t tail_bytes)
{
    if (tail_bytes) h = (h ^ tail) * MURMUR64A_M;
    h = (h ^ h >> 47) * MURMUR64A_M;
    return h ^ h >> 47;
}

static inline uint64_t murmur64a(const void *data, size_t size_bytes, uint64_t seed)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h = seed ^ (size_bytes * MURMUR64A_M);
    for (; left >= 8; left -= 8, at += 8) h = (h ^ murmur64a_mix(load64le(at))) * MURMUR64A_M;
    return murmur64a_finished(h, load_tail64le(at, left), left);
}

/* RedisBloom's two hashes mix the same words, which is most of the work. So for a short key, the
 * mixed words are stored for the second hash. */
#define MURMUR64A_KEPT 16u

/* Computes RedisBloom's pair of hashes. The first hash has RedisBloom's own seed, and the second
 * has the first hash as its seed. */
#define MURMUR64A_SEED 0xc6a4a7935bd1e995u

static inline void murmur64a_pair(uint64_t seed, const void *data, size_t size_bytes,
                                  uint64_t *words)
{
    (void)seed;
    const uint8_t *at = data;
    size_t whole = size_bytes / 8, left = size_bytes % 8;
    uint64_t mixed[MURMUR64A_KEPT], start = size_bytes * MURMUR64A_M,
                                    first = MURMUR64A_SEED ^ start;
    if (whole > MURMUR64A_KEPT) {
        words[0] = murmur64a(data, size_bytes, MURMUR64A_SEED);
        words[1] = murmur64a(data, size_bytes, words[0]);
        return;
    }
    for (size_t i = 0; i < whole; i++)
        first = (first ^ (mixed[i] = murmur64a_mix(load64le(at + 8 * i)))) * MURMUR64A_M;
    uint64_t tail = load_tail64le(at + 8 * whole, left);
    words[0] = murmur64a_finished(first, tail, left);
    uint64_t second = words[0] ^ start;
    for (size_t i = 0; i < whole; i++) second = (second ^ mixed[i]) * MURMUR64A_M;
    words[1] = murmur64a_finished(second, tail, left);
}

#endif

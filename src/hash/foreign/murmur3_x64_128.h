/* murmur3_x64_128.h - 128-bit MurmurHash3 for 64-bit machines (Austin Appleby, public domain),
 * implemented from its definition. The hash is inlined into Guava's schemes, which use it most.
 * Blocks of two little-endian words are mixed into two lanes. A tail of up to 15 bytes is padded
 * with zeros. Bytes are unsigned. */
#ifndef PETAL_HASH_MURMUR3_X64_128_H
#define PETAL_HASH_MURMUR3_X64_128_H

#include "base/bytes.h"
#include "hash/hash.h"

#define MURMUR3_C1 0x87c37b91114253d5u
#define MURMUR3_C2 0x4cf5ad432745937fu

static inline uint64_t murmur3_mix_first(uint64_t word)
{
    return rotl64(word * MURMUR3_C1, 31) * MURMUR3_C2;
}

static inline uint64_t murmur3_mix_second(uint64_t word)
{
    return rotl64(word * MURMUR3_C2, 33) * MURMUR3_C1;
}

struct murmur3_lanes {
    uint64_t h1, h2;
};

static inline struct murmur3_lanes murmur3_mix_words(struct murmur3_lanes of, uint64_t first,
                                                     uint64_t second)
{
    of.h1 = (rotl64(of.h1 ^ murmur3_mix_first(first), 27) + of.h2) * 5 + 0x52dce729u;
    of.h2 = (rotl64(of.h2 ^ murmur3_mix_second(second), 31) + of.h1) * 5 + 0x38495ab5u;
    return of;
}

static inline struct murmur3_lanes murmur3_mix_block(struct murmur3_lanes of,
                                                     const uint8_t block[16])
{
    return murmur3_mix_words(of, load64le(block), load64le(block + 8));
}

/* Returns the bytes after the last block, as two words padded with zeros. */
struct murmur3_tail {
    uint64_t first, second;
};

static inline struct murmur3_tail murmur3_tail_of(const uint8_t *at, size_t size_bytes)
{
    size_t left = size_bytes % 16;
    at += size_bytes - left;
    if (left > 8) return (struct murmur3_tail){load64le(at), load_tail64le(at + 8, left - 8)};
    return (struct murmur3_tail){load_tail64le(at, left), 0};
}

/* Mixes in all complete blocks. */
static inline struct murmur3_lanes murmur3_mix_blocks(const uint8_t *at, size_t size_bytes,
                                                      uint64_t seed)
{
    struct murmur3_lanes to = {seed, seed};
    for (; size_bytes >= 16; size_bytes -= 16, at += 16) to = murmur3_mix_block(to, at);
    return to;
}

/* Mixes in the tail. A zero word doesn't change the hash. */
static inline void murmur3_finish(struct murmur3_lanes of, struct murmur3_tail tail,
                                  uint64_t size_bytes, uint64_t words[2])
{
    uint64_t h1 = of.h1 ^ murmur3_mix_first(tail.first) ^ size_bytes;
    uint64_t h2 = of.h2 ^ murmur3_mix_second(tail.second) ^ size_bytes;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    words[0] = h1 + h2;
    words[1] = h2 + words[0];
}

static inline void murmur3_x64_128(uint64_t seed, const void *data, size_t size_bytes,
                                   uint64_t *words)
{
    murmur3_finish(murmur3_mix_blocks(data, size_bytes, seed), murmur3_tail_of(data, size_bytes),
                   size_bytes, words);
}

#endif

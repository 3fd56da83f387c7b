/* murmur3_x64_128.c - MurmurHash3 for 64-bit machines, 128 bits (Austin Appleby, public domain). Written from its
 * definition: blocks of two little-endian words are mixed into two lanes; a tail of up to 15 bytes is filled up with
 * zeros; bytes are unsigned. Used by Guava and bits-and-blooms; and by Cassandra, where the bytes of the tail are signed. */
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

struct lanes {
    uint64_t h1, h2;
};

static inline struct lanes mix_block(struct lanes of, const uint8_t block[16])
{
    of.h1 = (rotl64(of.h1 ^ mix_first(load64le(block)), 27) + of.h2) * 5 + 0x52dce729u;
    of.h2 = (rotl64(of.h2 ^ mix_second(load64le(block + 8)), 31) + of.h1) * 5 + 0x38495ab5u;
    return of;
}

/* All whole blocks; what is left over goes into `tail`, filled up with zeros. */
static struct lanes mix_blocks(const uint8_t *at, size_t size_bytes, uint64_t seed, uint8_t tail[16])
{
    struct lanes to = {seed, seed};
    size_t left = size_bytes;
    for (; left >= 16; left -= 16, at += 16) to = mix_block(to, at);
    memset(tail, 0, 16);
    if (left) memcpy(tail, at, left);
    return to;
}

/* Mixing the zeros of a tail in changes nothing. */
static void finish(struct lanes of, const uint8_t tail[16], uint64_t size_bytes, uint64_t words[2])
{
    uint64_t h1 = of.h1 ^ mix_first(load64le(tail)) ^ size_bytes;
    uint64_t h2 = of.h2 ^ mix_second(load64le(tail + 8)) ^ size_bytes;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    words[0] = h1 + h2;
    words[1] = h2 + words[0];
}

void petal_murmur3_x64_128(const void *data, size_t size_bytes, uint64_t seed, uint64_t words[2])
{
    uint8_t tail[16];
    struct lanes lanes = mix_blocks(data, size_bytes, seed, tail);
    finish(lanes, tail, size_bytes, words);
}

/* The 0x01 goes into the tail's first free byte; with a tail of 15 bytes it completes a block, and no tail is left. */
void petal_murmur3_twice(const void *data, size_t size_bytes, uint64_t words[4])
{
    uint8_t tail[16];
    struct lanes lanes = mix_blocks(data, size_bytes, 0, tail);
    finish(lanes, tail, size_bytes, words);
    tail[size_bytes % 16] = 0x01;
    if (size_bytes % 16 == 15) {
        lanes = mix_block(lanes, tail);
        memset(tail, 0, sizeof tail);
    }
    finish(lanes, tail, (uint64_t)size_bytes + 1, words + 2);
}

/* Each byte of the tail is taken for a signed one: it flips all bits above its own too, up to the end of its word. */
static uint64_t signed_word(const uint8_t bytes[8])
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++) word ^= (uint64_t)(int64_t)(int8_t)bytes[i] << 8 * i;
    return word;
}

void petal_murmur3_cassandra(const void *data, size_t size_bytes, uint64_t words[2])
{
    uint8_t tail[16];
    struct lanes lanes = mix_blocks(data, size_bytes, 0, tail);
    store64le(tail, signed_word(tail));
    store64le(tail + 8, signed_word(tail + 8));
    finish(lanes, tail, size_bytes, words);
}

/* murmur3_x64_128.c - MurmurHash3 for 64-bit machines, 128 bits (Austin Appleby, public domain).
 * Written from its definition: blocks of two little-endian words are mixed into two lanes; a tail
 * of up to 15 bytes is filled up with zeros; bytes are unsigned. Used by Guava and bits-and-blooms;
 * and by Cassandra, where the bytes of the tail are signed. */
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

static inline struct lanes mix_words(struct lanes of, uint64_t first, uint64_t second)
{
    of.h1 = (rotl64(of.h1 ^ mix_first(first), 27) + of.h2) * 5 + 0x52dce729u;
    of.h2 = (rotl64(of.h2 ^ mix_second(second), 31) + of.h1) * 5 + 0x38495ab5u;
    return of;
}

static inline struct lanes mix_block(struct lanes of, const uint8_t block[16])
{
    return mix_words(of, load64le(block), load64le(block + 8));
}

/* What is left over after the last block, as two words filled up with zeros. */
struct tail {
    uint64_t first, second;
};

static inline struct tail tail_of(const uint8_t *at, size_t size_bytes)
{
    size_t left = size_bytes % 16;
    at += size_bytes - left;
    if (left > 8) return (struct tail){load64le(at), load_tail64le(at + 8, left - 8)};
    return (struct tail){load_tail64le(at, left), 0};
}

/* All whole blocks. */
static inline struct lanes mix_blocks(const uint8_t *at, size_t size_bytes, uint64_t seed)
{
    struct lanes to = {seed, seed};
    for (; size_bytes >= 16; size_bytes -= 16, at += 16) to = mix_block(to, at);
    return to;
}

/* Mixing the zeros of a tail in changes nothing. */
static inline void finish(struct lanes of, struct tail tail, uint64_t size_bytes, uint64_t words[2])
{
    uint64_t h1 = of.h1 ^ mix_first(tail.first) ^ size_bytes;
    uint64_t h2 = of.h2 ^ mix_second(tail.second) ^ size_bytes;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    words[0] = h1 + h2;
    words[1] = h2 + words[0];
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    finish(mix_blocks(data, size_bytes, with->seed), tail_of(data, size_bytes), size_bytes, words);
}

const struct hash_def petal_hash_murmur3_x64_128 = {
    .id = PETAL_HASH_MURMUR3_X64_128, .name = "murmur3-x64-128", .words = 2, .compute = compute};

/* bits-and-blooms: of the data, and of the data followed by 0x01.
 * The 0x01 goes into the tail's first free byte; with a tail of 15 bytes it completes a block, and
 * no tail is left. */
static void compute_twice(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    (void)with;
    struct lanes lanes = mix_blocks(data, size_bytes, 0);
    struct tail tail = tail_of(data, size_bytes);
    unsigned free_byte = size_bytes % 16;
    finish(lanes, tail, size_bytes, words);
    *(free_byte < 8 ? &tail.first : &tail.second) |= (uint64_t)1 << free_byte % 8 * 8;
    if (free_byte == 15) {
        lanes = mix_words(lanes, tail.first, tail.second);
        tail = (struct tail){0, 0};
    }
    finish(lanes, tail, (uint64_t)size_bytes + 1, words + 2);
}

const struct hash_def petal_hash_bits_and_blooms = {.id = PETAL_HASH_BITS_AND_BLOOMS,
                                                    .name = "murmur3-x64-128-twice",
                                                    .words = 4,
                                                    .compute = compute_twice};

/* Each byte of the tail counts as signed: it flips all bits above its own too, up to the
 * end of its word. */
static inline uint64_t signed_word(uint64_t bytes)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < 64; i += 8) word ^= (uint64_t)(int64_t)(int8_t)(bytes >> i) << i;
    return word;
}

static void compute_cassandra(const struct hash_key *with, const void *data, size_t size_bytes,
                              uint64_t *words)
{
    (void)with;
    struct tail tail = tail_of(data, size_bytes);
    tail = (struct tail){signed_word(tail.first), signed_word(tail.second)};
    finish(mix_blocks(data, size_bytes, 0), tail, size_bytes, words);
}

const struct hash_def petal_hash_cassandra = {
    .id = PETAL_HASH_CASSANDRA, .name = "cassandra", .words = 2, .compute = compute_cassandra};

/* murmur3_x64_128.c - the hashes of Guava, bits-and-blooms and Cassandra, based on
 * murmur3_x64_128.h. Cassandra's variant treats the bytes of the tail as signed. */
#include "hash/foreign/murmur3_x64_128.h"

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    murmur3_x64_128(with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_murmur3_x64_128 = {
    .id = PETAL_HASH_MURMUR3_X64_128, .name = "murmur3-x64-128", .words = 2, .compute = compute};

/* bits-and-blooms hashes the data twice: unchanged, and with 0x01 appended. The 0x01 is the first
 * byte after the tail. If the tail has 15 bytes, the 0x01 completes a block, and no tail
 * remains. */
static void compute_twice(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    (void)with;
    struct murmur3_lanes lanes = murmur3_mix_blocks(data, size_bytes, 0);
    struct murmur3_tail tail = murmur3_tail_of(data, size_bytes);
    unsigned free_byte = size_bytes % 16;
    murmur3_finish(lanes, tail, size_bytes, words);
    *(free_byte < 8 ? &tail.first : &tail.second) |= (uint64_t)1 << free_byte % 8 * 8;
    if (free_byte == 15) {
        lanes = murmur3_mix_words(lanes, tail.first, tail.second);
        tail = (struct murmur3_tail){0, 0};
    }
    murmur3_finish(lanes, tail, (uint64_t)size_bytes + 1, words + 2);
}

const struct hash_def petal_hash_bits_and_blooms = {.id = PETAL_HASH_BITS_AND_BLOOMS,
                                                    .name = "murmur3-x64-128-twice",
                                                    .words = 4,
                                                    .compute = compute_twice};

/* Each byte of the tail is signed. So a byte >= 0x80 also flips all higher bits in its word. */
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
    struct murmur3_tail tail = murmur3_tail_of(data, size_bytes);
    tail = (struct murmur3_tail){signed_word(tail.first), signed_word(tail.second)};
    murmur3_finish(murmur3_mix_blocks(data, size_bytes, 0), tail, size_bytes, words);
}

const struct hash_def petal_hash_cassandra = {
    .id = PETAL_HASH_CASSANDRA, .name = "cassandra", .words = 2, .compute = compute_cassandra};

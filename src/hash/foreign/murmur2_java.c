/* murmur2_java.c - the variants of 32-bit MurmurHash2 (Austin Appleby, public domain) in Hadoop and
 * HBase. For whole groups of four bytes, both variants equal the standard hash. But both ignore the
 * fact that Java's bytes are signed: each byte in a tail of one to three bytes is sign-extended
 * before it is shifted into place, so a byte >= 0x80 also flips the bits above it. In addition,
 * Hadoop reads the tail from the wrong end, so the last byte becomes the lowest. */
#include "base/bytes.h"
#include "hash/foreign/hash32.h"

#define FACTOR 0x5bd1e995u

static inline uint32_t sign_extended(uint8_t byte)
{
    return (uint32_t)(int32_t)(int8_t)byte;
}

/* Mixes in all complete groups of four bytes. */
static inline uint32_t mix_groups(const uint8_t *at, size_t size_bytes, uint32_t seed)
{
    uint32_t h = seed ^ (uint32_t)size_bytes;
    for (size_t i = 0; i + 4 <= size_bytes; i += 4) {
        uint32_t k = load32le(at + i) * FACTOR;
        h = h * FACTOR ^ (k ^ k >> 24) * FACTOR;
    }
    return h;
}

static inline uint32_t finished(uint32_t h)
{
    h = (h ^ h >> 13) * FACTOR;
    return h ^ h >> 15;
}

static uint32_t hash_hadoop(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    uint32_t h = mix_groups(at, size_bytes, seed), left = size_bytes % 4;
    for (uint32_t i = 0; i < left; i++) h ^= sign_extended(at[size_bytes - 1 - i]) << 8 * i;
    return finished(left ? h * FACTOR : h);
}

static uint32_t hash_hbase(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    uint32_t h = mix_groups(at, size_bytes, seed), left = size_bytes % 4;
    for (uint32_t i = 0; i < left; i++) h ^= sign_extended(at[size_bytes - left + i]) << 8 * i;
    return finished(left ? h * FACTOR : h);
}

static void compute_hadoop(const struct hash_key *with, const void *data, size_t size_bytes,
                           uint64_t *words)
{
    hash32_chain(hash_hadoop, with->hashes, data, size_bytes, words);
}

const struct hash_def petal_hash_hadoop_murmur = {
    .id = PETAL_HASH_HADOOP_MURMUR, .name = "hadoop-murmur", .compute = compute_hadoop};

static void compute_hbase(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    hash32_pair(hash_hbase, with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_hbase_murmur2 = {
    .id = PETAL_HASH_HBASE_MURMUR2, .name = "hbase-murmur", .words = 1, .compute = compute_hbase};

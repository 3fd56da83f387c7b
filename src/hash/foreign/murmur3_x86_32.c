/* murmur3_x86_32.c - 32-bit MurmurHash3 for 32-bit machines (Austin Appleby, public domain), and
 * the variant in Apache Spark's sketches. For whole groups of four bytes, the variant equals the
 * standard hash. But the variant sign-extends each byte of the tail, and mixes in each byte with a
 * full round. */
#include "base/bytes.h"
#include "hash/foreign/hash32.h"

static inline uint32_t scrambled(uint32_t k)
{
    return rotl32(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static inline uint32_t round_of(uint32_t h, uint32_t k)
{
    return rotl32(h ^ scrambled(k), 13) * 5 + 0xe6546b64u;
}

static inline uint32_t finished(uint32_t h, size_t size_bytes)
{
    h ^= (uint32_t)size_bytes;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint32_t hash(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    uint32_t h = seed;
    size_t i = 0;
    for (; i + 4 <= size_bytes; i += 4) h = round_of(h, load32le(at + i));
    uint32_t tail = (uint32_t)load_tail64le(at + i, size_bytes - i);
    /* A zero tail doesn't change the hash. */
    return finished(h ^ scrambled(tail), size_bytes);
}

static uint32_t hash_spark(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    uint32_t h = seed;
    size_t i = 0;
    for (; i + 4 <= size_bytes; i += 4) h = round_of(h, load32le(at + i));
    for (; i < size_bytes; i++) h = round_of(h, (uint32_t)(int32_t)(int8_t)at[i]);
    return finished(h, size_bytes);
}

static void compute_hbase(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    hash32_pair(hash, with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_hbase_murmur3 = {
    .id = PETAL_HASH_HBASE_MURMUR3, .name = "hbase-murmur3", .words = 1, .compute = compute_hbase};

static void compute_spark(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    hash32_pair(hash_spark, with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_murmur3_spark = {
    .id = PETAL_HASH_MURMUR3_SPARK, .name = "murmur3-spark", .words = 1, .compute = compute_spark};

/* hash.c - the table of hashes. */
#include "hash/hash.h"

#include "base/bytes.h"
#include "hash/pybloom.h"
#include "hash/siphash.h"

static void compute_xxh3(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    words[0] = petal_xxh3(data, size_bytes, with->seed);
}

static void compute_siphash(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    words[0] = petal_siphash24(data, size_bytes, with->secret);
}

static void compute_murmur3_x64_128(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    petal_murmur3_x64_128(data, size_bytes, with->seed, words);
}

typedef uint32_t hash32(const void *data, size_t size_bytes, uint32_t seed);

/* h1 in the low half, and in the high half h2, which is the same hash seeded with h1. */
static inline void compute_pair(hash32 *hash, uint64_t seed, const void *data, size_t size_bytes, uint64_t *words)
{
    uint32_t first = hash(data, size_bytes, (uint32_t)seed);
    words[0] = first | (uint64_t)hash(data, size_bytes, first) << 32;
}

/* One hash for each probe, the first seeded with 0 and each with the one before. */
static inline void compute_chain(hash32 *hash, uint32_t hashes, const void *data, size_t size_bytes, uint64_t *words)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < hashes; i++) words[i] = last = hash(data, size_bytes, last);
}

static void compute_murmur3_spark(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_pair(petal_murmur3_spark, with->seed, data, size_bytes, words);
}

static void compute_hadoop_murmur(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_chain(petal_murmur2_hadoop, with->hashes, data, size_bytes, words);
}

static void compute_hadoop_jenkins(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_chain(petal_jenkins, with->hashes, data, size_bytes, words);
}

static void compute_hbase_jenkins(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_pair(petal_jenkins, with->seed, data, size_bytes, words);
}

static void compute_hbase_murmur2(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_pair(petal_murmur2_hbase, with->seed, data, size_bytes, words);
}

static void compute_hbase_murmur3(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    compute_pair(petal_murmur3_x86_32, with->seed, data, size_bytes, words);
}

static void compute_bloom_filters(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    words[0] = petal_bloom_filters_hash(data, size_bytes, with->seed);
}

static void compute_fnv1a_utf16(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_fnv1a_utf16(data, size_bytes);
}

static void compute_js_tutorial(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_js_tutorial_hash(data, size_bytes);
}

static void compute_cassandra(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    petal_murmur3_cassandra(data, size_bytes, words);
}

static void compute_pybloom(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    petal_pybloom_hash(with->hashes, with->bits / with->hashes, data, size_bytes, words);
}

static void compute_xxh64(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    words[0] = petal_xxh64(data, size_bytes, with->seed);
}

static void compute_orc(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_orc_of_bytes(data, size_bytes);
}

/* Of an integer of 8 or 4 bytes, little-endian; 4 are sign-extended. Other sizes are no integers, and are hashed as bytes. */
static void compute_orc_long(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    if (size_bytes == 8)
        words[0] = petal_orc_of_long(load64le(data));
    else if (size_bytes == 4)
        words[0] = petal_orc_of_long((uint64_t)(int64_t)(int32_t)load32le(data));
    else
        compute_orc(with, data, size_bytes, words);
}

/* RedisBloom's pairs: a from a seed of its own, and b from the seed a. */
#define REDISBLOOM_SEED 0xc6a4a7935bd1e995u
#define REDISBLOOM_SEED_32 0x9747b28cu

static void compute_murmur64a(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    petal_murmur64a_pair(data, size_bytes, REDISBLOOM_SEED, words);
}

static void compute_murmur2(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_murmur2(data, size_bytes, REDISBLOOM_SEED_32);
    words[1] = petal_murmur2(data, size_bytes, (uint32_t)words[0]);
}

static void compute_datasketches(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    words[0] = petal_xxh64(data, size_bytes, with->seed);
    words[1] = petal_xxh64(data, size_bytes, words[0]);
}

static void compute_bits_and_blooms(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    petal_murmur3_twice(data, size_bytes, words);
}

static void compute_fnv1(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_fnv1(data, size_bytes);
}

static void compute_leveldb(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_leveldb_hash(data, size_bytes);
}

static void compute_xxph3(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    (void)with;
    words[0] = petal_xxph3(data, size_bytes);
}

/* clang-format off */ /* one row a line */
static const struct hash_def table[] = {
    {PETAL_HASH_XXH3, "xxh3", false, 1, compute_xxh3},
    {PETAL_HASH_SIPHASH, "siphash", true, 1, compute_siphash},
    {PETAL_HASH_MURMUR3_X64_128, "murmur3-x64-128", false, 2, compute_murmur3_x64_128},
    {PETAL_HASH_MURMUR3_SPARK, "murmur3-spark", false, 1, compute_murmur3_spark},
    {PETAL_HASH_XXH64, "xxh64", false, 1, compute_xxh64},
    {PETAL_HASH_ORC, "murmur3-orc", false, 1, compute_orc},
    {PETAL_HASH_ORC_LONG, "wang-orc", false, 1, compute_orc_long},
    {PETAL_HASH_MURMUR64A, "murmur64a", false, 2, compute_murmur64a},
    {PETAL_HASH_MURMUR2, "murmur2", false, 2, compute_murmur2},
    {PETAL_HASH_DATASKETCHES, "xxh64-pair", false, 2, compute_datasketches},
    {PETAL_HASH_BITS_AND_BLOOMS, "murmur3-x64-128-twice", false, 4, compute_bits_and_blooms},
    {PETAL_HASH_FNV1, "fnv1", false, 1, compute_fnv1},
    {PETAL_HASH_LEVELDB, "murmur-leveldb", false, 1, compute_leveldb},
    {PETAL_HASH_XXPH3, "xxph3", false, 1, compute_xxph3},
    {PETAL_HASH_BLOOM_FILTERS, "bloom-filters", false, 1, compute_bloom_filters},
    {PETAL_HASH_FNV1A_UTF16, "fnv1a-utf16", false, 1, compute_fnv1a_utf16},
    {PETAL_HASH_JS_TUTORIAL, "js-tutorial", false, 1, compute_js_tutorial},
    {PETAL_HASH_PYBLOOM, "pybloom", false, 0, compute_pybloom},
    {PETAL_HASH_HADOOP_MURMUR, "hadoop-murmur", false, 0, compute_hadoop_murmur},
    {PETAL_HASH_HADOOP_JENKINS, "hadoop-jenkins", false, 0, compute_hadoop_jenkins},
    {PETAL_HASH_HBASE_JENKINS, "hbase-jenkins", false, 1, compute_hbase_jenkins},
    {PETAL_HASH_HBASE_MURMUR2, "hbase-murmur", false, 1, compute_hbase_murmur2},
    {PETAL_HASH_CASSANDRA, "cassandra", false, 2, compute_cassandra},
    {PETAL_HASH_HBASE_MURMUR3, "hbase-murmur3", false, 1, compute_hbase_murmur3},
};
/* clang-format on */

const struct hash_def *petal_hash_find(petal_hash id)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].id == id) return &table[i];
    return NULL;
}

uint32_t petal_secret_id(const uint8_t secret[PETAL_SECRET_BYTES])
{
    return (uint32_t)petal_siphash24("petal secret id", 15, secret);
}

uint64_t petal_secret_check(const uint8_t secret[PETAL_SECRET_BYTES])
{
    return petal_siphash24("petal secret check", 18, secret);
}

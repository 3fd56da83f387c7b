/* hash.c - the table of hashes. */
#include "hash/hash.h"

#include "base/bytes.h"
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

/* h1 in the low half, and in the high half h2, which is the same hash seeded with h1. */
static void compute_murmur3_spark(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words)
{
    uint32_t first = petal_murmur3_spark(data, size_bytes, (uint32_t)with->seed);
    words[0] = first | (uint64_t)petal_murmur3_spark(data, size_bytes, first) << 32;
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
    words[0] = petal_murmur64a(data, size_bytes, REDISBLOOM_SEED);
    words[1] = petal_murmur64a(data, size_bytes, words[0]);
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

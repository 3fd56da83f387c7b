/* murmur2.c - 32-bit MurmurHash2 (Austin Appleby, public domain), implemented from its definition.
 * Words are little-endian on every machine, and the tail's bytes are unsigned. RedisBloom filters
 * from before 2018 use this hash. */
#include "base/bytes.h"
#include "hash/hash.h"

#define M 0x5bd1e995u

static inline uint32_t mix(uint32_t word)
{
    word *= M;
    return (word ^ word >> 24) * M;
}

static uint32_t hash(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint32_t h = seed ^ (uint32_t)size_bytes;
    for (; left >= 4; left -= 4, at += 4) h = (h * M) ^ mix(load32le(at));
    if (left) h = (h ^ (uint32_t)load_tail64le(at, left)) * M;
    h = (h ^ h >> 13) * M;
    return h ^ h >> 15;
}

/* Computes RedisBloom's pair of hashes. The first hash has RedisBloom's own seed, and the second
 * has the first hash as its seed. */
#define SEED 0x9747b28cu

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    (void)with;
    words[0] = hash(data, size_bytes, SEED);
    words[1] = hash(data, size_bytes, (uint32_t)words[0]);
}

const struct hash_def petal_hash_murmur2 = {
    .id = PETAL_HASH_MURMUR2, .name = "murmur2", .words = 2, .compute = compute};

/* murmur64a.c - RedisBloom's hash; see murmur64a.h. */
#include "hash/foreign/murmur64a.h"

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    murmur64a_pair(with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_murmur64a = {
    .id = PETAL_HASH_MURMUR64A, .name = "murmur64a", .words = 2, .compute = compute};

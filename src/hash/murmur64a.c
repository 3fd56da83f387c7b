/* murmur64a.c - RedisBloom's hash: see murmur64a.h. */
#include "hash/murmur64a.h"

const struct hash_def petal_hash_murmur64a = {
    .id = PETAL_HASH_MURMUR64A, .name = "murmur64a", .words = 2, .compute = murmur64a_pair};

/* redisbloom_scheme.c - the scheme of RedisBloom's links. The walk starts with x = a. Then, k
 * times: the position is x mod m, then x += b in 64 bits. a and b are the two words of the hash. m
 * is any number of bits that some version of RedisBloom used: 2^n, whole bytes, or whole words.
 * RedisBloom computes k from the error rate. The smallest positive double, 2^-1074, results in the
 * maximum k = 1075. See docs/formats/redisbloom.md. */
#include "hash/foreign/murmur64a.h"
#include "scheme/foreign/two_words.h"

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at, at->bits);
    at->at += at->step;
    return position;
}

#define WALK redisbloom
#define WALK_HASH murmur64a_pair
#define WALK_HASH_ID PETAL_HASH_MURMUR64A
#define WALK_HASH_WORDS 2
#define WALK_COUNTS_NEW_ONLY true
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_redisbloom = {
    .id = PETAL_SCHEME_REDISBLOOM,
    .name = "redisbloom",
    WALKED(redisbloom),
    COURSE(COURSE_WRAPPED, 64, {0, 0, 64, false}, {1, 0, 64, false}),
    .hash_words = 2,
    .counts_new_only = true,
    .max_hashes = PETAL_MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
};

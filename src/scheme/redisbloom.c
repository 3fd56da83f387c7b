/* redisbloom.c - RedisBloom's links: x = a; k times: position x mod m, then x += b, in 64 bits. a and b are the two words of the hash.
 * m is any number of bits that a version of RedisBloom has used: 2^n, or whole bytes, or whole words. docs/formats/redisbloom.md. */
#include "scheme/scheme.h"

/* k follows from the error rate: 1024 are a rate of 2^-1024, which a double cannot hold in full; and the walk has room for so
 * many. */
#define MAX_HASHES 1024u

struct walk {
    uint64_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash[0], hash[1], array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at, at->bits);
    at->at += at->step;
    return position;
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 1, error);
}

const struct scheme_def petal_redisbloom = {
    .id = PETAL_SCHEME_REDISBLOOM,
    .name = "redisbloom",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .hash_words = 2,
    .bit_order = BIT_ORDER,
    .counts_new_only = true,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 64,
    .max_bits = (uint64_t)1 << 48,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

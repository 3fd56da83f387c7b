/* hadoop.c - Hadoop's util.bloom: each of the k words of the hash is a signed number of 32 bits; position abs(word %
 * m), with the remainder of Java and C, which has the sign of the word. docs/formats/hadoop.md. */
#include "scheme/scheme.h"

#include "hash/hash.h"

struct walk {
    const uint64_t *words;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    return signed_rest_of((int32_t)(uint32_t)*at->words++, at->bits);
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 1, error);
}

const struct scheme_def petal_hadoop = {
    .id = PETAL_SCHEME_HADOOP,
    .name = "hadoop",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .touch = touch,
    .max_hashes = PETAL_HASH_MAX_WORDS,
    .step_bits = 1,
    .max_bits = INT32_MAX,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

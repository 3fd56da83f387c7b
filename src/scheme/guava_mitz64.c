/* guava_mitz64.c - Guava's MURMUR128_MITZ_64: c = h1; k times: position (c & (2^63 - 1)) mod m, then c += h2. Words of 64 bits,
 * big-endian. docs/formats/guava.md. */
#include "scheme/scheme.h"

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
    uint64_t position = rest_of(at->at & INT64_MAX, at->bits);
    at->at += at->step;
    return position;
}

#define BIT_ORDER 56u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 64, error);
}

const struct scheme_def petal_guava_mitz64 = {
    .id = PETAL_SCHEME_GUAVA_MITZ64,
    .name = "guava-mitz64",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 2,
    .bit_order = BIT_ORDER,
    .touch = touch,
    .max_hashes = 255,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

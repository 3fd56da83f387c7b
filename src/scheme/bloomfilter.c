/* bloomfilter.c - npm bloomfilter: a and b are the high and the low half of the hash, as signed numbers mod m, made
 * positive; position a; then for i = 1 .. k-1: a = (a + b) mod m, b = (b + i) mod m, position a.
 * docs/formats/bloomfilter.md. */
#include "scheme/scheme.h"

/* The format has no limit for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

struct walk {
    uint64_t at, step;
    struct divisor bits;
    uint32_t i;
};

/* The remainder of a signed number, made positive by adding m. */
static inline uint64_t reduced(uint32_t half, struct divisor bits)
{
    uint64_t rest = signed_rest_of((int32_t)half, bits);
    return half >> 31 && rest > 0 ? bits.by - rest : rest;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    struct divisor bits = array->modulus;
    return (struct walk){reduced((uint32_t)(*hash >> 32), bits), reduced((uint32_t)*hash, bits), bits, 0};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = at->at;
    at->at = rest_of(at->at + at->step, at->bits);
    at->step = rest_of(at->step + ++at->i, at->bits);
    return position;
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 32, error);
}

const struct scheme_def petal_bloomfilter = {
    .id = PETAL_SCHEME_BLOOMFILTER,
    .name = "bloomfilter",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 32,
    .max_bits = (uint64_t)1 << 32,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

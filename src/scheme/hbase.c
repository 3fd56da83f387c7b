/* hbase.c - a chunk of HBase's Bloom filters: for i = 0 .. k-1, c = h1 + i * h2 as a signed number of 32 bits; position
 * abs(c % m), with the remainder of Java and C, which has the sign of c. docs/formats/hbase.md. */
#include "scheme/scheme.h"

/* The format has 32 bits for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

/* HBase counts the bits in an int when it asks: chunks of 2^28 bytes and more are beyond it. */
#define MAX_BYTES (((uint64_t)1 << 28) - 1)

struct walk {
    uint32_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash, (uint32_t)(*hash >> 32), array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = signed_rest_of((int32_t)at->at, at->bits);
    at->at += at->step;
    return position;
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 8, error);
}

const struct scheme_def petal_hbase = {
    .id = PETAL_SCHEME_HBASE,
    .name = "hbase",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 8,
    .max_bits = MAX_BYTES * 8,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

/* datasketches.c - the Bloom filter of Apache DataSketches: for i = 1 .. k, position ((h0 + i * h1) mod 2^64 >> 1) mod m. h0 and h1
 * are the two words of the hash. docs/formats/datasketches.md. */
#include "scheme/scheme.h"

/* The format has 16 bits for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

/* From 2^32 bits on the Java and the C++ library set different bits, and C++ misreads the size. */
#define MAX_BITS (((uint64_t)1 << 32) - 64)

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
    at->at += at->step;
    return rest_of(at->at >> 1, at->bits);
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 64, error);
}

const struct scheme_def petal_datasketches = {
    .id = PETAL_SCHEME_DATASKETCHES,
    .name = "datasketches",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 2,
    .bit_order = BIT_ORDER,
    .no_empty_key = true,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 64,
    .max_bits = MAX_BITS,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

/* js_tutorial.c - the Bloom filter of many JavaScript tutorials: for i = 0 .. k-1, position (h1 + i * h2) mod m, where
 * h1 and h2 are the low and the high half of the hash and nothing wraps. docs/formats/js-tutorial.md. */
#include "scheme/scheme.h"

/* The format has no limit for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

struct walk {
    uint64_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash, *hash >> 32, array->modulus};
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

const struct scheme_def petal_js_tutorial = {
    .id = PETAL_SCHEME_JS_TUTORIAL,
    .name = "js-tutorial",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 31,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

/* bloom_filters.c - npm bloom-filters 2 and 3: for i = 0 .. k-1, position (a + i * b + (i^3 - i) / 6) mod m, where a
 * and b are the low and the high half of the hash. The original reckons in doubles, which hold all of it exactly.
 * docs/formats/bloom-filters.md. */
#include "scheme/scheme.h"

/* The format has no limit for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

struct walk {
    uint64_t at, step, i;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash, *hash >> 32, 0, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at, at->bits);
    at->at += at->step; /* b, b + 1, b + 1 + 2, ...: these steps add up to i * b + (i^3 - i) / 6 */
    at->step += ++at->i;
    return position;
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 1, error);
}

const struct scheme_def petal_bloom_filters = {
    .id = PETAL_SCHEME_BLOOM_FILTERS,
    .name = "bloom-filters",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_bits,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 32,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

/* bloom_filters_scheme.c - the scheme of npm bloom-filters 2 and 3. For i = 0 .. k-1, the position
 * is (a + i * b + (i^3 - i) / 6) mod m, where a and b are the low and high halves of the hash. The
 * original uses doubles, which represent all these numbers exactly. See
 * docs/formats/bloom-filters.md. */
#include "scheme/scheme.h"

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
    at->at += at->step; /* the steps b, b + 1, b + 1 + 2, ... sum to i * b + (i^3 - i) / 6 */
    at->step += ++at->i;
    return position;
}

#define WALK bloom_filters
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_bloom_filters = {
    .id = PETAL_SCHEME_BLOOM_FILTERS,
    .name = "bloom-filters",
    WALKED(bloom_filters),
    COURSE(COURSE_CURVED, 0, {0, 0, 32, false}, {0, 32, 32, false}),
    .hash_words = 1,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 32,
};

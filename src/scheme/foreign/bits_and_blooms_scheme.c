/* bits_and_blooms_scheme.c - the scheme of the Go package bits-and-blooms/bloom, version 3. The
 * hash consists of four words v. For i = 0 .. k-1, the position is (v[i mod 2] + i * v[2 + ((i + i
 * mod 2) mod 4) / 2]) mod 2^64 mod m, for any m. The bits are in 64-bit big-endian words. See
 * docs/formats/bits-and-blooms.md. */
#include "scheme/scheme.h"

struct walk {
    const uint64_t *hash;
    uint64_t i;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash, 0, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t i = at->i++, odd = i % 2;
    return rest_of(at->hash[odd] + i * at->hash[2 + (i + odd) % 4 / 2], at->bits);
}

#define WALK bits_and_blooms
#define BIT_ORDER 56u
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_bits_and_blooms = {
    .id = PETAL_SCHEME_BITS_AND_BLOOMS,
    .name = "bits-and-blooms",
    WALKED(bits_and_blooms),
    COURSE(COURSE_WOVEN, 64, {0, 0, 64, false}, {2, 0, 64, false}),
    .unit_bytes = 8,
    .hash_words = 4,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
};

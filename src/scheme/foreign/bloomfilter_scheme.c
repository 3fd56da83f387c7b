/* bloomfilter_scheme.c - the scheme of npm bloomfilter. a and b are the high and low halves of the
 * hash, as signed numbers mod m. If a remainder is negative, m is added. The first position is a.
 * Then, for i = 1 .. k-1: a = (a + b) mod m, b = (b + i) mod m, and the position is a. See
 * docs/formats/bloomfilter.md. */
#include "scheme/scheme.h"

struct walk {
    uint64_t at, step;
    struct divisor bits;
    uint32_t i;
};

/* Returns the remainder of a signed number mod m, plus m if the remainder is negative. */
static inline uint64_t reduced(uint32_t half, struct divisor bits)
{
    uint64_t rest = signed_rest_of((int32_t)half, bits);
    return half >> 31 && rest > 0 ? bits.by - rest : rest;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    struct divisor bits = array->modulus;
    return (struct walk){reduced((uint32_t)(*hash >> 32), bits), reduced((uint32_t)*hash, bits),
                         bits, 0};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = at->at;
    at->at = rest_of(at->at + at->step, at->bits);
    at->step = rest_of(at->step + ++at->i, at->bits);
    return position;
}

#define WALK bloomfilter
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_bloomfilter = {
    .id = PETAL_SCHEME_BLOOMFILTER,
    .name = "bloomfilter",
    WALKED(bloomfilter),
    COURSE(COURSE_CURVED, 0, {0, 32, 32, false}, {0, 0, 32, false}),
    .hash_words = 1,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 32,
    .max_bits = (uint64_t)1 << 32,
};

/* datasketches_scheme.c - the scheme of Apache DataSketches' Bloom filter. For i = 1 .. k, the
 * position is ((h0 + i * h1) mod 2^64 >> 1) mod m, where h0 and h1 are the two words of the hash.
 * See docs/formats/datasketches.md. */
#include "scheme/foreign/two_words.h"

/* For filters of 2^32 bits or more, the Java and C++ libraries set different bits, and the C++
 * library misreads the size. */
#define MAX_BITS (((uint64_t)1 << 32) - 64)

static inline uint64_t walk_next(struct walk *at)
{
    at->at += at->step;
    return rest_of(at->at >> 1, at->bits);
}

#define WALK datasketches
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_datasketches = {
    .id = PETAL_SCHEME_DATASKETCHES,
    .name = "datasketches",
    WALKED(datasketches),
    COURSE(COURSE_HALVED, 63, {0, 0, 64, false}, {1, 0, 64, false}),
    .unit_bytes = 8,
    .hash_words = 2,
    .no_empty_key = true,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 64,
    .max_bits = MAX_BITS,
};

/* guava_mitz64.c - the scheme of Guava's strategy MURMUR128_MITZ_64. The walk starts with c = h1.
 * Then, k times: the position is (c & (2^63 - 1)) mod m, then c += h2. The bits are stored in
 * 64-bit big-endian words. See docs/formats/guava.md. */
#include "hash/foreign/murmur3_x64_128.h"
#include "scheme/foreign/two_words.h"

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at & INT64_MAX, at->bits);
    at->at += at->step;
    return position;
}

#define WALK guava_mitz64
#define BIT_ORDER 56u
#define WALK_HASH murmur3_x64_128
#define WALK_HASH_ID PETAL_HASH_MURMUR3_X64_128
#define WALK_HASH_WORDS 2
#define WALK_COUNTS_NEW_ONLY false
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_guava_mitz64 = {
    .id = PETAL_SCHEME_GUAVA_MITZ64,
    .name = "guava-mitz64",
    WALKED(guava_mitz64),
    COURSE(COURSE_WRAPPED, 63, {0, 0, 64, false}, {1, 0, 64, false}),
    .unit_bytes = 8,
    .hash_words = 2,
    .max_hashes = 255,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
};

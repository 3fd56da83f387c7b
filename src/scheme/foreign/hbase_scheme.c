/* hbase_scheme.c - the scheme of HBase's Bloom filter chunks. For i = 0 .. k-1, c = h1 + i * h2 is
 * a signed 32-bit number. The position is abs(c % m), and the remainder has the sign of c, as in
 * Java and C. See docs/formats/hbase.md. */
#include "scheme/scheme.h"

/* HBase's queries store the number of bits in an int, so a chunk must be smaller than 2^28
 * bytes. */
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

#define WALK hbase
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_hbase = {
    .id = PETAL_SCHEME_HBASE,
    .name = "hbase",
    WALKED(hbase),
    COURSE(COURSE_FOLDED, 32, {0, 0, 32, false}, {0, 32, 32, false}),
    .hash_words = 1,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 8,
    .max_bits = MAX_BYTES * 8,
};

/* leveldb_scheme.c - the scheme of LevelDB's Bloom filters. h is the 32-bit hash, and d is h
 * rotated right by 17. Then, k times: the position is h mod m, then h += d mod 2^32. m is a
 * multiple of 8, and at most 2^32, since higher positions are never reached. See
 * docs/formats/leveldb.md. */
#include "base/bytes.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

struct walk {
    uint32_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    uint32_t h = (uint32_t)*hash;
    return (struct walk){h, rotl32(h, 32 - 17), array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at, at->bits);
    at->at += at->step;
    return position;
}

#define WALK leveldb
#include "scheme/walk.inc"

/* An absent key is also a false positive if it has the same 32-bit hash as an added key. */
static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    double same_hash = keys < 0x1p32 ? keys * 0x1p-32 : 1,
           rate = petal_course_rate(self, shape, keys);
    return rate + (1 - rate) * same_hash;
}

const struct scheme_def petal_scheme_leveldb = {
    .id = PETAL_SCHEME_LEVELDB,
    .name = "leveldb",
    WALKED(leveldb),
    .course = {COURSE_WRAPPED, 32, {0, 0, 32, false}, {0, 17, 32, true}},
    .rate_of_bits = petal_course_rate_of_bits,
    .hash_words = 1,
    .max_hashes = 30, /* LevelDB reserves larger values for future encodings */
    .step_bits = 8,
    .max_bits = (uint64_t)1 << 32,
    .rate = rate,
};

/* guava_mitz32.c - the scheme of Guava's strategy MURMUR128_MITZ_32, which was the only one before
 * Guava 17, and similar schemes. For i = 1 .. k, c = a + i * b in 32 bits. A negative c is replaced
 * by its complement. The position is c mod m. a and b are the low and high halves of the hash's
 * first word. The bits are stored in 64-bit big-endian words. See docs/formats/guava.md.
 *
 *     spark-v1        Apache Spark's sketch, version 1 (2.0 to 4.0): docs/formats/spark.md
 *     orc             Apache ORC, with the bits in plain order: docs/formats/orc.md
 *
 * OldPanda's ports were meant to match Guava, but set different bits for half of the keys. See
 * docs/formats/oldpanda.md:
 *
 *     oldpanda-py32   the Python package drops the sign bit of a
 *     oldpanda-go32   in the Go module i runs from 0 to k - 1 */
#include "hash/foreign/murmur3_x64_128.h"
#include "scheme/scheme.h"

struct walk {
    uint32_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash, (uint32_t)(*hash >> 32), array->modulus};
}

static inline struct walk walk_from_py32(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash & INT32_MAX, (uint32_t)(*hash >> 32), array->modulus};
}

static inline struct walk walk_from_go32(const struct bit_array *array, const uint64_t *hash)
{
    uint32_t a = (uint32_t)*hash, b = (uint32_t)(*hash >> 32);
    return (struct walk){a - b, b, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    at->at += at->step;
    uint32_t flipped = at->at >> 31 ? ~at->at : at->at;
    return rest_of(flipped, at->bits);
}

#define WALK mitz32
#define BIT_ORDER 56u
#define WALK_HASH murmur3_x64_128
#define WALK_HASH_ID PETAL_HASH_MURMUR3_X64_128
#define WALK_HASH_WORDS 2
#define WALK_COUNTS_NEW_ONLY false
#include "scheme/walk.inc"

#define WALK orc
#include "scheme/walk.inc"

#define WALK py32
#define WALK_FROM walk_from_py32
#define BIT_ORDER 56u
#include "scheme/walk.inc"

#define WALK go32
#define WALK_FROM walk_from_go32
#define BIT_ORDER 56u
#include "scheme/walk.inc"

#define MAX_BITS ((uint64_t)INT32_MAX * 64)

/* c has only 31 bits, so in larger filters, only the first 2^31 bits can be set. */
#define ROW(NAME, name_, walk, words, hashes, bits) \
    { \
        .id = PETAL_SCHEME_##NAME, .name = (name_), WALKED(walk), \
        COURSE(COURSE_FOLDED, 32, {0, 0, 32, false}, {0, 32, 32, false}), .hash_words = (words), \
        .max_hashes = (hashes), .step_bits = 64, .max_bits = (bits), .unit_bytes = 8, \
        .reachable_bits = (uint64_t)1 << 31 \
    }

const struct scheme_def petal_scheme_guava_mitz32 =
    ROW(GUAVA_MITZ32, "guava-mitz32", mitz32, 2, 255, MAX_BITS);
const struct scheme_def petal_scheme_oldpanda_py32 =
    ROW(OLDPANDA_PY32, "oldpanda-py32", py32, 2, 255, MAX_BITS);
const struct scheme_def petal_scheme_oldpanda_go32 =
    ROW(OLDPANDA_GO32, "oldpanda-go32", go32, 2, 255, MAX_BITS);
const struct scheme_def petal_scheme_spark_v1 =
    ROW(SPARK_V1, "spark-v1", mitz32, 1, PETAL_MOST_HASHES, MAX_BITS);
/* ORC stores the number of bits in an int. */
const struct scheme_def petal_scheme_orc =
    ROW(ORC, "orc", orc, 1, PETAL_MOST_HASHES, (uint64_t)INT32_MAX / 64 * 64);

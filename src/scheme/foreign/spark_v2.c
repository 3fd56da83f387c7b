/* spark_v2.c - the scheme of Apache Spark's sketch BloomFilter, version 2 (since Spark 4.1). The
 * walk starts with c = s64(h1) * (2^31 - 1). Then, k times: c += s64(h2), and the position is (c <
 * 0 ? ~c : c) mod m. c itself keeps its sign. See docs/formats/spark.md. */
#include "scheme/scheme.h"

struct walk {
    uint64_t at, step;
    struct divisor bits;
};

static inline uint64_t sign_extended(uint32_t x)
{
    return (uint64_t)(int64_t)(int32_t)x;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){sign_extended((uint32_t)*hash) * INT32_MAX,
                         sign_extended((uint32_t)(*hash >> 32)), array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    at->at += at->step;
    return rest_of(at->at >> 63 ? ~at->at : at->at, at->bits);
}

#define WALK spark_v2
#define BIT_ORDER 56u
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_spark_v2 = {
    .id = PETAL_SCHEME_SPARK_V2,
    .name = "spark-v2",
    WALKED(spark_v2),
    COURSE(COURSE_STRAIGHT, 0, {0, 0, 32, false}, {0, 32, 32, false}),
    .unit_bytes = 8,
    .hash_words = 1,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
};

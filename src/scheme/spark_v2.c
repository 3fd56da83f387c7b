/* spark_v2.c - Apache Spark's sketch BloomFilter, version 2 (from Spark 4.1): c = s64(h1) * (2^31 - 1); k times: c += s64(h2),
 * position (c < 0 ? ~c : c) mod m; c itself stays as it is. docs/formats/spark.md. */
#include "scheme/scheme.h"

/* The format has 32 bits for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

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
    return (struct walk){sign_extended((uint32_t)*hash) * INT32_MAX, sign_extended((uint32_t)(*hash >> 32)),
                         array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    at->at += at->step;
    return rest_of(at->at >> 63 ? ~at->at : at->at, at->bits);
}

#define BIT_ORDER 56u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    return petal_settle_foreign(shape, 64, error);
}

const struct scheme_def petal_spark_v2 = {
    .id = PETAL_SCHEME_SPARK_V2,
    .name = "spark-v2",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 1,
    .bit_order = BIT_ORDER,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

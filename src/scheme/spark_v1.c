/* spark_v1.c - Apache Spark's sketch BloomFilter, version 1 (Spark 2.0 to 4.0). docs/formats/spark.md. */
#include "scheme/scheme.h"

#define FIRST(a, b) (a)
#include "scheme/flip32.inc"

/* The format has 32 bits for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

const struct scheme_def petal_spark_v1 = {
    .id = PETAL_SCHEME_SPARK_V1,
    .name = "spark-v1",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 1,
    .bit_order = BIT_ORDER,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

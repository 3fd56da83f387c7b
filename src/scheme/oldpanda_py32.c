/* oldpanda_py32.c - the MITZ_32 that OldPanda's Python package means to be Guava's: it drops the sign bit of a. Half of the keys get other bits
 * than Guava's. docs/formats/oldpanda.md. */
#include "scheme/scheme.h"

#define FIRST(a, b) ((a)&INT32_MAX)
#include "scheme/flip32.inc"

const struct scheme_def petal_oldpanda_py32 = {
    .id = PETAL_SCHEME_OLDPANDA_PY32,
    .name = "oldpanda-py32",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 2,
    .bit_order = BIT_ORDER,
    .touch = touch,
    .max_hashes = 255,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX * 64,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

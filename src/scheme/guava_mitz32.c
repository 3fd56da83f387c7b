/* guava_mitz32.c - Guava's MURMUR128_MITZ_32, the only strategy before Guava 17. docs/formats/guava.md. */
#include "scheme/scheme.h"

#define FIRST(a, b) (a)
#include "scheme/flip32.inc"

const struct scheme_def petal_guava_mitz32 = {
    .id = PETAL_SCHEME_GUAVA_MITZ32,
    .name = "guava-mitz32",
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

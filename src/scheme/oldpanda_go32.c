/* oldpanda_go32.c - the MITZ_32 that OldPanda's Go module means to be Guava's: its i runs from 0 to k - 1. Half of the keys get other bits
 * than Guava's. docs/formats/oldpanda.md. */
#include "scheme/scheme.h"

#define FIRST(a, b) ((a) - (b))
#include "scheme/flip32.inc"

const struct scheme_def petal_oldpanda_go32 = {
    .id = PETAL_SCHEME_OLDPANDA_GO32,
    .name = "oldpanda-go32",
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

/* orc.c - the Bloom filters of Apache ORC: the walk of Guava's MITZ_32 over the halves of a 64-bit hash, with the bits in plain
 * order. docs/formats/orc.md. */
#include "scheme/scheme.h"

#define FIRST(a, b) (a)
#define BIT_ORDER 0u
#include "scheme/flip32.inc"

/* The format has 32 bits for k; more than this is no filter of anybody's, and the walk has room for so many. */
#define MAX_HASHES 1024u

const struct scheme_def petal_orc = {
    .id = PETAL_SCHEME_ORC,
    .name = "orc",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 1,
    .bit_order = BIT_ORDER,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 64,
    .max_bits = (uint64_t)INT32_MAX / 64 * 64, /* ORC counts bits in an int */
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

/* dcso_scheme.c - DCSO's bloom (Go) and flor (Python): h = hash mod P, P = 2^64 - 59 the largest
 * prime below 2^64; k times: h = (h * G mod 2^64) mod P with G = 2^64 - 1469, position h mod m. The
 * product wraps before the prime comes in.
 * Any m. docs/formats/dcso.md. */
#include "scheme/scheme.h"

#define P 18446744073709551557u
#define G 18446744073709550147u

struct walk {
    uint64_t at;
    struct divisor bits;
};

static inline uint64_t mod_p(uint64_t x)
{
    return x < P ? x : x - P;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){mod_p(*hash), array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    at->at = mod_p(at->at * G);
    return rest_of(at->at, at->bits);
}

#define WALK dcso
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_dcso = {
    .id = PETAL_SCHEME_DCSO,
    .name = "dcso",
    WALKED(dcso),
    .unit_bytes = 8,
    .hash_words = 1,
    .counts_new_only = true,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
};

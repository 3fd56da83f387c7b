/* classic.c - the scheme `classic`: k bits anywhere in m, the form with the fewest bits a key.
 *
 *     a = hash;  k times: position = mulhi64(a, m), then a = a * 0xDA942042E4DD58B5 mod 2^64
 *
 * The high bits of `a` choose the position, without a division. The multiplier is the 64-bit one of Steele and Vigna
 * ("Computationally easy, spectrally good multipliers", 2021), so successive high halves are as good as independent, where
 * plain double hashing has up to 5 times too many false positives in small filters. */
#include "base/bytes.h"
#include "base/error.h"
#include "scheme/scheme.h"

#define STEP 0xDA942042E4DD58B5u
#define MAX_HASHES 64u

struct walk {
    uint64_t a, bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){*hash, array->shape.bits};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = mulhi64(at->a, at->bits);
    at->a *= STEP;
    return position;
}

#define BIT_ORDER 0u
#include "scheme/walk.inc"

static petal_status settle(struct shape *shape, petal_error *error)
{
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "lines a key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > MAX_HASHES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "classic takes 1 to %u hashes, not %u", MAX_HASHES, shape->hashes);
    if (shape->bits < 1) return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    if (shape->bits > petal_classic.max_bits)
        return petal_fail(error, PETAL_ERR_LIMIT, "more than 2^48 bits (32 TiB); use several filters");
    return PETAL_OK;
}

const struct scheme_def petal_classic = {
    .id = PETAL_SCHEME_CLASSIC,
    .name = "classic",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_lines,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

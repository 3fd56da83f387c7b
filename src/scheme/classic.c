/* classic.c - the scheme `classic`: k bits anywhere in m, the form with the fewest bits a key. Its rule is in classic.h. */
#include "scheme/classic.h"

#include "base/error.h"

#define BIT_ORDER 0u
#include "scheme/walk.inc"

petal_status petal_settle_classic(struct shape *shape, petal_error *error)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "lines a key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > CLASSIC_MAX_HASHES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes 1 to %u hashes, not %u", scheme->name,
                          CLASSIC_MAX_HASHES, shape->hashes);
    if (shape->bits < 1) return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    return petal_check_most_bits(scheme, shape->bits, error);
}

const struct scheme_def petal_classic = {
    .id = PETAL_SCHEME_CLASSIC,
    .name = "classic",
    .kernels = kernels,
    .settle = petal_settle_classic,
    .array_bytes = petal_bytes_of_lines,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = CLASSIC_MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
    .rate = petal_uniform_rate,
    .rate_of_bits = petal_uniform_rate_of_bits,
    .bits_set_sd = petal_uniform_bits_set_sd,
};

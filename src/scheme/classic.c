/* classic.c - the `classic` scheme, in which the k bits of a key may be anywhere among the m bits.
 * This scheme needs fewer bits per key than `blocked`. classic.h explains how positions are
 * computed. */
#include "scheme/classic.h"

#include "base/error.h"

#define WALK classic
#define WALK_HASH classic_hash
#define WALK_HASH_ID PETAL_HASH_XXH3
#define WALK_HASH_WORDS 1
#define WALK_COUNTS_NEW_ONLY false
#include "scheme/walk.inc"

petal_status petal_normalize_classic(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error)
{
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "lines per key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > CLASSIC_MAX_HASHES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes 1 to %u hashes, not %u", self->name,
                          CLASSIC_MAX_HASHES, shape->hashes);
    if (shape->bits < 1)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    return petal_check_most_bits(self, shape->bits, error);
}

static uint32_t positions_of(const struct shape *shape, uint64_t hash, uint64_t *positions)
{
    return walk_positions(shape, hash, 1, positions);
}

const struct scheme_def petal_scheme_classic = {
    .id = PETAL_SCHEME_CLASSIC,
    .name = "classic",
    WALKED(classic),
    .positions = positions_of,
    .normalize = petal_normalize_classic,
    .unit_bytes = PETAL_LINE_BYTES,
    .hash_words = 1,
    .max_hashes = CLASSIC_MAX_HASHES,
    .step_bits = 1,
    .fold_bits = 1,
    .max_bits = (uint64_t)1 << 48,
};

/* classic.h - computes the positions of a key in the schemes classic and counting:
 *
 *     a = hash;  k times: position = mulhi64(a, m), then a = a * 0xDA942042E4DD58B5 mod 2^64
 *
 * The high bits of `a` choose the position without a division. The multiplier is a 64-bit one from
 * Steele and Vigna ("Computationally easy, spectrally good multipliers", 2021), which makes
 * successive high halves nearly independent. Plain double hashing would cause up to 5 times as many
 * false positives in small filters. */
#ifndef PETAL_SCHEME_CLASSIC_H
#define PETAL_SCHEME_CLASSIC_H

#include "base/bytes.h"
#include "hash/hash.h"
#include "petal/petal_inline.h"
#include "scheme/scheme.h"

#define CLASSIC_STEP 0xDA942042E4DD58B5u
#define CLASSIC_MAX_HASHES 64u

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
    at->a *= CLASSIC_STEP;
    return position;
}

/* Hashes a key with XXH3, for filters that use it. */
static inline void classic_hash(uint64_t seed, const void *key, size_t key_bytes, uint64_t *hash)
{
    *hash = key_bytes == 8 ? petal_inline_xxh3(load64le(key), petal_xxh3_seed_flip(seed))
                           : petal_xxh3(key, key_bytes, seed);
}

/* Implements scheme_def.positions for both schemes, where each position takes `unit_bits` bits. */
static inline uint32_t walk_positions(const struct shape *shape, uint64_t hash, uint32_t unit_bits,
                                      uint64_t *positions)
{
    struct walk at = {hash, shape->bits};
    for (uint32_t i = 0; i < shape->hashes; i++) positions[i] = walk_next(&at) * unit_bits;
    return shape->hashes;
}

/* Implements normalize() for both schemes. Accepts any m up to the scheme's max_bits. */
petal_status petal_normalize_classic(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error);

#endif

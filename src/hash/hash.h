/* hash.h - computes the hash of a key, which consists of one or more 64-bit words. Each hash
 * function has a source file, which exports its row, and a line in hash_list.h. */
#ifndef PETAL_HASH_HASH_H
#define PETAL_HASH_HASH_H

#include "base/bytes.h"
#include "hash/hash_list.h"
#include "petal/petal.h"

#include <stddef.h>
#include <stdint.h>
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

/* The numbers of the foreign hashes. petal.h defines the numbers of Petal's own hashes. */
#define HASH_NUMBER(LIBRARY, NAME, name, number) PETAL_HASH_##NAME = (number),
enum { PETAL_FOREIGN_HASHES(HASH_NUMBER) };

/* The maximum number of words in a key's hash. */
#define PETAL_HASH_MAX_WORDS 256u

/* The parameters that a hash needs besides the key. */
#define PETAL_LONG_SEED_BYTES 32u
struct hash_key {
    uint64_t seed;
    /* The secret of a keyed hash (PETAL_SECRET_BYTES), or a long seed (PETAL_LONG_SEED_BYTES). */
    uint8_t secret[PETAL_LONG_SEED_BYTES];
    uint32_t hashes; /* the layer's k and m, for hashes that depend on these numbers */
    uint64_t bits;
};

struct hash_def {
    uint32_t id;
    const char *name;
    bool keyed; /* true if the hash uses the secret instead of the seed */
    /* True if the hash uses a seed of PETAL_LONG_SEED_BYTES, stored in the first bytes of the
     * filter's origin. */
    bool long_seed;
    /* The number of words that compute() writes. 0 means the layer's k, so a key has a different
     * hash in each layer. */
    uint32_t words;
    void (*compute)(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words);
};

/* The rows of the table of hashes. */
#define HASH_ROW(LIBRARY, NAME, name, number) extern const struct hash_def petal_hash_##name;
PETAL_HASHES(HASH_ROW)

/* Returns the row of the hash with this number, or NULL if this build has no such hash. */
const struct hash_def *petal_hash_find(uint32_t id);

/* Returns the name of the hash with this number if this build leaves the hash out, and NULL
 * otherwise. */
const char *petal_hash_left_out(uint32_t id);

/* The 64-bit finalizer of MurmurHash3 (public domain, Austin Appleby). A bijection in which every
 * input bit affects every output bit. */
static inline uint64_t fmix64(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* The values that a file stores to identify a secret: an id, and a value that detects a wrong
 * secret. Both values are the SipHash of a fixed string with the secret as the key, so they reveal
 * nothing about the secret. */
uint32_t petal_secret_id(const uint8_t secret[PETAL_SECRET_BYTES]);
uint64_t petal_secret_check(const uint8_t secret[PETAL_SECRET_BYTES]);

/* The default seed of bloom-filters. */
#define PETAL_BLOOM_FILTERS_SEED 0x1234567890u

/* Computes XXH3_64bits with a seed. This function also computes checksums. */
uint64_t petal_xxh3(const void *data, size_t size_bytes, uint64_t seed);

/* The following functions implement two branches of XXH3, for keys where hashing dominates the
 * cost. Everything that depends only on the seed is computed in advance.
 *
 * Returns the value for 8-byte keys in petal_inline_xxh3(). The value is derived from bytes 8 to 24
 * of the default secret, minus the seed, after the seed's high half is xored with its byte-swapped
 * low half. */
static inline uint64_t petal_xxh3_seed_flip(uint64_t seed)
{
    uint64_t flip = (0x1cad21f72c81017cu ^ 0xdb979083e96dd4deu) -
                    (seed ^ (uint64_t)swap32((uint32_t)seed) << 32);
    return flip ^ rotl64(flip, 49) ^ rotl64(flip, 24);
}

/* Bytes 0 to 64 of the default secret, plus or minus the seed, for keys of 17 to 64 bytes. */
struct xxh3_flips {
    uint64_t words[8];
};

static inline struct xxh3_flips petal_xxh3_flips(uint64_t seed)
{
    return (struct xxh3_flips){{0xbe4ba423396cfeb8u + seed, 0x1cad21f72c81017cu - seed,
                                0xdb979083e96dd4deu + seed, 0x1f67b3b7a4a44072u - seed,
                                0x78e5c0cc4ee679cbu + seed, 0x2172ffcc7dd05a82u - seed,
                                0x8e2443f7744608b8u + seed, 0x4c263a81e69035e0u - seed}};
}

static inline bool petal_xxh3_is_medium(size_t size_bytes)
{
    return size_bytes - 17 <= 64 - 17;
}

#ifdef __wasm_simd128__

/* Returns mulfold64() of the halves of x, plus mulfold64() of the halves of y. Each half consists
 * of two 32-bit digits, so a product takes four multiplications. Each instruction multiplies digits
 * of x and of y at the same time. */
static inline uint64_t petal_fold_both(v128_t x, v128_t y)
{
    const v128_t low = wasm_i64x2_const(0xffffffff, 0xffffffff);
    /* The low digits of the first halves, then the high digits. */
    v128_t a = wasm_i32x4_shuffle(x, y, 0, 4, 1, 5);
    v128_t b = wasm_i32x4_shuffle(x, y, 2, 6, 3, 7); /* second halves */
    v128_t swapped = wasm_i64x2_shuffle(b, b, 1, 0);
    v128_t lows = wasm_u64x2_extmul_low_u32x4(a, b), highs = wasm_u64x2_extmul_high_u32x4(a, b);
    v128_t middle =
        wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(a, swapped), wasm_u64x2_shr(lows, 32));
    v128_t carry =
        wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(a, swapped), wasm_v128_and(middle, low));
    highs = wasm_i64x2_add(highs, wasm_u64x2_shr(middle, 32));
    highs = wasm_i64x2_add(highs, wasm_u64x2_shr(carry, 32));
    lows = wasm_v128_or(wasm_i64x2_shl(carry, 32), wasm_v128_and(lows, low));
    v128_t folded = wasm_v128_xor(lows, highs);
    return wasm_u64x2_extract_lane(folded, 0) + wasm_u64x2_extract_lane(folded, 1);
}

static inline uint64_t petal_xxh3_mix(const uint8_t *a, const uint8_t *b, const uint64_t *flip)
{
    return petal_fold_both(wasm_v128_xor(wasm_v128_load(a), wasm_v128_load(flip)),
                           wasm_v128_xor(wasm_v128_load(b), wasm_v128_load(flip + 2)));
}

#else

/* Returns the contribution of 16 bytes at `a` and 16 bytes at `b` to the hash. */
static inline uint64_t petal_xxh3_mix(const uint8_t *a, const uint8_t *b, const uint64_t *flip)
{
    return mulfold64(load64le(a) ^ flip[0], load64le(a + 8) ^ flip[1]) +
           mulfold64(load64le(b) ^ flip[2], load64le(b + 8) ^ flip[3]);
}

#endif

static inline uint64_t petal_xxh3_medium(const void *key, size_t size_bytes,
                                         const struct xxh3_flips *flips)
{
    const uint8_t *first = key, *last = first + size_bytes - 16;
    uint64_t h = size_bytes * 0x9e3779b185ebca87u;
    h += petal_xxh3_mix(first, last, flips->words);
    if (size_bytes > 32) h += petal_xxh3_mix(first + 16, last - 16, flips->words + 4);
    h = (h ^ h >> 37) * 0x165667919e3779f9u;
    return h ^ h >> 32;
}

/* Computes XXH3 of the 8 little-endian bytes of each number, several at a time. */
void petal_xxh3_i64(const int64_t *keys, size_t count, uint64_t seed, uint64_t *hashes);

#endif

/* xxph3.c - 64-bit XXPH3 with seed 0. XXPH3 is the preview of XXH3 (xxHash 0.7.2, Yann Collet) that
 * RocksDB froze for its filters. The preview consists of the same operations as the current XXH3,
 * but combines them differently.
 *
 * This code is implemented from the algorithm's definition. Every branch mixes the input with a
 * 192-byte secret (the same as XXH3's), and folds 128-bit products: fold(a, b) is the high half of
 * a * b xor the low half. Words are little-endian. The branch depends on the key's length in bytes:
 *
 *     0            a fold of the secret alone (RocksDB's change; the preview returned 0)
 *     1 .. 3       three bytes and the length, one multiplication
 *     4 .. 8       the first and last 4 bytes, two multiplications
 *     9 .. 16      the first and last 8 bytes, one fold
 *     17 .. 128    pairs of 16 bytes, from both ends inwards; a fold for each
 *     129 .. 240   all 16 bytes one after another; the first eight are mixed before the rest
 *     241 ..       eight lanes, stripes of 64 bytes; the lanes are scrambled after every 16 stripes
 *
 *     XXPH3("hello") = a0bbc238c97657b5, where XXH3 has 9555e8555c62dcfd */
#include "base/bytes.h"
#include "hash/hash.h"

/* The prime constants of xxHash. */
#define P32_1 0x9e3779b1u
#define P32_2 0x85ebca77u
#define P32_3 0xc2b2ae3du
#define P64_1 0x9e3779b185ebca87u
#define P64_2 0xc2b2ae3d27d4eb4fu
#define P64_3 0x165667b19e3779f9u
#define P64_4 0x85ebca77c2b2ae63u
#define P64_5 0x27d4eb2f165667c5u

#define STRIPE_BYTES 64u
#define STRIPES_PER_BLOCK 16u /* each stripe uses the secret 8 bytes after the previous stripe's */
#define LANES 8u

static const uint8_t secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    return mulhi64(a, b) ^ a * b;
}

static inline uint64_t avalanche(uint64_t h)
{
    h = (h ^ h >> 37) * P64_3;
    return h ^ h >> 32;
}

/* ---- up to 16 bytes -------------------------------------------------------------------------- */

static uint64_t hash_1_to_3(const uint8_t *at, size_t size_bytes)
{
    uint32_t first = at[0], middle = at[size_bytes / 2], last = at[size_bytes - 1];
    uint32_t all = first | middle << 8 | last << 16 | (uint32_t)size_bytes << 24;
    return avalanche((uint64_t)(all ^ load32le(secret)) * P64_1);
}

static uint64_t hash_4_to_8(const uint8_t *at, size_t size_bytes)
{
    uint64_t word = load32le(at) | (uint64_t)load32le(at + size_bytes - 4) << 32;
    word ^= load64le(secret);
    word = size_bytes + (word ^ word >> 51) * P32_1;
    return avalanche((word ^ word >> 47) * P64_2);
}

static uint64_t hash_9_to_16(const uint8_t *at, size_t size_bytes)
{
    uint64_t low = load64le(at) ^ load64le(secret),
             high = load64le(at + size_bytes - 8) ^ load64le(secret + 8);
    return avalanche(size_bytes + low + high + fold(low, high));
}

static uint64_t hash_up_to_16(const uint8_t *at, size_t size_bytes)
{
    if (size_bytes > 8) return hash_9_to_16(at, size_bytes);
    if (size_bytes > 3) return hash_4_to_8(at, size_bytes);
    return size_bytes ? hash_1_to_3(at, size_bytes) : fold(load64le(secret), P64_2);
}

/* ---- up to 240 bytes ------------------------------------------------------------------------- */

static inline uint64_t mix16(const uint8_t *at, const uint8_t *key)
{
    return fold(load64le(at) ^ load64le(key), load64le(at + 8) ^ load64le(key + 8));
}

static uint64_t hash_up_to_128(const uint8_t *at, size_t size_bytes)
{
    const uint8_t *end = at + size_bytes;
    uint64_t sum = size_bytes * P64_1;
    for (size_t i = 0; i < (size_bytes + 31) / 32; i++)
        sum +=
            mix16(at + 16 * i, secret + 32 * i) + mix16(end - 16 * (i + 1), secret + 32 * i + 16);
    return avalanche(sum);
}

/* The key's second and last parts are mixed with secret bytes from odd offsets, so that each part
 * is mixed differently. */
static uint64_t hash_up_to_240(const uint8_t *at, size_t size_bytes)
{
    uint64_t sum = size_bytes * P64_1;
    for (size_t i = 0; i < 8; i++) sum += mix16(at + 16 * i, secret + 16 * i);
    sum = avalanche(sum);
    for (size_t i = 8; i < size_bytes / 16; i++)
        sum += mix16(at + 16 * i, secret + 3 + 16 * (i - 8));
    return avalanche(sum + mix16(at + size_bytes - 16, secret + 119));
}

/* ---- longer ---------------------------------------------------------------------------------- */

static inline void add_stripe(uint64_t lanes[LANES], const uint8_t *at, const uint8_t *key)
{
    for (size_t i = 0; i < LANES; i++) {
        uint64_t word = load64le(at + 8 * i), keyed = word ^ load64le(key + 8 * i);
        lanes[i] += word + (keyed & UINT32_MAX) * (keyed >> 32);
    }
}

static void scramble(uint64_t lanes[LANES])
{
    const uint8_t *key = secret + sizeof secret - STRIPE_BYTES;
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ load64le(key + 8 * i)) * P32_1;
}

static uint64_t merge(const uint64_t lanes[LANES], uint64_t sum)
{
    const uint8_t *key = secret + 11;
    for (size_t i = 0; i < LANES; i += 2)
        sum += fold(lanes[i] ^ load64le(key + 8 * i), lanes[i + 1] ^ load64le(key + 8 * i + 8));
    return avalanche(sum);
}

/* Unlike XXH3, XXPH3 also scrambles the lanes after a block that ends with the input. A final
 * stripe is added only if the input doesn't consist of whole stripes. */
static uint64_t hash_long(const uint8_t *at, size_t size_bytes)
{
    uint64_t lanes[LANES] = {P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1};
    for (size_t i = 0; i < size_bytes / STRIPE_BYTES; i++) {
        add_stripe(lanes, at + i * STRIPE_BYTES, secret + 8 * (i % STRIPES_PER_BLOCK));
        if (i % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1) scramble(lanes);
    }
    if (size_bytes % STRIPE_BYTES) add_stripe(lanes, at + size_bytes - STRIPE_BYTES, secret + 121);
    return merge(lanes, size_bytes * P64_1);
}

static uint64_t hash(const void *data, size_t size_bytes)
{
    if (size_bytes <= 16) return hash_up_to_16(data, size_bytes);
    if (size_bytes <= 128) return hash_up_to_128(data, size_bytes);
    if (size_bytes <= 240) return hash_up_to_240(data, size_bytes);
    return hash_long(data, size_bytes);
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    (void)with;
    words[0] = hash(data, size_bytes);
}

const struct hash_def petal_hash_xxph3 = {
    .id = PETAL_HASH_XXPH3, .name = "xxph3", .words = 1, .compute = compute};

/* sha.c - see sha.h. The code follows FIPS 180-4. The round functions are in section 4.1 of the
 * standard. */
#include "hash/foreign/sha.h"

#include "base/bytes.h"

/* The first 64 bits of the fractional parts of the cube roots of the first 80 primes. SHA-256 uses
 * the first 32 bits of the first 64. */
static const uint64_t cube_roots[80] = {
    0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu,
    0x3956c25bf348b538u, 0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u,
    0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
    0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u,
    0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
    0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
    0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u,
    0xc6e00bf33da88fc2u, 0xd5a79147930aa725u, 0x06ca6351e003826fu, 0x142929670a0e6e70u,
    0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
    0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
    0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u,
    0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
    0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u,
    0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u,
    0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
    0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu,
    0xca273eceea26619cu, 0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u,
    0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
    0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu,
    0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
};

struct sha {
    uint32_t word_bytes; /* size of a word; a block has 16 words */
    uint32_t digest_bytes;
    void (*compress)(uint64_t *state, const uint8_t *block);
    uint64_t initial[8];
};

#define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
#define PARITY(x, y, z) ((x) ^ (y) ^ (z))

/* ---- SHA-1 ----------------------------------------------------------------------------------- */

/* Returns word i of the schedule. Only the last 16 words are stored, and each word is computed just
 * before its round. Compilers would vectorize a loop that computes all words in advance, which
 * would take two to four times as long. */
static inline uint32_t word_1(uint32_t w[16], int i)
{
    if (i >= 16)
        w[i & 15] = rotl32(w[(i - 3) & 15] ^ w[(i - 8) & 15] ^ w[(i - 14) & 15] ^ w[i & 15], 1);
    return w[i & 15];
}

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names */

/* Performs one round. The caller rotates the variable names instead of moving the values. */
#define ROUND_1(a, b, c, d, e, f, k, i) \
    (e += rotl32(a, 5) + (f) + (k) + word_1(w, i), b = rotl32(b, 30))

/* After five rounds, the variable names are in their original order again. */
#define ROUNDS_1(from, to, F, k) \
    for (int i = from; i < to; i += 5) { \
        ROUND_1(a, b, c, d, e, F(b, c, d), k, i); \
        ROUND_1(e, a, b, c, d, F(a, b, c), k, i + 1); \
        ROUND_1(d, e, a, b, c, F(e, a, b), k, i + 2); \
        ROUND_1(c, d, e, a, b, F(d, e, a), k, i + 3); \
        ROUND_1(b, c, d, e, a, F(c, d, e), k, i + 4); \
    }

static void compress_1(uint64_t *state, const uint8_t *block)
{
    uint32_t w[16], a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2],
                    d = (uint32_t)state[3], e = (uint32_t)state[4];
    for (int i = 0; i < 16; i++) w[i] = load32be(block + 4 * (size_t)i);
    ROUNDS_1(0, 20, CHOOSE, 0x5a827999u)
    ROUNDS_1(20, 40, PARITY, 0x6ed9eba1u)
    ROUNDS_1(40, 60, MAJORITY, 0x8f1bbcdcu)
    ROUNDS_1(60, 80, PARITY, 0xca62c1d6u)
    const uint32_t added[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++) state[i] = (uint32_t)(state[i] + added[i]);
}

/* ---- SHA-2 ----------------------------------------------------------------------------------- */

/* SHA-256 and SHA-512 differ in word width, number of rounds and rotation distances. */
#define WORD_2(i) \
    (w[(i)&15] += SIGMA_1(w[((i)-2) & 15]) + w[((i)-7) & 15] + SIGMA_0(w[((i)-15) & 15]))

#define ROUND_2(a, b, c, d, e, f, g, h, i) \
    do { \
        h += SUM_1(e) + CHOOSE(e, f, g) + (WORD)(cube_roots[i] >> (64 - 8 * sizeof(WORD))); \
        h += (i) < 16 ? w[i] : WORD_2(i); \
        d += h; \
        h += SUM_0(a) + MAJORITY(a, b, c); \
    } while (0)

/* After eight rounds, the variable names are in their original order again. */
#define COMPRESS_2(function, rounds, load) \
    static void function(uint64_t *state, const uint8_t *block) \
    { \
        WORD w[16], s[8]; \
        for (int i = 0; i < 16; i++) w[i] = load(block + sizeof(WORD) * (size_t)i); \
        for (int i = 0; i < 8; i++) s[i] = (WORD)state[i]; \
        for (int i = 0; i < rounds; i += 8) { \
            ROUND_2(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], i); \
            ROUND_2(s[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], i + 1); \
            ROUND_2(s[6], s[7], s[0], s[1], s[2], s[3], s[4], s[5], i + 2); \
            ROUND_2(s[5], s[6], s[7], s[0], s[1], s[2], s[3], s[4], i + 3); \
            ROUND_2(s[4], s[5], s[6], s[7], s[0], s[1], s[2], s[3], i + 4); \
            ROUND_2(s[3], s[4], s[5], s[6], s[7], s[0], s[1], s[2], i + 5); \
            ROUND_2(s[2], s[3], s[4], s[5], s[6], s[7], s[0], s[1], i + 6); \
            ROUND_2(s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[0], i + 7); \
        } \
        for (int i = 0; i < 8; i++) state[i] = (WORD)(state[i] + s[i]); \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

#define WORD uint32_t
#define SUM_0(x) (rotr32(x, 2) ^ rotr32(x, 13) ^ rotr32(x, 22))
#define SUM_1(x) (rotr32(x, 6) ^ rotr32(x, 11) ^ rotr32(x, 25))
#define SIGMA_0(x) (rotr32(x, 7) ^ rotr32(x, 18) ^ (x) >> 3)
#define SIGMA_1(x) (rotr32(x, 17) ^ rotr32(x, 19) ^ (x) >> 10)
COMPRESS_2(compress_256, 64, load32be)
#undef WORD
#undef SUM_0
#undef SUM_1
#undef SIGMA_0
#undef SIGMA_1

#define WORD uint64_t
#define SUM_0(x) (rotr64(x, 28) ^ rotr64(x, 34) ^ rotr64(x, 39))
#define SUM_1(x) (rotr64(x, 14) ^ rotr64(x, 18) ^ rotr64(x, 41))
#define SIGMA_0(x) (rotr64(x, 1) ^ rotr64(x, 8) ^ (x) >> 7)
#define SIGMA_1(x) (rotr64(x, 19) ^ rotr64(x, 61) ^ (x) >> 6)
COMPRESS_2(compress_512, 80, load64be)

/* ---- messages -------------------------------------------------------------------------------- */

static void digest_of(const struct sha *sha, struct sha_message of, uint8_t *digest)
{
    uint8_t block[128];
    uint64_t state[8];
    const size_t block_bytes = 16 * (size_t)sha->word_bytes;
    const uint8_t *at = of.data;
    size_t filled = of.prefix_bytes, left = of.data_bytes;

    memcpy(state, sha->initial, sizeof state);
    if (filled) memcpy(block, of.prefix, filled);
    if (left >= block_bytes - filled) {
        size_t head = block_bytes - filled;
        memcpy(block + filled, at, head);
        sha->compress(state, block);
        for (at += head, left -= head; left >= block_bytes; at += block_bytes, left -= block_bytes)
            sha->compress(state, at);
        filled = 0;
    }
    if (left) memcpy(block + filled, at, left);
    filled += left;

    /* Appends a one bit, zeros, and the message length in bits, which takes two words. */
    block[filled++] = 0x80;
    memset(block + filled, 0, block_bytes - filled);
    if (filled > block_bytes - 2 * (size_t)sha->word_bytes) {
        sha->compress(state, block);
        memset(block, 0, block_bytes);
    }
    store64be(block + block_bytes - 8, 8 * ((uint64_t)of.prefix_bytes + of.data_bytes));
    sha->compress(state, block);

    for (uint32_t i = 0; i * sha->word_bytes < sha->digest_bytes; i++)
        if (sha->word_bytes == 4)
            store32be(digest + (size_t)4 * i, (uint32_t)state[i]);
        else
            store64be(digest + (size_t)8 * i, state[i]);
}

void petal_sha1(struct sha_message of, uint8_t *digest)
{
    static const struct sha sha1 = {
        4, 20, compress_1, {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}};
    digest_of(&sha1, of, digest);
}

/* The initial values of SHA-256 and SHA-512 come from the square roots of the first eight primes,
 * and SHA-384's come from the next eight primes. */
void petal_sha256(struct sha_message of, uint8_t *digest)
{
    static const struct sha sha256 = {4,
                                      32,
                                      compress_256,
                                      {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                       0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u}};
    digest_of(&sha256, of, digest);
}

void petal_sha384(struct sha_message of, uint8_t *digest)
{
    static const struct sha sha384 = {
        8,
        48,
        compress_512,
        {0xcbbb9d5dc1059ed8u, 0x629a292a367cd507u, 0x9159015a3070dd17u, 0x152fecd8f70e5939u,
         0x67332667ffc00b31u, 0x8eb44a8768581511u, 0xdb0c2e0d64f98fa7u, 0x47b5481dbefa4fa4u}};
    digest_of(&sha384, of, digest);
}

void petal_sha512(struct sha_message of, uint8_t *digest)
{
    static const struct sha sha512 = {
        8,
        64,
        compress_512,
        {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
         0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u}};
    digest_of(&sha512, of, digest);
}

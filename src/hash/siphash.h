/* siphash.h - SipHash with a 64-bit result (Aumasson and Bernstein, "SipHash: a fast short-input
 * PRF", 2012). SipHash is a keyed pseudorandom function: without the 128-bit secret, nobody can
 * predict or choose a key's bits. SipHash-c-d performs c rounds per word of input, and d rounds at
 * the end. */
#ifndef PETAL_HASH_SIPHASH_H
#define PETAL_HASH_SIPHASH_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>

struct sip {
    uint64_t v[4];
};

static inline struct sip sip_begin(const uint8_t secret[16])
{
    uint64_t k0 = load64le(secret), k1 = load64le(secret + 8);
    return (struct sip){{k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
                         k0 ^ 0x6c7967656e657261u,
                         k1 ^ 0x7465646279746573u}}; /* "somepseudorandomlygeneratedbytes" */
}

static inline void sip_rounds(struct sip *sip, int rounds)
{
    uint64_t *v = sip->v;
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = rotl64(v[1], 13) ^ v[0];
        v[0] = rotl64(v[0], 32);
        v[2] += v[3];
        v[3] = rotl64(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotl64(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotl64(v[1], 17) ^ v[2];
        v[2] = rotl64(v[2], 32);
    }
}

static inline void sip_absorb(struct sip *sip, uint64_t word, int rounds)
{
    sip->v[3] ^= word;
    sip_rounds(sip, rounds);
    sip->v[0] ^= word;
}

/* Returns the last word, which contains the remaining 0 to 7 bytes, and, in the top byte, the
 * length of the whole input mod 256. */
static inline uint64_t sip_last_word(const uint8_t *tail, size_t tail_bytes, size_t input_bytes)
{
    uint64_t word = (uint64_t)input_bytes << 56;
    for (size_t i = 0; i < tail_bytes; i++) word |= (uint64_t)tail[i] << 8 * i;
    return word;
}

static inline uint64_t sip_end(struct sip *sip, int rounds)
{
    sip->v[2] ^= 0xff;
    sip_rounds(sip, rounds);
    return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}

/* SipHash-2-4. */
uint64_t petal_siphash24(const void *data, size_t size_bytes, const uint8_t secret[16]);

#endif

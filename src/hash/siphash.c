/* siphash.c - see siphash.h. Written from the paper: four 64-bit words of state, two rounds for
 * each 8-byte word of input (little-endian), the last word filled up with zeros and the length mod
 * 256 in its top byte, four closing rounds. */
#include "hash/siphash.h"

#include "base/bytes.h"
#include "hash/hash.h"

static inline void sip_round(uint64_t v[4])
{
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

static inline void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

static uint64_t last_word(const uint8_t *tail, size_t size_bytes)
{
    uint64_t word = (uint64_t)size_bytes << 56;
    for (size_t i = 0; i < size_bytes % 8; i++) word |= (uint64_t)tail[i] << 8 * i;
    return word;
}

uint64_t petal_siphash24(const void *data, size_t size_bytes, const uint8_t secret[16])
{
    const uint8_t *at = data;
    size_t whole_bytes = size_bytes - size_bytes % 8;
    uint64_t k0 = load64le(secret), k1 = load64le(secret + 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u}; /* "somepseudorandomlygeneratedbytes" */
    for (size_t i = 0; i < whole_bytes; i += 8) absorb(v, load64le(at + i));
    absorb(v, last_word(size_bytes % 8 ? at + whole_bytes : at, size_bytes));
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    words[0] = petal_siphash24(data, size_bytes, with->secret);
}

const struct hash_def petal_hash_siphash = {
    .id = PETAL_HASH_SIPHASH, .name = "siphash", .keyed = true, .words = 1, .compute = compute};

/* siphash.c - see siphash.h. The code is implemented from the paper. The state consists of four
 * 64-bit words, and each 8-byte little-endian word of input takes two rounds. The last word is
 * padded with zeros, and its top byte is the length mod 256. Four final rounds complete the
 * hash. */
#include "hash/siphash.h"

#include "hash/hash.h"

uint64_t petal_siphash24(const void *data, size_t size_bytes, const uint8_t secret[16])
{
    const uint8_t *at = data;
    size_t whole_bytes = size_bytes - size_bytes % 8;
    struct sip sip = sip_begin(secret);
    for (size_t i = 0; i < whole_bytes; i += 8) sip_absorb(&sip, load64le(at + i), 2);
    sip_absorb(
        &sip, sip_last_word(size_bytes % 8 ? at + whole_bytes : at, size_bytes % 8, size_bytes), 2);
    return sip_end(&sip, 4);
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    words[0] = petal_siphash24(data, size_bytes, with->secret);
}

const struct hash_def petal_hash_siphash = {
    .id = PETAL_HASH_SIPHASH, .name = "siphash", .keyed = true, .words = 1, .compute = compute};

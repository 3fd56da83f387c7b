/* valkey_bloom_hash.c - valkey-bloom's pair of hashes, from the Rust crate bloomfilter: SipHash-1-3
 * of the key with each half of a 32-byte seed. Rust hashes a slice as its 64-bit length followed by
 * its bytes, so "foo" is 03 00 00 00 00 00 00 00 66 6f 6f. On a big-endian machine, Rust hashes the
 * length in big-endian order. Petal always hashes a little-endian length. */
#include "hash/hash.h"
#include "hash/siphash.h"

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    struct sip one = sip_begin(with->secret), other = sip_begin(with->secret + 16);
    sip_absorb(&one, size_bytes, 1);
    sip_absorb(&other, size_bytes, 1);
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word = load64le(at);
        sip_absorb(&one, word, 1);
        sip_absorb(&other, word, 1);
    }
    uint64_t last = sip_last_word(at, left, 8 + size_bytes);
    sip_absorb(&one, last, 1);
    sip_absorb(&other, last, 1);
    words[0] = sip_end(&one, 3);
    words[1] = sip_end(&other, 3);
}

const struct hash_def petal_hash_valkey_bloom = {.id = PETAL_HASH_VALKEY_BLOOM,
                                                 .name = "valkey-bloom",
                                                 .long_seed = true,
                                                 .words = 2,
                                                 .compute = compute};

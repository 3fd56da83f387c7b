/* hash.h - the first axis: key bytes -> a hash of one or more 64-bit words. One table row for each hash; adding one is one
 * file and one row. */
#ifndef PETAL_HASH_HASH_H
#define PETAL_HASH_HASH_H

#include "base/bytes.h"
#include "petal/petal.h"

#include <stddef.h>
#include <stdint.h>

/* No hash gives more words for a key. */
#define PETAL_HASH_MAX_WORDS 256u

/* What a hash needs beside the key. */
struct hash_key {
    uint64_t seed;
    uint8_t secret[PETAL_SECRET_BYTES];
    uint32_t hashes; /* k and m of the layer: for hashes that depend on them */
    uint64_t bits;
};

struct hash_def {
    petal_hash id;
    const char *name;
    bool keyed; /* takes the secret, not the seed */
    uint32_t
        words; /* that compute() writes; 0: one for each of the layer's k, so that each layer has a hash of its own */
    void (*compute)(const struct hash_key *with, const void *data, size_t size_bytes, uint64_t *words);
};

/* The row of a hash, or NULL. */
const struct hash_def *petal_hash_find(petal_hash id);

/* MurmurHash3's 64-bit finaliser (public domain, Austin Appleby): a bijection that mixes every bit into every bit. */
static inline uint64_t fmix64(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* What a file keeps of a secret: an id to name it by, and a value that tells a wrong one. Both are SipHash of a fixed
 * text under the secret, so they give nothing of it away. */
uint32_t petal_secret_id(const uint8_t secret[PETAL_SECRET_BYTES]);
uint64_t petal_secret_check(const uint8_t secret[PETAL_SECRET_BYTES]);

/* The hashes of other libraries' filters, each in its own file. */
void petal_murmur3_x64_128(const void *data, size_t size_bytes, uint64_t seed, uint64_t words[2]);
void petal_murmur3_twice(const void *data, size_t size_bytes,
                         uint64_t words[4]); /* of data, and of data with 0x01 behind */
void petal_murmur3_cassandra(const void *data, size_t size_bytes, uint64_t words[2]);
uint32_t petal_murmur3_x86_32(const void *data, size_t size_bytes, uint32_t seed);
uint32_t petal_murmur3_spark(const void *data, size_t size_bytes, uint32_t seed);
uint64_t petal_xxh64(const void *data, size_t size_bytes, uint64_t seed);
uint64_t petal_murmur64a(const void *data, size_t size_bytes, uint64_t seed);
/* Of the seed, and of the first hash as the seed. */
void petal_murmur64a_pair(const void *data, size_t size_bytes, uint64_t seed, uint64_t hashes[2]);
uint32_t petal_murmur2(const void *data, size_t size_bytes, uint32_t seed);
uint64_t petal_orc_of_bytes(const void *data, size_t size_bytes);
uint64_t petal_orc_of_long(uint64_t x);
uint64_t petal_fnv1(const void *data, size_t size_bytes);
uint32_t petal_leveldb_hash(const void *data, size_t size_bytes);
uint64_t petal_xxph3(const void *data, size_t size_bytes);
uint32_t petal_murmur2_hadoop(const void *data, size_t size_bytes, uint32_t seed);
uint32_t petal_murmur2_hbase(const void *data, size_t size_bytes, uint32_t seed);
uint32_t petal_jenkins(const void *data, size_t size_bytes, uint32_t seed);
uint64_t petal_fnv1a_utf16(const void *data, size_t size_bytes);
uint64_t petal_js_tutorial_hash(const void *data, size_t size_bytes);

/* That of bloom-filters, and its seed where a filter is given none. */
#define PETAL_BLOOM_FILTERS_SEED 0x1234567890u
uint64_t petal_bloom_filters_hash(const void *data, size_t size_bytes, uint64_t seed);

/* XXH3_64bits with a seed, for checksums too. */
uint64_t petal_xxh3(const void *data, size_t size_bytes, uint64_t seed);

/* What a seed does to keys of 8 bytes in petal_inline_xxh3(): bytes 8 to 24 of XXH3's default secret, less the seed with its low half
 * byte-swapped on top. */
static inline uint64_t petal_xxh3_seed_flip(uint64_t seed)
{
    return (0x1cad21f72c81017cu ^ 0xdb979083e96dd4deu) - (seed ^ (uint64_t)swap32((uint32_t)seed) << 32);
}

/* XXH3 of the 8 little-endian bytes of each number, several at a time. */
void petal_xxh3_i64(const int64_t *keys, size_t count, uint64_t seed, uint64_t *hashes);

#endif

/* pybloom_hash.c - the hash of pybloom_live 4. It consists of one number for each of the k slices.
 * The numbers are consecutive chunks of as many digests as necessary.
 *
 *     chunk  = 2, 4 or 8 bytes for slices below 2^15, below 2^31, and larger
 *     H      = by the total size of k chunks in bits: up to 128 XXH3-128 (big-endian, canonical),
 *              up to 160 SHA-1, 256 SHA-256, 384 SHA-384, more SHA-512
 *     digest = H(H(LE32(s)) || key) for s = 0, 1, ...; its chunks, little-endian, are the numbers
 *
 * docs/formats/pybloom.md. */
#include "hash/foreign/pybloom.h"

#include "base/bytes.h"
#include "hash/foreign/sha.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAX_DIGEST_BYTES 64u

struct digest {
    uint32_t size_bytes;
    void (*compute)(struct sha_message of, uint8_t *digest);
    uint8_t first_salt[MAX_DIGEST_BYTES]; /* H(LE32(0)), the only salt that most filters need */
};

static void xxh3_128(struct sha_message of, uint8_t *digest)
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    XXH3_128bits_reset(&state);
    if (of.prefix_bytes) XXH3_128bits_update(&state, of.prefix, of.prefix_bytes);
    if (of.data_bytes) XXH3_128bits_update(&state, of.data, of.data_bytes);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
}

static const struct digest digests[] = {
    {16,
     xxh3_128,
     {0x2a, 0x33, 0x81, 0x6e, 0xd7, 0xe0, 0xc3, 0x73, 0xdb, 0xe5, 0x63, 0xc7, 0x37, 0x22, 0x0b,
      0x65}},
    {20, petal_sha1, {0x90, 0x69, 0xca, 0x78, 0xe7, 0x45, 0x0a, 0x28, 0x51, 0x73,
                      0x43, 0x1b, 0x3e, 0x52, 0xc5, 0xc2, 0x52, 0x99, 0xe4, 0x73}},
    {32, petal_sha256, {0xdf, 0x3f, 0x61, 0x98, 0x04, 0xa9, 0x2f, 0xdb, 0x40, 0x57, 0x19,
                        0x2d, 0xc4, 0x3d, 0xd7, 0x48, 0xea, 0x77, 0x8a, 0xdc, 0x52, 0xbc,
                        0x49, 0x8c, 0xe8, 0x05, 0x24, 0xc0, 0x14, 0xb8, 0x11, 0x19}},
    {48, petal_sha384, {0x39, 0x43, 0x41, 0xb7, 0x18, 0x2c, 0xd2, 0x27, 0xc5, 0xc6, 0xb0, 0x7e,
                        0xf8, 0x00, 0x0c, 0xdf, 0xd8, 0x61, 0x36, 0xc4, 0x29, 0x2b, 0x8e, 0x57,
                        0x65, 0x73, 0xad, 0x7e, 0xd9, 0xae, 0x41, 0x01, 0x9f, 0x58, 0x18, 0xb4,
                        0xb9, 0x71, 0xc9, 0xef, 0xfc, 0x60, 0xe1, 0xad, 0x9f, 0x12, 0x89, 0xf0}},
    {64, petal_sha512, {0xec, 0x2d, 0x57, 0x69, 0x1d, 0x9b, 0x2d, 0x40, 0x18, 0x2a, 0xc5,
                        0x65, 0x03, 0x20, 0x54, 0xb7, 0xd7, 0x84, 0xba, 0x96, 0xb1, 0x8b,
                        0xcb, 0x5b, 0xe0, 0xbb, 0x4e, 0x70, 0xe3, 0xfb, 0x04, 0x1e, 0xff,
                        0x58, 0x2c, 0x8a, 0xf6, 0x6e, 0xe5, 0x02, 0x56, 0x53, 0x9f, 0x21,
                        0x81, 0xd7, 0xf9, 0xe5, 0x36, 0x27, 0xc0, 0x18, 0x9d, 0xa7, 0xe7,
                        0x5a, 0x4d, 0x5e, 0xf1, 0x0e, 0xa9, 0x3b, 0x20, 0xb3}},
};

static uint32_t chunk_bytes_of(uint64_t slice_bits)
{
    if (slice_bits >= (uint64_t)1 << 31) return 8;
    return slice_bits >= (uint64_t)1 << 15 ? 4 : 2;
}

static const struct digest *digest_for(uint32_t slices, uint64_t slice_bits)
{
    const struct digest *digest = digests, *last = digests + sizeof digests / sizeof *digests - 1;
    uint32_t wanted_bytes = slices * chunk_bytes_of(slice_bits);
    while (digest < last && digest->size_bytes < wanted_bytes) digest++;
    return digest;
}

uint32_t petal_pybloom_chunk_bits(uint64_t slice_bits)
{
    return 8 * chunk_bytes_of(slice_bits);
}

static uint64_t load_chunk(const uint8_t *from, uint32_t size_bytes)
{
    uint8_t padded[8] = {0};
    memcpy(padded, from, size_bytes);
    return load64le(padded);
}

static void compute_digest(const struct digest *with, uint32_t number, const void *data,
                           size_t size_bytes, uint8_t *digest)
{
    uint8_t counter[4], salt[MAX_DIGEST_BYTES];
    store32le(counter, number);
    if (number > 0) with->compute((struct sha_message){NULL, 0, counter, sizeof counter}, salt);
    with->compute((struct sha_message){number > 0 ? salt : with->first_salt, with->size_bytes, data,
                                       size_bytes},
                  digest);
}

void petal_pybloom_hash(uint32_t slices, uint64_t slice_bits, const void *data, size_t size_bytes,
                        uint64_t *words)
{
    const struct digest *with = digest_for(slices, slice_bits);
    uint32_t chunk_bytes = chunk_bytes_of(slice_bits), chunks = with->size_bytes / chunk_bytes;
    uint8_t digest[MAX_DIGEST_BYTES];
    for (uint32_t i = 0; i < slices; i++) {
        if (i % chunks == 0) compute_digest(with, i / chunks, data, size_bytes, digest);
        words[i] = load_chunk(digest + (size_t)(i % chunks) * chunk_bytes, chunk_bytes);
    }
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    petal_pybloom_hash(with->hashes, with->bits / with->hashes, data, size_bytes, words);
}

const struct hash_def petal_hash_pybloom = {
    .id = PETAL_HASH_PYBLOOM, .name = "pybloom", .compute = compute};

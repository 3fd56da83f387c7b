/* pybloom.c - the hash of pybloom_live 4: one number for each of the k slices, cut from as many digests as it takes.
 *
 *     chunk  = 2, 4 or 8 bytes for slices below 2^15, below 2^31, and from there on
 *     H      = by the bits that k chunks have: up to 128 XXH3-128 (big-endian, its canonical form), up to 160 SHA-1,
 *              256 SHA-256, 384 SHA-384, more SHA-512
 *     digest = H(H(LE32(s)) || key) for s = 0, 1, ...; its chunks, little-endian, are the numbers
 *
 * SHA is libcrypto's. Its older functions are used, not EVP: they neither allocate nor fail, and adding a key must not
 * either. docs/formats/pybloom.md. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "hash/pybloom.h"

#include "base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef PETAL_WITH_CRYPTO
#include <openssl/sha.h>
#endif

#define MOST_DIGEST_BYTES 64u

struct digest {
    const char *name;
    uint32_t size_bytes;
    /* Of the salt, which is null for none, and the data behind it. NULL: not in this build. */
    void (*compute)(const uint8_t *salt, const void *data, size_t size_bytes, uint8_t *digest);
};

static void xxh3_128(const uint8_t *salt, const void *data, size_t size_bytes, uint8_t *digest)
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    XXH3_128bits_reset(&state);
    if (salt) XXH3_128bits_update(&state, salt, sizeof canonical.digest);
    if (size_bytes) XXH3_128bits_update(&state, data, size_bytes);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
}

#ifdef PETAL_WITH_CRYPTO
#define SHA_FUNCTION(function, size, context, prefix) \
    static void function(const uint8_t *salt, const void *data, size_t size_bytes, uint8_t *digest) \
    { \
        context state; \
        prefix##_Init(&state); \
        if (salt) prefix##_Update(&state, salt, size); \
        if (size_bytes) prefix##_Update(&state, data, size_bytes); \
        prefix##_Final(digest, &state); \
    }
SHA_FUNCTION(sha1, 20, SHA_CTX, SHA1)
SHA_FUNCTION(sha256, 32, SHA256_CTX, SHA256)
SHA_FUNCTION(sha384, 48, SHA512_CTX, SHA384)
SHA_FUNCTION(sha512, 64, SHA512_CTX, SHA512)
#define SHA(function) function
#else
#define SHA(function) NULL
#endif

static const struct digest digests[] = {
    {"XXH3-128", 16, xxh3_128},   {"SHA-1", 20, SHA(sha1)},     {"SHA-256", 32, SHA(sha256)},
    {"SHA-384", 48, SHA(sha384)}, {"SHA-512", 64, SHA(sha512)},
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

const char *petal_pybloom_missing(uint32_t slices, uint64_t slice_bits)
{
    const struct digest *digest = digest_for(slices, slice_bits);
    return digest->compute ? NULL : digest->name;
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

static void compute_digest(const struct digest *with, uint32_t number, const void *data, size_t size_bytes,
                           uint8_t *digest)
{
    uint8_t counter[4], salt[MOST_DIGEST_BYTES];
    store32le(counter, number);
    with->compute(NULL, counter, sizeof counter, salt);
    with->compute(salt, data, size_bytes, digest);
}

void petal_pybloom_hash(uint32_t slices, uint64_t slice_bits, const void *data, size_t size_bytes, uint64_t *words)
{
    const struct digest *with = digest_for(slices, slice_bits);
    uint32_t chunk_bytes = chunk_bytes_of(slice_bits), chunks = with->size_bytes / chunk_bytes;
    uint8_t digest[MOST_DIGEST_BYTES];
    for (uint32_t i = 0; i < slices; i++) {
        if (i % chunks == 0) compute_digest(with, i / chunks, data, size_bytes, digest);
        words[i] = load_chunk(digest + (size_t)(i % chunks) * chunk_bytes, chunk_bytes);
    }
}

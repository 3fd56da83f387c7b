/* murmur64a.c - MurmurHash64A, the 64-bit form of MurmurHash2 (Austin Appleby, public domain). Written from its definition: words
 * are little-endian on every machine; a tail of up to 7 bytes is filled up with zeros; bytes are unsigned. Used by RedisBloom. */
#include "base/bytes.h"
#include "hash/hash.h"

#define M 0xc6a4a7935bd1e995u

static inline uint64_t mix(uint64_t word)
{
    word *= M;
    return (word ^ word >> 47) * M;
}

/* Takes up the tail, which may be empty. */
static inline uint64_t finished(uint64_t h, uint64_t tail, size_t tail_bytes)
{
    if (tail_bytes) h = (h ^ tail) * M;
    h = (h ^ h >> 47) * M;
    return h ^ h >> 47;
}

uint64_t petal_murmur64a(const void *data, size_t size_bytes, uint64_t seed)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h = seed ^ (size_bytes * M);
    for (; left >= 8; left -= 8, at += 8) h = (h ^ mix(load64le(at))) * M;
    return finished(h, load_tail64le(at, left), left);
}

/* The mixed words are the same for both hashes, and most of the work; those of short keys are kept. */
#define KEPT_WORDS 16u

void petal_murmur64a_pair(const void *data, size_t size_bytes, uint64_t seed, uint64_t hashes[2])
{
    const uint8_t *at = data;
    size_t words = size_bytes / 8, left = size_bytes % 8;
    uint64_t mixed[KEPT_WORDS], start = size_bytes * M, first = seed ^ start;
    if (words > KEPT_WORDS) {
        hashes[0] = petal_murmur64a(data, size_bytes, seed);
        hashes[1] = petal_murmur64a(data, size_bytes, hashes[0]);
        return;
    }
    for (size_t i = 0; i < words; i++) first = (first ^ (mixed[i] = mix(load64le(at + 8 * i)))) * M;
    uint64_t tail = load_tail64le(at + 8 * words, left);
    hashes[0] = finished(first, tail, left);
    uint64_t second = hashes[0] ^ start;
    for (size_t i = 0; i < words; i++) second = (second ^ mixed[i]) * M;
    hashes[1] = finished(second, tail, left);
}

/* javascript.c - the hashes of two JavaScript filters, which go over the UTF-16 code units of a string; the key is its
 * UTF-8 (src/base/utf16.h).
 *
 *     npm bloomfilter    FNV-1a of 64 bits; each unit is xored into the low 16 bits, and then one multiplication
 *     js-tutorial        h1 = h1 * 31 + unit, h2 = h2 * 17 ^ unit, both mod 2^32 and from 0
 *
 * docs/formats/bloomfilter.md, docs/formats/js-tutorial.md. */
#include "base/utf16.h"
#include "hash/hash.h"

#define FNV64_OFFSET 0xcbf29ce484222325u
#define FNV64_PRIME 0x00000100000001b3u

uint64_t petal_fnv1a_utf16(const void *data, size_t size_bytes)
{
    struct utf16_reader from = utf16_from(data, size_bytes);
    uint64_t h = FNV64_OFFSET;
    uint16_t unit;
    while (utf16_next(&from, &unit)) h = (h ^ unit) * FNV64_PRIME;
    return h;
}

/* h1 in the low half, h2 in the high half. */
uint64_t petal_js_tutorial_hash(const void *data, size_t size_bytes)
{
    struct utf16_reader from = utf16_from(data, size_bytes);
    uint32_t h1 = 0, h2 = 0;
    uint16_t unit;
    while (utf16_next(&from, &unit)) {
        h1 = h1 * 31 + unit;
        h2 = h2 * 17 ^ unit;
    }
    return h1 | (uint64_t)h2 << 32;
}

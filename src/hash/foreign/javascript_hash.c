/* javascript_hash.c - the hashes of two JavaScript Bloom filters. Both hash the UTF-16 code units
 * of a string. In Petal, the key is the same string in UTF-8 (src/base/utf16.h).
 *
 *     npm bloomfilter    64-bit FNV-1a; each unit is xored into the low 16 bits, followed by one
 *                        multiplication
 *     js-tutorial        h1 = h1 * 31 + unit, h2 = h2 * 17 ^ unit, both mod 2^32, starting from 0
 *
 * docs/formats/bloomfilter.md, docs/formats/js-tutorial.md. */
#include "base/utf16.h"
#include "hash/hash.h"

#define FNV64_OFFSET 0xcbf29ce484222325u
#define FNV64_PRIME 0x00000100000001b3u

static void compute_fnv1a(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    (void)with;
    struct utf16_reader from = utf16_from(data, size_bytes);
    uint64_t h = FNV64_OFFSET;
    uint16_t unit;
    while (utf16_next(&from, &unit)) h = (h ^ unit) * FNV64_PRIME;
    words[0] = h;
}

const struct hash_def petal_hash_fnv1a_utf16 = {
    .id = PETAL_HASH_FNV1A_UTF16, .name = "fnv1a-utf16", .words = 1, .compute = compute_fnv1a};

/* Returns h1 in the low half, and h2 in the high half. This function is not inlined, because the
 * pointer `words` would occupy a register in the loop. */
static __attribute__((noinline)) uint64_t js_tutorial(const void *data, size_t size_bytes)
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

static void compute_js_tutorial(const struct hash_key *with, const void *data, size_t size_bytes,
                                uint64_t *words)
{
    (void)with;
    words[0] = js_tutorial(data, size_bytes);
}

const struct hash_def petal_hash_js_tutorial = {.id = PETAL_HASH_JS_TUTORIAL,
                                                .name = "js-tutorial",
                                                .words = 1,
                                                .compute = compute_js_tutorial};

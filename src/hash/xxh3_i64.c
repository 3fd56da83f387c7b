/* xxh3_i64.c - computes XXH3 for many 8-byte keys in one call. One version uses the form in
 * petal_inline.h, which compilers vectorize, and another version is for AVX2. tests/unit/hashes.c
 * checks that the results equal libxxhash's.
 *
 *     x = the 8 bytes, first half times 2^32 + second half
 *     h = x ^ (secret[8..16] ^ secret[16..24]) - (seed ^ byte-swapped low half of seed, times 2^32)
 *     h = h ^ rotl(h, 49) ^ rotl(h, 24);  h *= P;  h ^= (h >> 35) + 8;  h *= P;  h ^= h >> 28 */
#include "base/bytes.h"
#include "base/cpu.h"
#include "hash/hash.h"
#include "petal/petal_inline.h"
#if defined(__x86_64__) && defined(__GNUC__)
#include "hash/xxh3_avx2.h"
#endif

static inline void hash_all(const int64_t *keys, size_t count, uint64_t flip, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++) hashes[i] = petal_inline_xxh3((uint64_t)keys[i], flip);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void hash_all_avx2(const int64_t *keys, size_t count,
                                                          uint64_t flip, uint64_t *hashes)
{
    xxh3_of_numbers(keys, count, flip, hashes);
}

/* Hashes eight numbers at a time. AVX512DQ is required to multiply 64-bit lanes. */
__attribute__((target("avx512f,avx512dq,avx512vl"))) static void
hash_all_avx512(const int64_t *keys, size_t count, uint64_t flip, uint64_t *hashes)
{
    hash_all(keys, count, flip, hashes);
}
#endif

void petal_xxh3_i64(const int64_t *keys, size_t count, uint64_t seed, uint64_t *hashes)
{
    uint64_t flip = petal_xxh3_seed_flip(seed);
#if defined(__x86_64__) && defined(__GNUC__)
    if (petal_cpu_has(CPU_AVX512)) {
        hash_all_avx512(keys, count, flip, hashes);
        return;
    }
    if (petal_cpu_has(CPU_AVX2)) {
        hash_all_avx2(keys, count, flip, hashes);
        return;
    }
#endif
    hash_all(keys, count, flip, hashes);
}

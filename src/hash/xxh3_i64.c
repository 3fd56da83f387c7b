/* xxh3_i64.c - XXH3 of many 8-byte keys at once: the branch of XXH3_64bits_withSeed for 4 to 8 bytes, written out for a length of
 * 8 so that a compiler turns the loop into vector instructions. The same values (tests/unit/hashes.c).
 *
 *     x = the 8 bytes, first half times 2^32 + second half
 *     h = x ^ (secret[8..16] ^ secret[16..24]) - (seed ^ byte-swapped low half of seed, times 2^32)
 *     h = h ^ rotl(h, 49) ^ rotl(h, 24);  h *= P;  h ^= (h >> 35) + 8;  h *= P;  h ^= h >> 28 */
#include "base/bytes.h"
#include "hash/hash.h"

#define P 0x9fb21c651e98df25u

/* Two words of XXH3's default secret, at bytes 8 and 16. */
#define SECRET_8 0x1cad21f72c81017cu
#define SECRET_16 0xdb979083e96dd4deu

static inline uint64_t hash_one(uint64_t key, uint64_t flip)
{
    uint64_t h = rotl64(key, 32) ^ flip;
    h = (h ^ rotl64(h, 49) ^ rotl64(h, 24)) * P;
    h = (h ^ ((h >> 35) + 8)) * P;
    return h ^ h >> 28;
}

static inline void hash_all(const int64_t *keys, size_t count, uint64_t flip, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++) hashes[i] = hash_one((uint64_t)keys[i], flip);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Eight at a time: only AVX512DQ multiplies 64-bit lanes. */
__attribute__((target("avx512f,avx512dq,avx512vl"))) static void hash_all_avx512(const int64_t *keys, size_t count,
                                                                                 uint64_t flip, uint64_t *hashes)
{
    hash_all(keys, count, flip, hashes);
}

static bool has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

void petal_xxh3_i64(const int64_t *keys, size_t count, uint64_t seed, uint64_t *hashes)
{
    uint64_t flip = (SECRET_8 ^ SECRET_16) - (seed ^ (uint64_t)swap32((uint32_t)seed) << 32);
#if defined(__x86_64__) && defined(__GNUC__)
    if (has_avx512()) {
        hash_all_avx512(keys, count, flip, hashes);
        return;
    }
#endif
    hash_all(keys, count, flip, hashes);
}

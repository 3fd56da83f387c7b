/* xxh3_avx2.h - computes petal_inline_xxh3() for four numbers at a time. AVX2 can neither rotate
 * nor multiply 64-bit lanes, so compilers generate 34 instructions for four numbers. This code uses
 * 24 instructions. */
#ifndef PETAL_HASH_XXH3_AVX2_H
#define PETAL_HASH_XXH3_AVX2_H

#include "petal/petal_inline.h"

#include <immintrin.h>

#define XXH3_AVX2 static inline __attribute__((always_inline, target("avx2")))

/* Returns the low 64 bits of h times the prime. AVX2 multiplies 32-bit halves. The product of the
 * low halves has 64 bits. Only the low 32 bits of the two products low * high and high * low
 * matter, and they are added to the upper half. */
XXH3_AVX2 __m256i xxh3_times_prime(__m256i h)
{
    const __m256i prime = _mm256_set1_epi64x((long long)0x9fb21c651e98df25u);
    const __m256i swapped = _mm256_set1_epi64x(0x1e98df259fb21c65);
    const __m256i upper = _mm256_set1_epi64x((long long)0xffffffff00000000u);
    __m256i cross = _mm256_mullo_epi32(h, swapped);
    __m256i sum = _mm256_add_epi64(_mm256_slli_epi64(cross, 32), _mm256_and_si256(cross, upper));
    return _mm256_add_epi64(_mm256_mul_epu32(h, prime), sum);
}

/* Shuffles implement the rotations by 32 and by 8 bits. */
XXH3_AVX2 __m256i xxh3_of_four(__m256i keys, __m256i flip)
{
    const __m256i by_a_byte =
        _mm256_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8, 1, 2, 3, 4, 5, 6, 7,
                         0, 9, 10, 11, 12, 13, 14, 15, 8);
    __m256i h = _mm256_xor_si256(_mm256_slli_epi64(keys, 17), _mm256_srli_epi64(keys, 47));
    h = _mm256_xor_si256(h, _mm256_shuffle_epi32(keys, 0xb1));
    h = _mm256_xor_si256(h, _mm256_xor_si256(_mm256_shuffle_epi8(keys, by_a_byte), flip));
    h = xxh3_times_prime(h);
    h = _mm256_xor_si256(h, _mm256_add_epi64(_mm256_srli_epi64(h, 35), _mm256_set1_epi64x(8)));
    h = xxh3_times_prime(h);
    return _mm256_xor_si256(h, _mm256_srli_epi64(h, 28));
}

XXH3_AVX2 void xxh3_of_numbers(const int64_t *keys, size_t count, uint64_t flip, uint64_t *hashes)
{
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    size_t i = 0;
    for (; count - i >= 4; i += 4) {
        __m256i four = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        _mm256_storeu_si256((__m256i *)(void *)(hashes + i), xxh3_of_four(four, flips));
    }
    for (; i < count; i++) hashes[i] = petal_inline_xxh3((uint64_t)keys[i], flip);
}

#endif

/* blocked_avx2.c - `blocked` with AVX2: a line is two registers of eight words. For x86-64 CPUs from Haswell and Zen 1. */
#include "scheme/blocked_line.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))

static bool usable(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

/* One bit in each word of the pattern's half, zero elsewhere: `first` is the number of the half's first word. */
static inline TARGET __m256i bits_of(uint32_t x, uint32_t words, uint32_t first)
{
    const __m256i each = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)(salts + first));
    __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salt);
    __m256i bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
    __m256i chosen = _mm256_and_si256(_mm256_set1_epi32((int)(words >> first)), each);
    return _mm256_and_si256(bits, _mm256_cmpeq_epi32(chosen, each));
}

static inline TARGET __m256i load_half(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline TARGET bool half_add(uint8_t *at, __m256i bits)
{
    __m256i old = load_half(at);
    _mm256_storeu_si256((__m256i *)(void *)at, _mm256_or_si256(old, bits));
    return !_mm256_testc_si256(old, bits);
}

static inline TARGET bool line_add(uint8_t *line, uint32_t x, uint32_t hashes)
{
    uint32_t words = pattern_of(x, hashes);
    bool changed = half_add(line, bits_of(x, words, 0));
    return half_add(line + 32, bits_of(x, words, 8)) || changed;
}

static inline TARGET bool line_has(const uint8_t *line, uint32_t x, uint32_t hashes)
{
    uint32_t words = pattern_of(x, hashes);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(load_half(line), bits_of(x, words, 0)),
                                      _mm256_andnot_si256(load_half(line + 32), bits_of(x, words, 8)));
    return _mm256_testz_si256(missing, missing);
}

#define KERNEL_NAME "avx2"
#define KERNEL_SYMBOL petal_blocked_avx2
#include "scheme/blocked_kernel.inc"
#endif

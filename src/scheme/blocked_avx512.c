/* blocked_avx512.c - `blocked` with AVX-512: a line is one register, and the words of a key are its mask. For x86-64 CPUs with
 * AVX512F (Intel servers from Skylake, AMD from Zen 4). */
#include "scheme/blocked_line.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,bmi2")))

static bool usable(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2");
}

/* One bit in each word of the pattern, zero elsewhere. */
static inline TARGET __m512i bits_of(uint32_t x, __mmask16 words)
{
    __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)x), _mm512_loadu_si512(salts));
    return _mm512_maskz_sllv_epi32(words, _mm512_set1_epi32(1), _mm512_srli_epi32(product, 27));
}

static inline TARGET bool line_add(uint8_t *line, uint32_t x, uint32_t hashes)
{
    __mmask16 words = (__mmask16)pattern_of(x, hashes);
    __m512i bits = bits_of(x, words), old = _mm512_loadu_si512(line);
    _mm512_storeu_si512(line, _mm512_or_si512(old, bits));
    return _mm512_mask_testn_epi32_mask(words, old, bits) != 0;
}

static inline TARGET bool line_has(const uint8_t *line, uint32_t x, uint32_t hashes)
{
    __mmask16 words = (__mmask16)pattern_of(x, hashes);
    return _mm512_mask_testn_epi32_mask(words, _mm512_loadu_si512(line), bits_of(x, words)) == 0;
}

#define KERNEL_NAME "avx512"
#define KERNEL_SYMBOL petal_blocked_avx512
#include "scheme/blocked_kernel.inc"
#endif

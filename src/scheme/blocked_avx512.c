/* blocked_avx512.c - the kernel of `blocked` for AVX-512, where a line takes one register, and a
 * mask represents the words of a key. Hashing integers multiplies 64-bit lanes, which needs
 * AVX512DQ. The kernel runs on Intel servers from Skylake on, and on AMD CPUs from Zen 4 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX512
#define PETAL_INLINE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2")))
#include "base/cpu.h"
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX512 | CPU_BMI2 | CPU_POPCNT);
}

/* ---- eight keys at a time -------------------------------------------------------------------- */

/* Returns the word masks of eight keys, 16 bits each. The table row consists of 128 entries of 16
 * bits, which fill four registers. The low six of the seven bits of y select an entry in a pair of
 * registers, and the highest bit selects the pair. */
static inline PETAL_INLINE_TARGET __m128i words_of_eight(const uint16_t *row, __m512i hashes)
{
    const __m512i golden = _mm512_set1_epi64(PETAL_INLINE_GOLDEN), highest = _mm512_set1_epi64(64);
    __m512i y = _mm512_srli_epi32(_mm512_mullo_epi32(hashes, golden), 25);
    __m512i low =
        _mm512_permutex2var_epi16(_mm512_loadu_si512(row), y, _mm512_loadu_si512(row + 32));
    __m512i high =
        _mm512_permutex2var_epi16(_mm512_loadu_si512(row + 64), y, _mm512_loadu_si512(row + 96));
    return _mm512_cvtepi64_epi16(
        _mm512_mask_blend_epi64(_mm512_test_epi64_mask(y, highest), low, high));
}

/* Returns a mask of the line's words in which x's bit is clear, including words that don't belong
 * to the key. CPUs compute the result faster without an input mask. */
static inline PETAL_INLINE_TARGET __mmask16 clear_words(const uint8_t *line, uint32_t x)
{
    __m512i bits = _mm512_sllv_epi32(_mm512_set1_epi32(1), petal_inline_places(x));
    return _mm512_testn_epi32_mask(bits, _mm512_loadu_si512(line));
}

/* Packs eight masks into a vector. Storing the masks to memory and loading them as a vector would
 * take longer. */
static inline PETAL_INLINE_TARGET __m128i in_a_row(const __mmask16 *masks)
{
    __mmask32 first = _mm512_kunpackw(masks[1], masks[0]);
    __mmask32 second = _mm512_kunpackw(masks[3], masks[2]);
    __mmask32 third = _mm512_kunpackw(masks[5], masks[4]);
    __mmask32 fourth = _mm512_kunpackw(masks[7], masks[6]);
    return _mm_set_epi64x((long long)_mm512_kunpackd(fourth, third),
                          (long long)_mm512_kunpackd(second, first));
}

static inline __attribute__((always_inline)) PETAL_INLINE_TARGET size_t
has_eight(const uint8_t *lines, uint64_t line_count, const uint16_t *row, const uint64_t *hashes,
          uint8_t *results)
{
    __m128i words = words_of_eight(row, _mm512_loadu_si512(hashes));
    __mmask16 clear[8];
    for (unsigned i = 0; i < 8; i++) {
        const uint8_t *line = lines + mulhi64(hashes[i], line_count) * PETAL_LINE_BYTES;
        clear[i] = clear_words(line, (uint32_t)hashes[i]);
    }
    __mmask8 answers = _mm_testn_epi16_mask(in_a_row(clear), words);
    _mm_storel_epi64((__m128i *)(void *)results, _mm_maskz_set1_epi8(answers, 1));
    return (size_t)__builtin_popcount(answers);
}

#define HAS_EIGHT has_eight
#define RATE_TARGET __attribute__((target("avx2,popcnt")))
#define RATE_VECTOR_BYTES 32
#define BITS_OF_WORD(x) (int32_t) _mm_popcnt_u32(x)
#define KERNEL_NAME "avx512"
#define KERNEL_SYMBOL petal_blocked_avx512
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

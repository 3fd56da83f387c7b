/* blocked_avx2.c - the kernel of `blocked` for AVX2, where a line takes two registers of eight
 * words. It runs on x86-64 CPUs from Haswell and Zen 1 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX2
#define PETAL_INLINE_TARGET __attribute__((target("avx2,bmi2")))
#include "base/cpu.h"
#include "hash/xxh3_avx2.h"
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX2 | CPU_BMI2 | CPU_POPCNT);
}

#define HASH_NUMBERS xxh3_of_numbers

/* ---- eight keys at a time --------------------------------------------------------------------
 *
 * For one key, converting the answer to a byte and storing it takes almost as long as testing the
 * line. For eight keys together, converting and storing the answers needs only a third of the
 * instructions. */

/* Loads x from memory into all lanes. Compilers would copy x from a register, which takes two
 * instructions. */
static inline __attribute__((always_inline)) PETAL_INLINE_TARGET __m256i x_of(const uint64_t *hash)
{
    __m256i x;
    __asm__("vpbroadcastd %1, %0" : "=x"(x) : "m"(*hash));
    return x;
}

/* The two halves of a line, or the bits that a key needs in them. */
struct halves {
    __m256i low, high;
};

static inline __attribute__((always_inline)) PETAL_INLINE_TARGET struct halves
halves_of(const petal_inline_row *row, const uint64_t *hash)
{
    petal_inline_words words = petal_inline_row_words(row, (uint32_t)*hash);
    __m256i x = x_of(hash);
    return (struct halves){petal_inline_bits_of(x, words, 0), petal_inline_bits_of(x, words, 8)};
}

static inline __attribute__((always_inline)) PETAL_INLINE_TARGET struct halves
load_halves(const uint8_t *line)
{
    return (struct halves){petal_inline_load(line), petal_inline_load(line + 32)};
}

/* Returns the needed bits that are clear in the line, with both halves combined into eight lanes.
 * The asm forces the compiler to finish one key before the next, because there are too few
 * registers for eight keys. */
static inline __attribute__((always_inline)) PETAL_INLINE_TARGET __m256i
missing_bits(struct halves needed, struct halves line)
{
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(line.low, needed.low),
                                      _mm256_andnot_si256(line.high, needed.high));
    __asm__ volatile("" : "+x"(missing));
    return missing;
}

/* Returns a byte for each of eight keys: 0xff if no bit is missing, otherwise 0. Packing saturates,
 * so a nonzero lane stays nonzero. After two steps, each half of a key's register is 4 bytes. */
static inline __attribute__((always_inline)) PETAL_INLINE_TARGET __m128i
nothing_missing(const __m256i *missing)
{
    __m256i first = _mm256_packs_epi16(_mm256_packs_epi32(missing[0], missing[1]),
                                       _mm256_packs_epi32(missing[2], missing[3]));
    __m256i second = _mm256_packs_epi16(_mm256_packs_epi32(missing[4], missing[5]),
                                        _mm256_packs_epi32(missing[6], missing[7]));
    __m256i halves = _mm256_or_si256(_mm256_permute2x128_si256(first, second, 0x20),
                                     _mm256_permute2x128_si256(first, second, 0x31));
    __m256i none = _mm256_cmpeq_epi32(halves, _mm256_setzero_si256());
    __m128i pairs =
        _mm_packs_epi32(_mm256_castsi256_si128(none), _mm256_extracti128_si256(none, 1));
    return _mm_packs_epi16(pairs, pairs);
}

static inline __attribute__((always_inline)) PETAL_INLINE_TARGET size_t store_eight(__m128i results,
                                                                                    uint8_t *to)
{
    __m128i sum = _mm_sad_epu8(results, _mm_setzero_si128());
    _mm_storel_epi64((__m128i *)(void *)to, results);
    return (size_t)_mm_cvtsi128_si64(sum);
}

static inline __attribute__((always_inline)) PETAL_INLINE_TARGET size_t
has_eight(const uint8_t *lines, uint64_t line_count, const petal_inline_row *row,
          const uint64_t *hashes, uint8_t *results)
{
    __m256i missing[8];
    for (unsigned i = 0; i < 8; i++) {
        const uint8_t *line = lines + mulhi64(hashes[i], line_count) * PETAL_LINE_BYTES;
        missing[i] = missing_bits(halves_of(row, hashes + i), load_halves(line));
    }
    return store_eight(_mm_and_si128(nothing_missing(missing), _mm_set1_epi8(1)), results);
}

/* Adds the keys one after another, since two keys may use the same line. */
static inline __attribute__((always_inline)) PETAL_INLINE_TARGET size_t
add_eight(uint8_t *lines, uint64_t line_count, const petal_inline_row *row, const uint64_t *hashes,
          uint8_t *results)
{
    __m256i missing[8];
    for (unsigned i = 0; i < 8; i++) {
        uint8_t *line = lines + mulhi64(hashes[i], line_count) * PETAL_LINE_BYTES;
        struct halves needed = halves_of(row, hashes + i), old = load_halves(line);
        petal_inline_store(line, _mm256_or_si256(old.low, needed.low));
        petal_inline_store(line + 32, _mm256_or_si256(old.high, needed.high));
        missing[i] = missing_bits(needed, old);
    }
    return store_eight(_mm_add_epi8(nothing_missing(missing), _mm_set1_epi8(1)), results);
}

#define HAS_EIGHT has_eight
#define ADD_EIGHT add_eight
#define RATE_TARGET __attribute__((target("avx2,popcnt")))
#define RATE_VECTOR_BYTES 32
#define BITS_OF_WORD(x) (int32_t) _mm_popcnt_u32(x)
#define KERNEL_NAME "avx2"
#define KERNEL_SYMBOL petal_blocked_avx2
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

/* popcount.c - see popcount.h. Every x86-64 CPU since 2008 has the POPCNT instruction, but
 * compilers may not assume that, so __builtin_popcountll() calls a function for each word. With
 * AVX2, the counts of both halves of each byte are looked up in a table of 16 entries, 32 bytes at
 * a time (Mula 2008; Mula, Kurz and Lemire, "Faster population counts using AVX2 instructions",
 * 2018). */
#include "base/popcount.h"

#include "base/bytes.h"
#include "base/cpu.h"

static uint64_t count_portable(const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t count = 0, i = 0;
    for (; i + 8 <= size_bytes; i += 8) count += popcount64(load64le(bytes + i));
    return count + popcount64(load_tail64le(bytes + i, (size_t)(size_bytes - i)));
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define POPCNT __attribute__((target("popcnt")))
#define AVX2 __attribute__((target("avx2,popcnt")))

static POPCNT uint64_t count_popcnt(const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t count = 0, i = 0;
    for (; i + 8 <= size_bytes; i += 8) count += (uint64_t)_mm_popcnt_u64(load64le(bytes + i));
    return count + (uint64_t)_mm_popcnt_u64(load_tail64le(bytes + i, (size_t)(size_bytes - i)));
}

/* Counts the set bits of each byte. */
static inline AVX2 __m256i bits_of_bytes(const uint8_t *bytes)
{
    const __m256i bits_of_half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0,
                                                  1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4),
                  low_half = _mm256_set1_epi8(15);
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i low = _mm256_and_si256(x, low_half),
            high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low_half);
    return _mm256_add_epi8(_mm256_shuffle_epi8(bits_of_half, low),
                           _mm256_shuffle_epi8(bits_of_half, high));
}

/* A byte can hold the sum of the bit counts of 31 bytes. */
#define STEP_BYTES 256u

static AVX2 uint64_t count_avx2(const uint8_t *bytes, uint64_t size_bytes)
{
    __m256i sum = _mm256_setzero_si256();
    uint64_t i = 0;
    for (; i + STEP_BYTES <= size_bytes; i += STEP_BYTES) {
        __m256i step = bits_of_bytes(bytes + i);
        for (unsigned j = 32; j < STEP_BYTES; j += 32)
            step = _mm256_add_epi8(step, bits_of_bytes(bytes + i + j));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(step, _mm256_setzero_si256()));
    }
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)(void *)parts, sum);
    return parts[0] + parts[1] + parts[2] + parts[3] + count_popcnt(bytes + i, size_bytes - i);
}

const struct popcount_level petal_popcount_levels[] = {
    {"avx2", CPU_AVX2 | CPU_POPCNT, count_avx2},
    {"popcnt", CPU_POPCNT, count_popcnt},
    {"generic", 0, count_portable},
};

const struct popcount_level *petal_popcount_level(void)
{
    const struct popcount_level *level = petal_popcount_levels;
    while (!petal_cpu_has(level->needs)) level++;
    return level;
}

#else

const struct popcount_level petal_popcount_levels[] = {{"generic", 0, count_portable}};

const struct popcount_level *petal_popcount_level(void)
{
    return petal_popcount_levels;
}

#endif

uint64_t petal_popcount(const uint8_t *bytes, uint64_t size_bytes)
{
    return petal_popcount_level()->count(bytes, size_bytes);
}

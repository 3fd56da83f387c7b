/* static_avx2.c - the kernel of `static` for AVX2, where eight columns of 64 rows take two
 * registers. It runs on x86-64 CPUs from Haswell and Zen 1 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#include "base/cpu.h"
#include "base/memory.h"
#include "scheme/static.h"

#include <immintrin.h>

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX2 | CPU_BMI2 | CPU_POPCNT);
}

#define TARGET __attribute__((target("avx2,bmi2,popcnt")))
#define KERNEL_NAME "avx2"
#define KERNEL_SYMBOL petal_static_avx2
#define USABLE usable
#define GROUP_KEYS 4u
#include "scheme/static_kernel.inc"

/* Returns the bits in four columns that are summed for a key. */
TARGET static inline __m256i taken(const uint8_t *first, const uint8_t *second, __m256i low,
                                   __m256i high)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)first),
            b = _mm256_loadu_si256((const __m256i *)(const void *)second);
    return _mm256_xor_si256(_mm256_and_si256(a, low), _mm256_and_si256(b, high));
}

/* Returns eight columns as eight 32-bit words. Each word is the xor of the two halves of a column's
 * 64 rows. The words are in the order of columns 0 1 4 5 2 3 6 7. */
TARGET static inline __m256i halves(const uint8_t *first, const uint8_t *second, __m256i low,
                                    __m256i high)
{
    __m256 a = _mm256_castsi256_ps(taken(first, second, low, high)),
           b = _mm256_castsi256_ps(taken(first + 32, second + 32, low, high));
    return _mm256_castps_si256(
        _mm256_xor_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd)));
}

/* Returns the sum of column i as bit i of the result. Halves are xored until a single bit, the
 * highest one, contains the sum. */
TARGET static inline uint32_t sums_of(__m256i x)
{
    x = _mm256_permute4x64_epi64(x, 0xd8);
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 2));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 1));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(x));
}

/* The vector code always reads eight columns, so the end of the array is checked by
 * agree_one_by_one(). */
TARGET static inline bool all_agree(const struct bit_array *array, const struct question *question)
{
    const uint8_t *first = array->bytes + question->first,
                  *second = array->bytes + question->second;
    __m256i low = _mm256_set1_epi64x((long long)question->low),
            high = _mm256_set1_epi64x((long long)question->high);
    for (uint32_t i = 0; i < question->columns; i += 8, first += 64, second += 64) {
        if (array->size_bytes - question->second < 8 * (uint64_t)i + 64)
            return agree_one_by_one(array, question, i);
        uint32_t sums = sums_of(halves(first, second, low, high));
        if (_bzhi_u32((sums ^ question->sums >> i) & 0xff, question->columns - i)) return false;
    }
    return true;
}

/* ---- four keys of a batch -------------------------------------------------------------------- */

/* Returns the upper 64 bits of 64 x 64 bit products. */
TARGET static inline __m256i upper_product(__m256i a, __m256i b)
{
    __m256i a_high = _mm256_srli_epi64(a, 32), b_high = _mm256_srli_epi64(b, 32),
            half = _mm256_set1_epi64x(0xffffffff);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(a_high, b),
                                      _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32));
    __m256i other = _mm256_add_epi64(_mm256_mul_epu32(a, b_high), _mm256_and_si256(middle, half));
    return _mm256_add_epi64(
        _mm256_mul_epu32(a_high, b_high),
        _mm256_add_epi64(_mm256_srli_epi64(middle, 32), _mm256_srli_epi64(other, 32)));
}

/* Returns the upper 64 bits of the products if b has only 32 bits. */
TARGET static inline __m256i short_upper_product(__m256i a, __m256i b)
{
    return _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                              _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32)),
                             32);
}

TARGET static inline __m256i lower_product(__m256i a, __m256i b)
{
    __m256i across = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                      _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(across, 32));
}

TARGET static inline __m256i all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

TARGET static inline void keep(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

TARGET static inline __m256i kept(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Like question_of(). Page numbers have at most 32 bits, and offsets have at most 48 bits. */
TARGET static inline void ask(const struct bit_array *array, const uint64_t *hashes,
                              struct group *group)
{
    const struct static_pages *pages = &array->pages;
    __m256i hash = kept(hashes), start, number;
    if (array->shape.bits <= UINT32_MAX) {
        start = short_upper_product(hash, all(array->shape.bits));
        number = short_upper_product(all(pages->inverse), _mm256_srli_epi64(start, 7));
    } else {
        start = upper_product(hash, all(array->shape.bits));
        number = upper_product(_mm256_srli_epi64(start, 7), all(pages->inverse));
    }
    __m256i is_last = _mm256_cmpeq_epi64(number, all(pages->last_number));
    __m256i wide =
        _mm256_blendv_epi8(all(pages->full.wide_blocks), all(pages->last.wide_blocks), is_last);
    __m256i codes =
        _mm256_blendv_epi8(all(pages->full.code_bytes), all(pages->last.code_bytes), is_last);
    __m256i block = _mm256_sub_epi64(_mm256_srli_epi64(start, 6),
                                     _mm256_mul_epu32(number, all(static_full_blocks(array))));
    __m256i page = _mm256_slli_epi64(number, 16), columns = all(array->shape.hashes);
    __m256i own = _mm256_srli_epi64(block, 1), is_wide = _mm256_cmpgt_epi64(wide, block);
    keep(group->code, _mm256_add_epi64(page, _mm256_slli_epi64(_mm256_srli_epi64(own, 5), 3)));
    keep(group->code_shift, _mm256_and_si256(_mm256_slli_epi64(own, 1), all(63)));
    keep(group->offset, _mm256_and_si256(start, all(STATIC_BUCKET_STARTS - 1)));
    __m256i words = _mm256_add_epi64(_mm256_mul_epu32(block, columns),
                                     _mm256_blendv_epi8(wide, block, is_wide));
    __m256i first = _mm256_add_epi64(_mm256_add_epi64(page, codes), _mm256_slli_epi64(words, 3));
    keep(group->first, first);
    keep(group->second,
         _mm256_add_epi64(first, _mm256_slli_epi64(_mm256_sub_epi64(columns, is_wide), 3)));
    __m256i all_wide = _mm256_cmpgt_epi64(wide, _mm256_add_epi64(block, all(1)));
    uint64_t narrow = ((uint64_t)1 << array->shape.hashes) - 1;
    keep(group->there, _mm256_blendv_epi8(all(narrow), all(2 * narrow + 1), all_wide));
    __m256i mixed =
        lower_product(_mm256_xor_si256(hash, _mm256_srli_epi64(hash, 32)), all(STATIC_MIX));
    mixed = _mm256_xor_si256(mixed, _mm256_srli_epi64(mixed, 29));
    __m256i rows = _mm256_or_si256(mixed, all(1)),
            shift = _mm256_and_si256(start, all(STATIC_BLOCK_ROWS - 1));
    keep(group->low, _mm256_sllv_epi64(rows, shift));
    keep(group->high, _mm256_srlv_epi64(rows, _mm256_sub_epi64(all(STATIC_BLOCK_ROWS), shift)));
    keep(group->sums, _mm256_srli_epi64(lower_product(mixed, all(STATIC_GOLDEN)), 32));
}

/* Returns a mask of the keys that are bumped. */
TARGET static inline __m256i bumped(const struct bit_array *array, const struct group *group)
{
    __m256i words =
        _mm256_i64gather_epi64((const long long *)(const void *)array->bytes, kept(group->code), 1);
    __m256i code = _mm256_and_si256(_mm256_srlv_epi64(words, kept(group->code_shift)), all(3));
    __m256i below = _mm256_and_si256(
        _mm256_srlv_epi64(all(STATIC_THRESHOLDS), _mm256_slli_epi64(code, 3)), all(0xff));
    return _mm256_cmpgt_epi64(below, kept(group->offset));
}

/* Returns eight columns, starting with the given one, for key number i. */
TARGET static inline __m256i halves_of_key(const struct bit_array *array, const struct group *group,
                                           uint32_t i, uint32_t column)
{
    return halves(array->bytes + group->first[i] + 8 * (size_t)column,
                  array->bytes + group->second[i] + 8 * (size_t)column, all(group->low[i]),
                  all(group->high[i]));
}

/* Returns the sums of the first eight columns of four keys. The steps are the same as in sums_of(),
 * but the keys share registers: two keys use the two halves of a word, then four keys use its four
 * bytes. At the end, each byte contains one sum. */
TARGET static inline __m256i first_sums(const struct bit_array *array, const struct group *group)
{
    const __m256i by_key = _mm256_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15, 0,
                                            4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
    __m256i a = halves_of_key(array, group, 0, 0), b = halves_of_key(array, group, 1, 0),
            c = halves_of_key(array, group, 2, 0), d = halves_of_key(array, group, 3, 0);
    a = _mm256_blend_epi16(_mm256_xor_si256(a, _mm256_srli_epi32(a, 16)),
                           _mm256_xor_si256(b, _mm256_slli_epi32(b, 16)), 0xaa);
    c = _mm256_blend_epi16(_mm256_xor_si256(c, _mm256_srli_epi32(c, 16)),
                           _mm256_xor_si256(d, _mm256_slli_epi32(d, 16)), 0xaa);
    a = _mm256_blendv_epi8(_mm256_xor_si256(a, _mm256_srli_epi16(a, 8)),
                           _mm256_xor_si256(c, _mm256_slli_epi16(c, 8)),
                           _mm256_set1_epi16((short)0xff00));
    a = _mm256_xor_si256(a, _mm256_slli_epi16(a, 4));
    a = _mm256_xor_si256(a, _mm256_slli_epi16(a, 2));
    a = _mm256_xor_si256(a, _mm256_slli_epi16(a, 1));
    a = _mm256_shuffle_epi8(a, by_key); /* per key: columns 0 1 4 5, and 2 3 6 7 */
    __m128i low = _mm256_castsi256_si128(a), high = _mm256_extracti128_si256(a, 1);
    uint32_t sums = (uint32_t)_mm_movemask_epi8(_mm_unpacklo_epi16(low, high)) |
                    (uint32_t)_mm_movemask_epi8(_mm_unpackhi_epi16(low, high)) << 16;
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)sums));
}

/* Returns a mask of the keys with a wrong sum in one of the columns selected by `here`. */
TARGET static inline __m256i wrong(const struct group *group, __m256i sums, uint64_t here)
{
    __m256i differ = _mm256_and_si256(_mm256_xor_si256(sums, kept(group->sums)),
                                      _mm256_and_si256(kept(group->there), all(here)));
    return _mm256_xor_si256(_mm256_cmpeq_epi64(differ, _mm256_setzero_si256()), all(UINT64_MAX));
}

TARGET static inline uint32_t keys_of(__m256i mask)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(mask));
}

/* Expands four bits to bytes: bit i becomes byte i. */
static inline uint32_t bytes_of(uint32_t bits)
{
    return bits * 0x204081 & 0x01010101;
}

TARGET static inline void answer_group(const struct bit_array *array, const struct group *group,
                                       uint8_t *turns)
{
    uint32_t most = array->shape.hashes + 1;
    uint64_t read = (uint64_t)64 * ((most + 7) / 8);
    __m256i is_bumped = bumped(array, group);
    if (array->size_bytes < read ||
        keys_of(_mm256_cmpgt_epi64(kept(group->second), all(array->size_bytes - read)))) {
        for (uint32_t i = 0; i < GROUP_KEYS; i++) {
            struct question question = question_in(group, i);
            turns[i] = (uint8_t)answer(array, &question);
        }
        return;
    }
    __m256i sums = first_sums(array, group), is_out = wrong(group, sums, 0xff);
    for (uint32_t c = 8; c < most; c += 8) {
        uint64_t more[GROUP_KEYS] = {0};
        uint32_t left = keys_of(_mm256_or_si256(is_out, is_bumped)) ^ 0xf;
        for (; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            more[i] = (uint64_t)sums_of(halves_of_key(array, group, i, c)) << c;
        }
        sums = _mm256_or_si256(sums, kept(more));
        is_out = wrong(group, sums, UINT64_MAX >> (56 - c));
    }
    uint32_t in = keys_of(is_out) ^ 0xf, next = keys_of(is_bumped);
    store32le(turns, bytes_of(in & ~next) * TURN_IN | bytes_of(next) * TURN_NEXT);
}
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

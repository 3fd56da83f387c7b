/* static_avx512.c - the kernel of `static` for AVX-512, where eight columns of 64 rows take one
 * register. It runs on x86-64 CPUs from Ice Lake and Zen 4 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#include "base/cpu.h"
#include "base/memory.h"
#include "scheme/static.h"

#include <immintrin.h>

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX512 | CPU_VPOPCNT | CPU_BMI2);
}

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vpopcntdq,bmi2,popcnt")))
#define KERNEL_NAME "avx512"
#define KERNEL_SYMBOL petal_static_avx512
#define USABLE usable
#define GROUP_KEYS 8u
#include "scheme/static_kernel.inc"

/* Lanes after the last column are masked out, so no memory beyond it is read. */
TARGET static inline bool all_agree(const struct bit_array *array, const struct question *question)
{
    const uint8_t *first = array->bytes + question->first,
                  *second = array->bytes + question->second;
    __m512i low = _mm512_set1_epi64((long long)question->low),
            high = _mm512_set1_epi64((long long)question->high), one = _mm512_set1_epi64(1);
    for (uint32_t i = 0; i < question->columns; i += 8, first += 64, second += 64) {
        __mmask8 there = (__mmask8)_bzhi_u32(0xff, question->columns - i);
        __m512i taken =
            _mm512_xor_si512(_mm512_and_si512(_mm512_maskz_loadu_epi64(there, first), low),
                             _mm512_and_si512(_mm512_maskz_loadu_epi64(there, second), high));
        __mmask8 sums = _mm512_test_epi64_mask(_mm512_popcnt_epi64(taken), one);
        if ((sums ^ question->sums >> i) & there) return false;
    }
    return true;
}

/* ---- eight keys of a batch ------------------------------------------------------------------- */

TARGET static inline __m512i upper_product(__m512i a, __m512i b)
{
    __m512i a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32),
            half = _mm512_set1_epi64(0xffffffff);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b),
                                      _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32));
    __m512i other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(middle, half));
    return _mm512_add_epi64(
        _mm512_mul_epu32(a_high, b_high),
        _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(other, 32)));
}

TARGET static inline __m512i all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Like question_of(). Page numbers have at most 32 bits, and offsets have at most 48 bits. */
TARGET static inline void ask(const struct bit_array *array, const uint64_t *hashes,
                              struct group *group)
{
    const struct static_pages *pages = &array->pages;
    __m512i hash = _mm512_loadu_si512(hashes), start = upper_product(hash, all(array->shape.bits));
    __m512i number = upper_product(_mm512_srli_epi64(start, 7), all(pages->inverse));
    __mmask8 is_last = _mm512_cmpeq_epi64_mask(number, all(pages->last_number));
    __m512i wide =
        _mm512_mask_mov_epi64(all(pages->full.wide_blocks), is_last, all(pages->last.wide_blocks));
    __m512i codes =
        _mm512_mask_mov_epi64(all(pages->full.code_bytes), is_last, all(pages->last.code_bytes));
    __m512i block = _mm512_sub_epi64(_mm512_srli_epi64(start, 6),
                                     _mm512_mul_epu32(number, all(static_full_blocks(array))));
    __m512i page = _mm512_slli_epi64(number, 16), columns = all(array->shape.hashes), one = all(1);
    __m512i own = _mm512_srli_epi64(block, 1);
    _mm512_storeu_si512(group->code,
                        _mm512_add_epi64(page, _mm512_slli_epi64(_mm512_srli_epi64(own, 5), 3)));
    _mm512_storeu_si512(group->code_shift, _mm512_and_si512(_mm512_slli_epi64(own, 1), all(63)));
    _mm512_storeu_si512(group->offset, _mm512_and_si512(start, all(STATIC_BUCKET_STARTS - 1)));
    __m512i words =
        _mm512_add_epi64(_mm512_mul_epu32(block, columns), _mm512_min_epu64(block, wide));
    __m512i first = _mm512_add_epi64(_mm512_add_epi64(page, codes), _mm512_slli_epi64(words, 3));
    _mm512_storeu_si512(group->first, first);
    __m512i own_columns =
        _mm512_mask_add_epi64(columns, _mm512_cmplt_epu64_mask(block, wide), columns, one);
    _mm512_storeu_si512(group->second, _mm512_add_epi64(first, _mm512_slli_epi64(own_columns, 3)));
    __mmask8 all_wide = _mm512_cmplt_epu64_mask(_mm512_add_epi64(block, one), wide);
    own_columns = _mm512_mask_add_epi64(columns, all_wide, columns, one);
    _mm512_storeu_si512(group->there, _mm512_sub_epi64(_mm512_sllv_epi64(one, own_columns), one));
    __m512i mixed =
        _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), all(STATIC_MIX));
    mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 29));
    __m512i rows = _mm512_or_si512(mixed, one),
            shift = _mm512_and_si512(start, all(STATIC_BLOCK_ROWS - 1));
    _mm512_storeu_si512(group->low, _mm512_sllv_epi64(rows, shift));
    _mm512_storeu_si512(group->high,
                        _mm512_srlv_epi64(rows, _mm512_sub_epi64(all(STATIC_BLOCK_ROWS), shift)));
    _mm512_storeu_si512(group->sums,
                        _mm512_srli_epi64(_mm512_mullo_epi64(mixed, all(STATIC_GOLDEN)), 32));
}

/* Returns a mask of the keys that are bumped. */
TARGET static inline __mmask8 bumped(const struct bit_array *array, const struct group *group)
{
    __m512i words = _mm512_i64gather_epi64(_mm512_loadu_si512(group->code), array->bytes, 1);
    __m512i code =
        _mm512_and_si512(_mm512_srlv_epi64(words, _mm512_loadu_si512(group->code_shift)), all(3));
    __m512i below = _mm512_and_si512(
        _mm512_srlv_epi64(all(STATIC_THRESHOLDS), _mm512_slli_epi64(code, 3)), all(0xff));
    return _mm512_cmpgt_epu64_mask(below, _mm512_loadu_si512(group->offset));
}

/* Returns the sums of eight columns, starting with the given one, for key number i. */
TARGET static inline uint8_t sums_of_key(const struct bit_array *array, const struct group *group,
                                         uint32_t i, uint32_t column)
{
    __mmask8 there = (__mmask8)(group->there[i] >> column);
    __m512i first = _mm512_maskz_loadu_epi64(there,
                                             array->bytes + group->first[i] + 8 * (size_t)column),
            second = _mm512_maskz_loadu_epi64(there,
                                              array->bytes + group->second[i] + 8 * (size_t)column);
    __m512i taken = _mm512_xor_si512(_mm512_and_si512(first, all(group->low[i])),
                                     _mm512_and_si512(second, all(group->high[i])));
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(taken), all(1));
}

/* Returns a mask of the keys with a wrong sum in one of the columns selected by `here`. */
TARGET static inline __mmask8 wrong(const struct group *group, const uint64_t *sums, uint64_t here)
{
    __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(sums), _mm512_loadu_si512(group->sums));
    return _mm512_test_epi64_mask(differ,
                                  _mm512_and_si512(_mm512_loadu_si512(group->there), all(here)));
}

TARGET static inline void answer_group(const struct bit_array *array, const struct group *group,
                                       uint8_t *turns)
{
    /* Byte c of a word: columns 8 c to 8 c + 7. */
    union {
        uint64_t words[GROUP_KEYS];
        uint8_t bytes[GROUP_KEYS][8];
    } sums = {{0}};
    uint32_t most = array->shape.hashes + 1;
    __mmask8 is_bumped = bumped(array, group);
    for (uint32_t i = 0; i < GROUP_KEYS; i++) sums.bytes[i][0] = sums_of_key(array, group, i, 0);
    __mmask8 is_out = wrong(group, sums.words, 0xff);
    for (uint32_t c = 8; c < most; c += 8) {
        uint32_t left = 0xff & ~(uint32_t)(is_out | is_bumped);
        for (; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            sums.bytes[i][c / 8] = sums_of_key(array, group, i, c);
        }
        is_out = wrong(group, sums.words, UINT64_MAX >> (56 - c));
    }
    __m512i turn = _mm512_mask_mov_epi64(all(TURN_IN), is_out, all(TURN_ABSENT));
    turn = _mm512_mask_mov_epi64(turn, is_bumped, all(TURN_NEXT));
    _mm_storel_epi64((__m128i *)(void *)turns, _mm512_cvtepi64_epi8(turn));
}
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

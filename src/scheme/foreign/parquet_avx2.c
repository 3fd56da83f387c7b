/* parquet_avx2.c - the kernel of `parquet` for AVX2, where a block takes one register of eight
 * words. It runs on x86-64 CPUs from Haswell and Zen 1 on. */
#include "base/cpu.h"
#include "scheme/foreign/parquet_block.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX2);
}

/* Returns a block with one bit in each word. */
static inline TARGET __m256i bits_of(uint64_t hash)
{
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)salts);
    __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), salt);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
}

static inline TARGET bool add_hash(const struct bit_array *array, uint64_t hash)
{
    __m256i *block = (__m256i *)(void *)block_of(array, hash), old = _mm256_loadu_si256(block),
            bits = bits_of(hash);
    _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
    return !_mm256_testc_si256(old, bits);
}

static inline TARGET bool has_hash(const struct bit_array *array, uint64_t hash)
{
    return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *)(void *)block_of(array, hash)),
                              bits_of(hash));
}

#define KERNEL_NAME "avx2"
#define KERNEL_SYMBOL petal_parquet_avx2
#include "scheme/foreign/parquet_kernel.inc"
#endif

/* blocked_avx2.c - `blocked` with AVX2: a line is two registers of eight words. For x86-64 CPUs
 * from Haswell and Zen 1 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX2
#define PETAL_INLINE_TARGET __attribute__((target("avx2,bmi2")))
#include "base/cpu.h"
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX2 | CPU_BMI2 | CPU_POPCNT);
}

#define RATE_TARGET __attribute__((target("avx2,popcnt")))
#define RATE_VECTOR_BYTES 32
#define BITS_OF_WORD(x) (int32_t) _mm_popcnt_u32(x)
#define KERNEL_NAME "avx2"
#define KERNEL_SYMBOL petal_blocked_avx2
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

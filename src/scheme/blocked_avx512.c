/* blocked_avx512.c - `blocked` with AVX-512: a line is one register, and the words of a key are its
 * mask; numbers are hashed by multiplying 64-bit lanes, which takes AVX512DQ. For x86-64 CPUs from
 * Skylake servers and AMD's Zen 4 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX512
#define PETAL_INLINE_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,bmi2")))
#include "base/cpu.h"
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return petal_cpu_has(CPU_AVX512 | CPU_BMI2);
}

#define KERNEL_NAME "avx512"
#define KERNEL_SYMBOL petal_blocked_avx512
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C wants something in every file */
#endif

/* blocked_sse4.c - the kernel of `blocked` for SSE4.1, where a line takes four registers of four
 * words. It is for x86-64 CPUs without AVX2: CPUs before Haswell, and low-power CPUs such as early
 * Atoms. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_SSE4
#define PETAL_INLINE_TARGET __attribute__((target("sse4.1")))
#include "base/cpu.h"
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return petal_cpu_has(CPU_SSE4);
}

#define KERNEL_NAME "sse4"
#define KERNEL_SYMBOL petal_blocked_sse4
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

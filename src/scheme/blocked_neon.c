/* blocked_neon.c - the kernel of `blocked` for NEON, where a line takes four registers of four
 * words. It runs on little-endian 64-bit ARM CPUs, all of which have NEON. */
#if defined(__aarch64__) && defined(__AARCH64EL__)
#define PETAL_INLINE_NEON
#define PETAL_INLINE_TARGET
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return true;
}

#define KERNEL_NAME "neon"
#define KERNEL_SYMBOL petal_blocked_neon
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

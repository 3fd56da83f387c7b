/* blocked_neon.c - `blocked` with NEON: a line is four registers of four words. It is for
 * little-endian 64-bit ARM CPUs, which all have NEON. */
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
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

/* blocked_simd128.c - the kernel of `blocked` for WebAssembly's vectors, where a line takes four
 * vectors of four words. Modules compiled with -msimd128 contain this kernel. A host can test
 * whether its engine accepts such a module before loading it. */
#if defined(__wasm_simd128__)
#define PETAL_INLINE_SIMD128
#define PETAL_INLINE_TARGET
#include "scheme/blocked_line.h"

static bool usable(void)
{
    return true;
}

#define KERNEL_NAME "simd128"
#define KERNEL_SYMBOL petal_blocked_simd128
#include "scheme/blocked_kernel.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty translation unit */
#endif

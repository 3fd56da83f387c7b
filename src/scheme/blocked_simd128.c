/* blocked_simd128.c - `blocked` with WebAssembly's vectors: a line is four vectors of four words.
 * It is for modules compiled with -msimd128. A host can find out whether its engine accepts such a
 * module before loading it. */
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
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

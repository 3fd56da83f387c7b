/* Compiles inline.c with the AVX2 variant of petal_inline.h, selected by -mavx2. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX2
#define PETAL_INLINE_TARGET __attribute__((target("avx2,bmi2")))
#define USABLE __builtin_cpu_supports("avx2")
#define FORM "AVX2"
#endif
#include "inline.c" /* NOLINT(bugprone-suspicious-include): the same test */

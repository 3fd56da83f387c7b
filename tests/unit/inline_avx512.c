/* Compiles inline.c with the AVX-512 variant of petal_inline.h, selected by -mavx512f. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_AVX512
#define PETAL_INLINE_TARGET __attribute__((target("avx512f,bmi2")))
#define USABLE __builtin_cpu_supports("avx512f")
#define FORM "AVX512F"
#endif
#include "inline.c" /* NOLINT(bugprone-suspicious-include): the same test */

/* Compiles inline.c with the SSE4.1 variant of petal_inline.h, selected by -msse4.1. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PETAL_INLINE_SSE4
#define PETAL_INLINE_TARGET __attribute__((target("sse4.1")))
#define USABLE __builtin_cpu_supports("sse4.1")
#define FORM "SSE4.1"
#endif
#include "inline.c" /* NOLINT(bugprone-suspicious-include): the same test */

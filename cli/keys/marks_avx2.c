/* marks_avx2.c - finds the marks in a text with AVX2, on x86-64 CPUs (since Intel Haswell and AMD
 * Zen 1). */
#if defined(__x86_64__) && defined(__GNUC__)
#define SCAN_AVX2
#define SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define MARKER marker_avx2
#include "keys/marks.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

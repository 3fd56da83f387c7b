/* marks_avx2.c - marks of text with AVX2, for x86-64 CPUs from Haswell and Zen 1 on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SCAN_AVX2
#define SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define MARKER marker_avx2
#include "keys/marks.inc"
#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

/* cpu.h - detects which instructions this CPU and its operating system support, so that kernels can
 * be chosen. */
#ifndef PETAL_BASE_CPU_H
#define PETAL_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)

enum cpu_features {
    CPU_SSE4 = 1,    /* SSE4.1 */
    CPU_BMI2 = 2,    /* Intel since 2013, AMD since 2015 */
    CPU_AVX2 = 4,    /* likewise */
    CPU_AVX512 = 8,  /* AVX-512 F, BW, DQ and VL: Skylake servers, Zen 4 */
    CPU_POPCNT = 16, /* Intel since 2008, AMD since 2007 */
    CPU_VPOPCNT = 32 /* AVX-512 VPOPCNTDQ: Ice Lake, Zen 4 */
};

/* Returns true if the CPU and the operating system support all of these features. */
bool petal_cpu_has(unsigned features);

#endif
#endif

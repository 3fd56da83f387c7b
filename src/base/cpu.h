/* cpu.h - which instructions this CPU and its operating system support; kernels are chosen
 * accordingly. */
#ifndef PETAL_BASE_CPU_H
#define PETAL_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)

enum cpu_features {
    CPU_SSE4 = 1,    /* SSE4.1 */
    CPU_BMI2 = 2,    /* Intel since 2013, AMD since 2015 */
    CPU_AVX2 = 4,    /* likewise */
    CPU_AVX512 = 8,  /* F, BW, DQ and VL: Skylake servers, Zen 4 */
    CPU_POPCNT = 16, /* Intel since 2008, AMD since 2007 */
    CPU_VPOPCNT = 32 /* VPOPCNTDQ of AVX-512: Ice Lake, Zen 4 */
};

/* Are all of these supported? */
bool petal_cpu_has(unsigned features);

#endif
#endif

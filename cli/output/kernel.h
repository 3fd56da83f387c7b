/* kernel.h - reports which kernel the library uses on this CPU. */
#ifndef PETAL_CLI_KERNEL_H
#define PETAL_CLI_KERNEL_H

/* "avx512", "avx2", "sse4", "neon", "simd128" or "generic". */
const char *kernel_name(void);

#endif

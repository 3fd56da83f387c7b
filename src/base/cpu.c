/* cpu.c - see cpu.h. This file does not use __builtin_cpu_supports(), because with Zig's runtime
 * library that function always returns false.
 *
 * In a virtual machine, CPUID takes microseconds, so the answer is cached. If several threads
 * detect the features at the same time, all of them store the same value. */
#include "base/cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <stdatomic.h>
#include <stdint.h>

/* Bits for the registers that the operating system saves (Intel's manual, volume 1, 13.2 and
 * 14.3). */
#define STATE_AVX 0x06u    /* XMM, YMM */
#define STATE_AVX512 0xe6u /* also the masks, the upper halves of ZMM, ZMM16 to 31 */

static uint32_t saved_state(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned ask(void)
{
    unsigned a, b, c, d, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    bool has_xgetbv = c & bit_OSXSAVE;
    uint32_t saved = has_xgetbv ? saved_state() : 0;
    if (c & bit_SSE4_1) found |= CPU_SSE4;
    if (c & bit_POPCNT) found |= CPU_POPCNT;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
    if (b & bit_BMI2) found |= CPU_BMI2;
    if ((b & bit_AVX2) && (saved & STATE_AVX) == STATE_AVX) found |= CPU_AVX2;
    unsigned wide = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((b & wide) == wide && (saved & STATE_AVX512) == STATE_AVX512) found |= CPU_AVX512;
    if ((found & CPU_AVX512) && (c & bit_AVX512VPOPCNTDQ)) found |= CPU_VPOPCNT;
    return found;
}

bool petal_cpu_has(unsigned features)
{
    enum { KNOWN = 1 << 30 };
    static _Atomic unsigned kept;
    unsigned found = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!found) {
        found = ask() | KNOWN;
        atomic_store_explicit(&kept, found, memory_order_relaxed);
    }
    return (found & features) == features;
}

#else
typedef int petal_not_for_this_cpu; /* ISO C forbids an empty file */
#endif

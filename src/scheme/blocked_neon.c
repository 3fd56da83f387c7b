/* blocked_neon.c - `blocked` with NEON: a line is four registers of four words. For little-endian 64-bit ARM, all of which has it. */
#include "scheme/blocked_line.h"

#if defined(__aarch64__) && defined(__AARCH64EL__)
#include <arm_neon.h>

#define TARGET

static bool usable(void)
{
    return true;
}

/* One bit in each word of the pattern's quarter, zero elsewhere: `first` is the number of the quarter's first word. */
static inline uint32x4_t bits_of(uint32_t x, uint32_t words, uint32_t first)
{
    static const uint32_t each[4] = {1, 2, 4, 8};
    uint32x4_t place = vshrq_n_u32(vmulq_n_u32(vld1q_u32(salts + first), x), 27);
    uint32x4_t bits = vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(place));
    return vandq_u32(bits, vtstq_u32(vdupq_n_u32(words >> first), vld1q_u32(each)));
}

static inline uint32x4_t load_quarter(const uint8_t *line, uint32_t first)
{
    return vreinterpretq_u32_u8(vld1q_u8(line + (size_t)4 * first));
}

static inline bool line_add(uint8_t *line, uint32_t x, uint32_t hashes)
{
    uint32_t words = pattern_of(x, hashes);
    uint32x4_t missing = vdupq_n_u32(0);
    for (uint32_t first = 0; first < WORDS; first += 4) {
        uint32x4_t bits = bits_of(x, words, first), old = load_quarter(line, first);
        missing = vorrq_u32(missing, vbicq_u32(bits, old));
        vst1q_u8(line + (size_t)4 * first, vreinterpretq_u8_u32(vorrq_u32(old, bits)));
    }
    return vmaxvq_u32(missing) != 0;
}

static inline bool line_has(const uint8_t *line, uint32_t x, uint32_t hashes)
{
    uint32_t words = pattern_of(x, hashes);
    uint32x4_t missing = vdupq_n_u32(0);
    for (uint32_t first = 0; first < WORDS; first += 4)
        missing = vorrq_u32(missing, vbicq_u32(bits_of(x, words, first), load_quarter(line, first)));
    return vmaxvq_u32(missing) == 0;
}

#define KERNEL_NAME "neon"
#define KERNEL_SYMBOL petal_blocked_neon
#include "scheme/blocked_kernel.inc"
#endif

/* utf8.c - see utf8.h. */
#include "output/utf8.h"

static size_t length_of(uint8_t first)
{
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

uint32_t utf8_next(const uint8_t *at, size_t size, size_t *length)
{
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t expected = length_of(at[0]);
    *length = 1;
    if (expected == 0 || expected > size) return UTF8_INVALID;
    uint32_t point = at[0] & first_bits[expected];
    for (size_t i = 1; i < expected; i++) {
        if ((at[i] & 0xc0) != 0x80) return UTF8_INVALID;
        point = point << 6 | (at[i] & 0x3f);
    }
    if (point < min[expected] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return UTF8_INVALID;
    *length = expected;
    return point;
}

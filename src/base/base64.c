/* base64.c - see base64.h. Three bytes, the first of which contains the highest bits, form four
 * groups of six bits. */
#include "base/base64.h"

#define NO_VALUE 64u

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool petal_base64_bytes(const char *text, uint64_t chars, uint64_t *size_bytes)
{
    if (chars % 4 != 0) return false;
    *size_bytes = chars / 4 * 3;
    if (chars && text[chars - 1] == '=') *size_bytes -= text[chars - 2] == '=' ? 2 : 1;
    return true;
}

/* Returns the six bits that a character encodes, or NO_VALUE. Records which alphabet contains the
 * character. */
static unsigned value_of(char c, unsigned *seen)
{
    if (c >= 'A' && c <= 'Z') return (unsigned)(c - 'A');
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a') + 26;
    if (c >= '0' && c <= '9') return (unsigned)(c - '0') + 52;
    if (c == '+' || c == '-') {
        *seen |= c == '+' ? BASE64_STANDARD : BASE64_URL;
        return 62;
    }
    if (c == '/' || c == '_') {
        *seen |= c == '/' ? BASE64_STANDARD : BASE64_URL;
        return 63;
    }
    return NO_VALUE;
}

/* Decodes a group into `count` bytes. Returns the index of the invalid character, or 4. */
static unsigned decode_group(const char *group, unsigned count, uint8_t *bytes, unsigned *seen)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i <= count; i++) {
        unsigned value = value_of(group[i], seen);
        if (value == NO_VALUE || *seen == (BASE64_STANDARD | BASE64_URL)) return i;
        bits |= value << (18 - 6 * i);
    }
    if (bits & (0xffffffu >> 8 * count)) return count; /* unused bits after the last whole byte */
    for (unsigned i = 0; i < count; i++) bytes[i] = (uint8_t)(bits >> (16 - 8 * i));
    return 4;
}

uint64_t petal_base64_decode(const char *text, uint64_t chars, uint8_t *bytes, unsigned *seen)
{
    uint64_t left = 0;
    *seen = 0;
    if (!petal_base64_bytes(text, chars, &left)) return 0;
    for (uint64_t at = 0; at < chars; at += 4, bytes += 3) {
        unsigned count = left < 3 ? (unsigned)left : 3,
                 wrong = decode_group(text + at, count, bytes, seen);
        if (wrong < 4) return at + wrong;
        left -= count;
    }
    return chars;
}

static char letter_of(unsigned value, enum base64_alphabet alphabet)
{
    if (value < 62) return letters[value];
    if (value == 62) return alphabet == BASE64_STANDARD ? '+' : '-';
    return alphabet == BASE64_STANDARD ? '/' : '_';
}

void petal_base64_encode(const uint8_t *bytes, size_t size_bytes, enum base64_alphabet alphabet,
                         char *text)
{
    for (size_t at = 0; at < size_bytes; at += 3) {
        size_t count = size_bytes - at < 3 ? size_bytes - at : 3;
        uint32_t bits = 0;
        for (size_t i = 0; i < count; i++) bits |= (uint32_t)bytes[at + i] << (16 - 8 * i);
        for (size_t i = 0; i < 4; i++)
            *text++ = i <= count ? letter_of(bits >> (18 - 6 * i) & 63, alphabet) : '=';
    }
}

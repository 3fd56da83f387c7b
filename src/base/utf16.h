/* utf16.h - converts UTF-8 to the UTF-16 code units of a JavaScript string, one at a time.
 *
 * Invalid UTF-8 becomes U+FFFD, as in JavaScript's TextDecoder: each maximal prefix of a character
 * becomes one U+FFFD. There is one exception: the three bytes that would encode a lone surrogate
 * (ed a0 80 to ed bf bf) become that surrogate, so that every JavaScript string can be written as
 * bytes. */
#ifndef PETAL_BASE_UTF16_H
#define PETAL_BASE_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF16_REPLACEMENT 0xfffdu

struct utf16_reader {
    const uint8_t *at;
    size_t left;
    uint16_t pending; /* low surrogate to return next, or 0 if there is none */
};

static inline struct utf16_reader utf16_from(const void *utf8, size_t size_bytes)
{
    return (struct utf16_reader){utf8, size_bytes, 0};
}

/* The bytes that may follow a character's first byte: how many there are, and the valid range of
 * the first. */
struct utf8_lead {
    uint32_t bits; /* code point bits in the first byte */
    uint8_t follow, low, high;
};

static inline bool utf8_lead_of(uint8_t first, struct utf8_lead *lead)
{
    if (first < 0xc2 || first > 0xf4) return false;
    *lead = (struct utf8_lead){first & 0x1fu, 1, 0x80, 0xbf};
    if (first >= 0xe0)
        *lead = (struct utf8_lead){first & 0x0fu, 2, first == 0xe0 ? 0xa0 : 0x80, 0xbf};
    if (first >= 0xf0)
        *lead = (struct utf8_lead){first & 0x07u, 3, first == 0xf0 ? 0x90 : 0x80,
                                   first == 0xf4 ? 0x8f : 0xbf};
    return true;
}

/* Returns the next code point. At least one byte must be left. */
static inline uint32_t utf8_next(struct utf16_reader *from)
{
    struct utf8_lead lead;
    uint8_t first = *from->at++;
    from->left--;
    if (first < 0x80) return first;
    if (!utf8_lead_of(first, &lead)) return UTF16_REPLACEMENT;
    uint32_t point = lead.bits;
    for (; lead.follow > 0; lead.follow--, lead.low = 0x80, lead.high = 0xbf) {
        if (from->left == 0 || *from->at < lead.low || *from->at > lead.high)
            return UTF16_REPLACEMENT;
        point = point << 6 | (*from->at++ & 0x3fu);
        from->left--;
    }
    return point;
}

/* Reads the next code unit. Returns false at the end of the string. */
static inline bool utf16_next(struct utf16_reader *from, uint16_t *unit)
{
    *unit = from->pending;
    from->pending = 0;
    if (*unit) return true;
    if (from->left == 0) return false;
    uint32_t point = utf8_next(from);
    if (point < 0x10000) {
        *unit = (uint16_t)point;
        return true;
    }
    *unit = (uint16_t)(0xd800 + ((point - 0x10000) >> 10));
    from->pending = (uint16_t)(0xdc00 + ((point - 0x10000) & 0x3ff));
    return true;
}

#endif

/* scan.h - finds the commas, quotes and newlines in 64 bytes of text: one bit per byte, lowest
 * first.
 *
 *      text            7,"Ada, ""A.""",x
 *      quotes          ..1....11..111...       lowest bit on the left
 *      bits_inside()   ..111111.111.1...       from each opening quote up to the closing one
 *      commas          .1....1........1.       the one inside quotes is text
 *
 * Fields and strings are short and differ in length, so a loop over their bytes, or a memchr() for
 * each, costs a mispredicted branch. Finding the next set bit in a word needs no branch.
 *
 * A file compiled for CPUs with AVX2 defines SCAN_AVX2, and SCAN_TARGET as the attribute for
 * that. */
#ifndef PETAL_CLI_SCAN_H
#define PETAL_CLI_SCAN_H

#include <stdint.h>
#include <string.h>

#ifndef SCAN_TARGET
#define SCAN_TARGET
#endif

#if defined SCAN_AVX2 || defined __SSE2__
#define SCAN_VECTORS
#endif

#ifdef SCAN_AVX2

#include <immintrin.h>

enum { TEXT_PARTS = 2 };
typedef __m256i text_part; /* as a result: each byte is all ones or zero */

static inline SCAN_TARGET text_part text_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

static inline SCAN_TARGET text_part text_equal(text_part part, char byte)
{
    return _mm256_cmpeq_epi8(part, _mm256_set1_epi8(byte));
}

static inline SCAN_TARGET text_part text_below(text_part part, uint8_t bound)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(part, _mm256_set1_epi8((char)(bound - 1))), part);
}

static inline SCAN_TARGET text_part text_or(text_part a, text_part b)
{
    return _mm256_or_si256(a, b);
}

static inline SCAN_TARGET text_part text_xor(text_part part, char byte)
{
    return _mm256_xor_si256(part, _mm256_set1_epi8(byte));
}

static inline SCAN_TARGET uint64_t text_bits(text_part part)
{
    return (uint32_t)_mm256_movemask_epi8(part);
}

#elif defined __SSE2__

#include <emmintrin.h>

enum { TEXT_PARTS = 4 };
typedef __m128i text_part; /* as a result: each byte is all ones or zero */

static inline SCAN_TARGET text_part text_load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)at);
}

static inline SCAN_TARGET text_part text_equal(text_part part, char byte)
{
    return _mm_cmpeq_epi8(part, _mm_set1_epi8(byte));
}

static inline SCAN_TARGET text_part text_below(text_part part, uint8_t bound)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(part, _mm_set1_epi8((char)(bound - 1))), part);
}

static inline SCAN_TARGET text_part text_or(text_part a, text_part b)
{
    return _mm_or_si128(a, b);
}

static inline SCAN_TARGET text_part text_xor(text_part part, char byte)
{
    return _mm_xor_si128(part, _mm_set1_epi8(byte));
}

static inline SCAN_TARGET uint64_t text_bits(text_part part)
{
    return (uint64_t)_mm_movemask_epi8(part);
}

#else

#define EVERY_BYTE UINT64_C(0x0101010101010101)

enum { TEXT_PARTS = 8 };
typedef uint64_t text_part; /* as a result: the highest bit of each byte is 1 or 0 */

static inline SCAN_TARGET text_part text_load(const char *at)
{
    uint64_t part;
    memcpy(&part, at, sizeof part);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    part = __builtin_bswap64(part);
#endif
    return part;
}

/* At most 0x80, so that the subtraction does not borrow from the next byte. */
static inline SCAN_TARGET text_part text_below(text_part part, uint8_t bound)
{
    return ~((part | EVERY_BYTE << 7) - EVERY_BYTE * bound) & ~part;
}

static inline SCAN_TARGET text_part text_xor(text_part part, char byte)
{
    return part ^ EVERY_BYTE * (uint8_t)byte;
}

static inline SCAN_TARGET text_part text_equal(text_part part, char byte)
{
    return text_below(text_xor(part, byte), 1);
}

static inline SCAN_TARGET text_part text_or(text_part a, text_part b)
{
    return a | b;
}

static inline SCAN_TARGET uint64_t text_bits(text_part part)
{
    return (part >> 7 & EVERY_BYTE) * UINT64_C(0x0102040810204080) >> 56;
}

#endif

enum { TEXT_PART_BYTES = 64 / TEXT_PARTS };

static inline SCAN_TARGET size_t first_bit(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

struct text64 {
    text_part part[TEXT_PARTS];
};

/* Loads the bytes up to `end`, then zeros. */
static inline SCAN_TARGET struct text64 text64_load(const char *at, const char *end)
{
    struct text64 text;
    char copy[64];
    if (end - at < 64) {
        size_t size = (size_t)(end - at);
        memset(copy + size, 0, 64 - size);
        at = memcpy(copy, at, size);
    }
    for (int i = 0; i < TEXT_PARTS; i++, at += TEXT_PART_BYTES) text.part[i] = text_load(at);
    return text;
}

static inline SCAN_TARGET uint64_t bits_equal(const struct text64 *text, char byte)
{
    uint64_t bits = 0;
    for (int i = 0; i < TEXT_PARTS; i++)
        bits |= text_bits(text_equal(text->part[i], byte)) << i * TEXT_PART_BYTES;
    return bits;
}

static inline SCAN_TARGET uint64_t bits_either(const struct text64 *text, char a, char b)
{
    uint64_t bits = 0;
    for (int i = 0; i < TEXT_PARTS; i++)
        bits |= text_bits(text_or(text_equal(text->part[i], a), text_equal(text->part[i], b)))
                << i * TEXT_PART_BYTES;
    return bits;
}

/* Bytes with a special meaning in a JSON string: a quote, a backslash, a control character.
 * Flipping one bit moves the quote directly after the control characters, so one comparison finds
 * both. */
static inline SCAN_TARGET text_part text_not_plain(text_part part)
{
    enum { FLIPPED = '"' ^ 0x20 };
    part = text_xor(part, FLIPPED);
    return text_or(text_below(part, 0x21), text_equal(part, '\\' ^ FLIPPED));
}

static inline SCAN_TARGET uint64_t bits_not_plain(const char *at)
{
    uint64_t bits = 0;
    for (int i = 0; i < TEXT_PARTS; i++, at += TEXT_PART_BYTES)
        bits |= text_bits(text_not_plain(text_load(at))) << i * TEXT_PART_BYTES;
    return bits;
}

/* Returns the number of leading digits in the next TEXT_PART_BYTES bytes. */
static inline SCAN_TARGET size_t count_digits(const char *at)
{
    uint64_t digits = text_bits(text_below(text_xor(text_load(at), '0'), 10));
    return first_bit(~digits);
}

/* Finds the end of the plain part of a JSON string, which must exist. Up to SCAN_SLACK bytes after
 * it are read but ignored. Short strings take one step and long ones only a few, so that few
 * branches depend on the length. */
enum { SCAN_SLACK = 64 };

static inline SCAN_TARGET const char *end_of_plain(const char *at)
{
    uint64_t bits = text_bits(text_not_plain(text_load(at)));
    if (bits) return at + first_bit(bits);
    for (at += TEXT_PART_BYTES; !(bits = bits_not_plain(at)); at += 64) {
    }
    return at + first_bit(bits);
}

/* Each bit shows whether the number of quotes up to and including this one is odd. */
static inline SCAN_TARGET uint64_t bits_inside(uint64_t quotes)
{
    for (int i = 1; i < 64; i *= 2) quotes ^= quotes << i;
    return quotes;
}

static inline SCAN_TARGET unsigned count_bits(uint64_t bits)
{
#ifdef SCAN_AVX2
    return (unsigned)__builtin_popcountll(bits); /* a call on older CPUs */
#else
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
#endif
}

#endif

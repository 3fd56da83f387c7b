/* scan.h - where the next byte of a kind stands, eight bytes at a time: fields and strings are
 * short, and a call of memchr() for each costs more than they do. */
#ifndef PETAL_CLI_SCAN_H
#define PETAL_CLI_SCAN_H

#include <stdint.h>
#include <string.h>

#define EVERY_BYTE UINT64_C(0x0101010101010101)

static inline uint64_t eight_bytes(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Marks the bytes that are below `bound`, at most 0x80, in their highest bits: the first mark is
 * right, which is all that is used. */
static inline uint64_t mark_below(uint64_t word, uint8_t bound)
{
    return (word - EVERY_BYTE * bound) & ~word & EVERY_BYTE << 7;
}

static inline uint64_t mark_equal(uint64_t word, char byte)
{
    return mark_below(word ^ EVERY_BYTE * (uint8_t)byte, 1);
}

/* The first of the marks, as a number of bytes. */
static inline size_t first_mark(uint64_t marks)
{
    return (size_t)__builtin_ctzll(marks) / 8;
}

/* The first `a` or `b` from `at` on, or `end`. */
static inline const char *find_either(const char *at, const char *end, char a, char b)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word = eight_bytes(at), marks = mark_equal(word, a) | mark_equal(word, b);
        if (marks) return at + first_mark(marks);
    }
    while (at < end && *at != a && *at != b) at++;
    return at;
}

/* The end of the part of a JSON string that stands for itself: a quote, a backslash, a control
 * character, or `end`. */
static inline const char *find_end_of_plain(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word = eight_bytes(at);
        uint64_t marks = mark_equal(word, '"') | mark_equal(word, '\\') | mark_below(word, 0x20);
        if (marks) return at + first_mark(marks);
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20) at++;
    return at;
}

#endif

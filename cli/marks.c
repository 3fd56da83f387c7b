/* marks.c - see marks.h.
 *
 * The text is read 64 bytes at a time: one bit per byte says whether it is a mark (scan.h), and the
 * offsets of the marks are appended to a list. A field then lies between two neighbours in the
 * list, and nothing has to be searched for. */
#include "marks.h"

#include "scan.h"

#include <stdlib.h>

void marks_clear(struct marks *marks)
{
    *marks = (struct marks){.at = marks->at, .room = marks->room};
}

/* Room for the marks of 64 bytes, and for the spare entries that put_marks() writes after them. */
static bool make_room(struct marks *marks)
{
    enum { NEEDED = 64 + 4 };
    if (marks->room - marks->count >= NEEDED) return true;
    size_t room = 2 * marks->room + 1024;
    size_t *at = room <= SIZE_MAX / sizeof *at ? realloc(marks->at, room * sizeof *at) : NULL;
    if (!at) return false;
    marks->at = at;
    marks->room = room;
    return true;
}

/* Writes four entries at a time, needed or not: the number of marks varies from part to part, and a
 * mispredicted branch costs more than the spare writes. */
static inline void put_marks(struct marks *marks, uint64_t bits, size_t base)
{
    const uint64_t highest = UINT64_C(1) << 63;
    size_t *to = marks->at + marks->count;
    marks->count += count_bits(bits);
    do {
        for (int i = 0; i < 4; i++, bits &= bits - 1) to[i] = base + first_bit(bits | highest);
        to += 4;
    } while (bits);
}

/* Which of the 64 bytes are still in the text. */
static inline uint64_t bits_of_text(size_t size_bytes)
{
    return size_bytes < 64 ? (UINT64_C(1) << size_bytes) - 1 : UINT64_MAX;
}

bool mark_fields(struct marks *marks, const char *text, size_t size_bytes, char separator,
                 char delimiter)
{
    for (size_t at = 0; at < size_bytes; at += 64) {
        struct text64 part = text64_load(text + at, text + size_bytes);
        uint64_t bits = bits_either(&part, separator, delimiter);
        if (!make_room(marks)) return false;
        put_marks(marks, bits & bits_of_text(size_bytes - at), at);
    }
    return true;
}

/* A word ends at the first blank after it, or at the separator. */
bool mark_words(struct marks *marks, const char *text, size_t size_bytes, char separator)
{
    uint64_t after_blank = 1;
    for (size_t at = 0; at < size_bytes; at += 64) {
        struct text64 part = text64_load(text + at, text + size_bytes);
        uint64_t separators = bits_equal(&part, separator);
        uint64_t blanks = separators | bits_either(&part, ' ', '\t');
        uint64_t bits = separators | (blanks & ~(blanks << 1 | after_blank));
        if (!make_room(marks)) return false;
        put_marks(marks, bits & bits_of_text(size_bytes - at), at);
        after_blank = blanks >> 63;
    }
    return true;
}

/* Clears the marks that are inside quotes, and returns which bytes are irregular. An opening quote
 * must begin a field, or follow a closing one at once (the "" that stands for a quote); a closing
 * quote must be followed by another one or by the end of the field. */
static inline uint64_t heed_quotes(struct quotes *before, const struct text64 *part, uint64_t *bits)
{
    uint64_t quotes = bits_equal(part, '"'), inside = bits_inside(quotes) ^ before->inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t after = closing << 1 | before->closed;
    before->hidden |= *bits & inside;
    before->doubled |= opening & after;
    *bits &= ~inside;
    uint64_t wrong = opening & ~after & ~(*bits << 1 | before->ended);
    uint64_t others = after & ~(*bits | quotes);
    if (others | before->returned) { /* a CR, and then an LF */
        uint64_t returns = others & bits_equal(part, '\r'), next = returns << 1 | before->returned;
        wrong |= (others & ~returns) | (next & ~bits_equal(part, '\n'));
        before->returned = returns >> 63;
    }
    before->ended = *bits >> 63;
    before->inside = 0 - (inside >> 63);
    before->closed = closing >> 63;
    return wrong;
}

/* False: an irregular byte, or out of memory; the marks before it are kept. */
static inline bool mark_part(struct marks *marks, struct quotes *before, const char *text,
                             size_t at, size_t size_bytes, char delimiter)
{
    struct text64 part = text64_load(text + at, text + size_bytes);
    uint64_t bits = bits_either(&part, '\n', delimiter), valid = bits_of_text(size_bytes - at);
    uint64_t wrong = heed_quotes(before, &part, &bits) & valid;
    if (!make_room(marks)) return false;
    if (wrong) valid = (wrong & (0 - wrong)) - 1;
    put_marks(marks, bits & valid, at);
    return wrong == 0;
}

/* The marks of a last part of less than 64 bytes are made again when there is more text. */
void mark_csv(struct marks *marks, const char *text, size_t size_bytes, size_t start,
              char delimiter)
{
    bool good = true;
    size_t at = marks->scanned > start ? marks->scanned : start;
    struct quotes before = marks->quotes;
    if (at == start) before.ended = 1;
    marks->count = marks->settled;
    for (; good && size_bytes - at >= 64; at += 64)
        good = mark_part(marks, &before, text, at, size_bytes, delimiter);
    marks->scanned = at;
    marks->settled = marks->count;
    marks->quotes = before;
    if (good && at < size_bytes) good = mark_part(marks, &before, text, at, size_bytes, delimiter);
    marks->quotes.hidden |= before.hidden;
    marks->quotes.doubled |= before.doubled;
    marks->irregular = !good;
}

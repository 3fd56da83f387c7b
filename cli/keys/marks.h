/* marks.h - where the fields of a text end: its delimiters and separators, but for quoted ones. */
#ifndef PETAL_CLI_MARKS_H
#define PETAL_CLI_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct marks;

/* The ways to find marks on one kind of CPU. All find the same. False: out of memory. */
struct marker {
    /* Of a text that ends with a separator, whose fields are separated by one byte, or are words
     * with blanks between them. */
    bool (*fields)(struct marks *marks, const char *text, size_t size_bytes, char separator,
                   char delimiter);
    bool (*words)(struct marks *marks, const char *text, size_t size_bytes, char separator);

    /* Of CSV from `start` on, where a row begins. When more has been read, it is called again with
     * all of the text. */
    void (*csv)(struct marks *marks, const char *text, size_t size_bytes, size_t start,
                char delimiter);
};

extern const struct marker marker_any_cpu, marker_avx2;

/* The fastest. */
const struct marker *marker_for_this_cpu(void);

/* Begins as {.by = &one}; `at` is to be freed. */
struct marks {
    const struct marker *by;
    size_t *at; /* in the text, in order */
    size_t count, room;

    /* Of CSV with quotes, as far as it was read. */
    bool irregular; /* a misplaced quote, or out of memory: there are no further marks */
    size_t settled; /* marks that remain valid when there is more text */
    size_t scanned; /* bytes of the text, in whole parts of 64 */
    struct quotes {
        uint64_t ended, inside, closed, returned; /* state after the part before */
        uint64_t hidden;                          /* not 0: a delimiter or separator is quoted */
        uint64_t doubled;                         /* not 0: a quoted field holds "" */
    } quotes;
};

/* Before another text: the memory is kept. */
void marks_clear(struct marks *marks);

#endif

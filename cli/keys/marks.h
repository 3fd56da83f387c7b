/* marks.h - finds where the fields of a text end: at its delimiters and separators, except quoted
 * ones. */
#ifndef PETAL_CLI_MARKS_H
#define PETAL_CLI_MARKS_H

#include <petal/petal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct marks;

/* The functions that find marks on one kind of CPU. All find the same. They return false if memory
 * runs out. */
struct marker {
    /* For text that ends with a separator, whose fields are separated by one byte, or are words
     * separated by blanks. */
    bool (*fields)(struct marks *marks, const char *text, size_t size_bytes, char separator,
                   char delimiter);
    bool (*words)(struct marks *marks, const char *text, size_t size_bytes, char separator);

    /* For CSV starting at `start`, where a row begins. When more text has been read, call it again
     * with all of it. */
    void (*csv)(struct marks *marks, const char *text, size_t size_bytes, size_t start,
                char delimiter);

    /* For text that ends with a separator: its lines, until there is no room for 64 more. Returns
     * where the next line starts, or `end`. */
    const char *(*lines)(const char *text, const char *end, char separator, petal_key *lines,
                         size_t room, size_t *count);
};

extern const struct marker marker_any_cpu, marker_avx2;

/* The fastest. */
const struct marker *marker_for_this_cpu(void);

/* Starts as {.by = &one}; the caller frees `at`. */
struct marks {
    const struct marker *by;
    size_t *at; /* in the text, in order */
    size_t count, room;

    /* For CSV with quotes, as far as it has been read. */
    bool irregular; /* a misplaced quote, or memory ran out: there are no further marks */
    size_t settled; /* marks that stay valid when more text follows */
    size_t scanned; /* bytes of the text, in whole parts of 64 */
    struct quotes {
        uint64_t ended, inside, closed, returned; /* state at the end of the previous part */
        uint64_t hidden;                          /* not 0 if a delimiter or separator is quoted */
        uint64_t doubled;                         /* not 0 if some quoted field contains "" */
    } quotes;
};

/* Prepares for another text: keeps the memory. */
void marks_clear(struct marks *marks);

#endif

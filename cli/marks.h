/* marks.h - where the fields of a text end: its delimiters and separators, but for quoted ones. */
#ifndef PETAL_CLI_MARKS_H
#define PETAL_CLI_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as {0}; `at` is to be freed. */
struct marks {
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

/* The marks of a text whose fields are separated by one byte, or are words with blanks between
 * them. The text ends with a separator. False: out of memory. */
bool mark_fields(struct marks *marks, const char *text, size_t size_bytes, char separator,
                 char delimiter);
bool mark_words(struct marks *marks, const char *text, size_t size_bytes, char separator);

/* The marks of CSV from `start` on, where a row begins. When more has been read, it is called again
 * with all of the text. */
void mark_csv(struct marks *marks, const char *text, size_t size_bytes, size_t start,
              char delimiter);

/* Before another text: the memory is kept. */
void marks_clear(struct marks *marks);

#endif

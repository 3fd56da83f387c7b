/* marks.h - where the fields of a text end: the delimiters and separators that are not text. */
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
    bool irregular; /* a quote stands where none belongs, or memory is short: no further marks */
    size_t settled; /* marks that stay when there is more of the text */
    size_t scanned; /* bytes of it, in whole parts of 64 */
    struct quotes {
        uint64_t ended, inside, closed, returned; /* by the byte before the part that comes next */
        uint64_t hidden;                          /* not 0: quotes hold what would be a mark */
        uint64_t doubled;                         /* not 0: there is "" in a field, for a quote */
    } quotes;
};

/* Those of a text whose fields are separated by one byte each, or that is one of words. A separator
 * ends it. False: out of memory. */
bool mark_fields(struct marks *marks, const char *text, size_t size_bytes, char separator,
                 char delimiter);
bool mark_words(struct marks *marks, const char *text, size_t size_bytes, char separator);

/* Those of CSV from `start` on, where a row begins. To be called again with all of the text when
 * there is more of it. */
void mark_csv(struct marks *marks, const char *text, size_t size_bytes, size_t start,
              char delimiter);

/* Makes way for the marks of another text. */
void marks_clear(struct marks *marks);

#endif

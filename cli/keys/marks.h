/* marks.h - finds the marks that end the fields of a text: all delimiters and separators that are
 * not quoted. */
#ifndef PETAL_CLI_MARKS_H
#define PETAL_CLI_MARKS_H

#include <petal/petal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct marks;

/* The functions that find marks on one kind of CPU. All kinds find the same marks. They return
 * false if memory runs out. */
struct marker {
    /* For text that ends with a separator, whose fields are separated by one byte, or are words
     * separated by blanks. */
    bool (*fields)(struct marks *marks, const char *text, size_t size_bytes, char separator,
                   char delimiter);
    bool (*words)(struct marks *marks, const char *text, size_t size_bytes, char separator);

    /* For CSV starting at `start`, where a row begins. When more text has been read, call it again
     * with the whole text. */
    void (*csv)(struct marks *marks, const char *text, size_t size_bytes, size_t start,
                char delimiter);

    /* Finds the lines of text that ends with a separator, until there is no room for 64 more.
     * Returns the start of the next line, or `end`. */
    const char *(*lines)(const char *text, const char *end, char separator, petal_key *lines,
                         size_t room, size_t *count);
};

extern const struct marker marker_any_cpu, marker_avx2;

/* The fastest. */
const struct marker *marker_for_this_cpu(void);

/* Initialize with {.by = &one}. The caller frees `at`. */
struct marks {
    const struct marker *by;
    size_t *at; /* positions in the text, in order */
    size_t count, room;

    /* For CSV with quotes, as far as it has been read. */
    bool irregular; /* no further marks: misplaced quote or out of memory */
    size_t settled; /* marks that stay valid when more text follows */
    size_t scanned; /* bytes searched, in whole parts of 64 */
    struct quotes {
        uint64_t ended, inside, closed, returned; /* state at the end of the previous part */
        uint64_t hidden;                          /* not 0 if a delimiter or separator is quoted */
        uint64_t doubled;                         /* not 0 if some quoted field contains "" */
    } quotes;
};

/* Prepares for another text, without freeing memory. */
void marks_clear(struct marks *marks);

#endif

/* csv.h - rows and fields of CSV, after RFC 4180. */
#ifndef PETAL_CLI_CSV_H
#define PETAL_CLI_CSV_H

#include "keys/field.h"
#include "keys/marks.h"

/* Finds the field that begins at `at`, in a text that ends before `end`. Returns where it ends: at
 * a delimiter, at a newline (a CR before that is part of neither), or at `end`. */
const char *csv_field(const char *at, const char *end, char delimiter, struct field *field);

/* Writes the value of a field, which is no longer than its text; returns its size. */
size_t csv_copy(const struct field *field, char *to);

/* Whether two fields have the same value. */
bool csv_equal(const struct field *a, const struct field *b);

/* How far a text was searched for ends of rows; begins as {0}, at the beginning of a row. */
struct csv_scan {
    size_t at;
    bool has_quotes;
    bool quoted; /* inside a quoted field */
};

/* Searches the rest of a text that begins a row at `start`. Returns the end of the last whole row
 * found now, or 0. If there are quotes, the marks are those of all of it that is regular. */
size_t csv_whole_rows(const char *text, size_t size_bytes, size_t start, char delimiter,
                      struct csv_scan *scan, struct marks *marks);

/* Searches a text from scan->at on for the end of one row, which begins at `start`, or before the
 * text: SIZE_MAX. Returns that end, or 0: then what is before scan->at need not be seen again, but
 * for the byte before it. */
size_t csv_row_end(const char *text, size_t size_bytes, size_t start, char delimiter,
                   struct csv_scan *scan);

#endif

/* csv.h - rows and fields of CSV according to RFC 4180. */
#ifndef PETAL_CLI_CSV_H
#define PETAL_CLI_CSV_H

#include "keys/field.h"
#include "keys/marks.h"

/* Finds the field that begins at `at`, in a text that ends before `end`. Returns where it ends: at
 * a delimiter, at a newline (a CR before it belongs to neither), or at `end`. */
const char *csv_field(const char *at, const char *end, char delimiter, struct field *field);

/* Writes a field's value, which is no longer than its text. Returns its size. */
size_t csv_copy(const struct field *field, char *to);

/* Do two fields have the same value? */
bool csv_equal(const struct field *a, const struct field *b);

/* How far a text has been searched for the ends of rows. Start with {0}, at the beginning of a
 * row. */
struct csv_scan {
    size_t at;
    bool has_quotes;
    bool quoted; /* inside a quoted field */
};

/* Searches the rest of a text in which a row begins at `start`. Returns the end of the last
 * complete row found by this call, or 0. If there are quotes, `marks` covers all of the text that
 * is regular. */
size_t csv_whole_rows(const char *text, size_t size_bytes, size_t start, char delimiter,
                      struct csv_scan *scan, struct marks *marks);

/* Searches a text from scan->at on for the end of one row, which begins at `start`; if it begins
 * before the text, `start` is SIZE_MAX. Returns that end. If the text doesn't contain it, returns
 * 0; the bytes before scan->at are then no longer needed, except the last one. */
size_t csv_row_end(const char *text, size_t size_bytes, size_t start, char delimiter,
                   struct csv_scan *scan);

#endif

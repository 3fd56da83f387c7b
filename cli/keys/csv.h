/* csv.h - rows and fields of CSV according to RFC 4180. */
#ifndef PETAL_CLI_CSV_H
#define PETAL_CLI_CSV_H

#include "keys/field.h"
#include "keys/marks.h"

/* Finds the field that starts at `at`; the text ends before `end`. Returns the end of the field: a
 * delimiter, a newline (a preceding CR belongs to neither), or `end`. */
const char *csv_field(const char *at, const char *end, char delimiter, struct field *field);

/* Writes a field's value, which is no longer than its text. Returns its size. */
size_t csv_copy(const struct field *field, char *to);

/* True if two fields have the same value. */
bool csv_equal(const struct field *a, const struct field *b);

/* Records how much of the text has been scanned for row ends. Initialize with {0} at the start of a
 * row. */
struct csv_scan {
    size_t at;
    bool has_quotes;
    bool quoted; /* inside a quoted field */
};

/* Scans the rest of the text, in which a row begins at `start`. Returns the end of the last
 * complete row that this call found, or 0. If there are quotes, `marks` then holds the marks for
 * all text up to the first misplaced quote. */
size_t csv_whole_rows(const char *text, size_t size_bytes, size_t start, char delimiter,
                      struct csv_scan *scan, struct marks *marks);

/* Finds the end of the row that begins at `start` (SIZE_MAX if it begins before the text), scanning
 * from scan->at. Returns 0 if the text doesn't contain the end. In that case, the bytes before
 * scan->at are no longer needed, except the last one. */
size_t csv_row_end(const char *text, size_t size_bytes, size_t start, char delimiter,
                   struct csv_scan *scan);

#endif

/* csv.c - see csv.h.
 *
 *      id,name,note            a quoted field may hold delimiters and newlines, and "" for a quote;
 *      7,"Ada, ""A.""","one    so this is one row of three fields after the header
 *      two"
 *
 * A quote opens a field only at the start of a field; elsewhere it is text, as in Python's csv.
 * Fields are found in place, because rows are printed unchanged. A library such as libcsv copies
 * each field and calls a callback for it, which takes several times as long as splitting lines. */
#include "keys/csv.h"

#include <string.h>

static const char *end_of_text(const char *at, const char *end, char delimiter)
{
    while (at < end && *at != delimiter && *at != '\n') at++;
    return at;
}

/* Returns the end of the text of a row's last field, if the row ends at `stop`. */
static const char *before_return(const char *at, const char *stop, const char *end)
{
    bool last = stop == end || *stop == '\n';
    return last && stop > at && stop[-1] == '\r' ? stop - 1 : stop;
}

static const char *quoted_field(const char *at, const char *end, char delimiter,
                                struct field *field)
{
    const char *quote = at + 1;
    *field = (struct field){.text = quote};
    while ((quote = memchr(quote, '"', (size_t)(end - quote))) && end - quote > 1 &&
           quote[1] == '"') {
        field->form = FIELD_OF_CSV;
        quote += 2;
    }
    if (!quote) {
        field->why = "a quoted field does not end";
        return end;
    }
    field->size_bytes = (size_t)(quote - field->text);
    const char *stop = end_of_text(quote + 1, end, delimiter);
    if (before_return(quote + 1, stop, end) != quote + 1) field->why = "text after a closing quote";
    return stop;
}

const char *csv_field(const char *at, const char *end, char delimiter, struct field *field)
{
    if (at < end && *at == '"') return quoted_field(at, end, delimiter, field);
    const char *stop = end_of_text(at, end, delimiter);
    *field = (struct field){.text = at, .size_bytes = (size_t)(before_return(at, stop, end) - at)};
    return stop;
}

/* Returns the next byte of a field's value, and advances. */
static char next_byte(const struct field *field, size_t *at)
{
    char c = field->text[(*at)++];
    if (field->form == FIELD_OF_CSV && c == '"') (*at)++;
    return c;
}

size_t csv_copy(const struct field *field, char *to)
{
    char *begin = to;
    for (size_t at = 0; at < field->size_bytes;) *to++ = next_byte(field, &at);
    return (size_t)(to - begin);
}

bool csv_equal(const struct field *a, const struct field *b)
{
    size_t i = 0, j = 0;
    while (i < a->size_bytes && j < b->size_bytes)
        if (next_byte(a, &i) != next_byte(b, &j)) return false;
    return i == a->size_bytes && j == b->size_bytes;
}

static const char *last_newline(const char *from, const char *end)
{
    while (end > from)
        if (*--end == '\n') return end;
    return NULL;
}

/* True if another quoted field directly follows the one that this quote closes, as in most files
 * with quotes. In that case, the next quote to search for is the one that closes that field. */
static bool opens_next(const char *quote, const char *end, char delimiter)
{
    return end - quote > 2 && quote[2] == '"' && (quote[1] == delimiter || quote[1] == '\n');
}

/* Scans from quote to quote. A quote at the end of the text is left until the next byte is
 * known. */
static size_t irregular_rows(const char *text, size_t size_bytes, size_t start, char delimiter,
                             struct csv_scan *scan)
{
    const char *end = text + size_bytes, *at = text + (scan->at > start ? scan->at : start);
    size_t whole = 0;
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!scan->quoted) {
            const char *newline = last_newline(at, quote ? quote : end);
            if (newline) whole = (size_t)(newline - text) + 1;
            scan->quoted =
                quote && (quote == text + start || quote[-1] == delimiter || quote[-1] == '\n');
        } else if (quote && quote + 1 == end) {
            at = quote;
            break;
        } else if (quote && quote[1] == '"') {
            quote++;
        } else if (quote && opens_next(quote, end, delimiter)) {
            if (quote[1] == '\n') whole = (size_t)(quote - text) + 2;
            quote += 2;
        } else if (quote) {
            scan->quoted = false;
        }
        at = quote ? quote + 1 : end;
    }
    scan->at = (size_t)(at - text);
    return whole;
}

size_t csv_row_end(const char *text, size_t size_bytes, size_t start, char delimiter,
                   struct csv_scan *scan)
{
    const char *end = text + size_bytes, *at = text + scan->at;
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!scan->quoted) {
            const char *newline = memchr(at, '\n', (size_t)((quote ? quote : end) - at));
            if (newline) return (size_t)(newline - text) + 1;
            scan->quoted = quote && ((size_t)(quote - text) == start || quote[-1] == delimiter);
        } else if (quote && quote + 1 == end) {
            at = quote;
            break;
        } else if (quote && quote[1] == '"') {
            quote++;
        } else if (quote) {
            scan->quoted = false;
        }
        at = quote ? quote + 1 : end;
    }
    scan->at = (size_t)(at - text);
    return 0;
}

size_t csv_whole_rows(const char *text, size_t size_bytes, size_t start, char delimiter,
                      struct csv_scan *scan, struct marks *marks)
{
    size_t from = scan->at > start ? scan->at : start;
    if (!scan->has_quotes) {
        scan->has_quotes = memchr(text + from, '"', size_bytes - from) != NULL;
        const char *newline = last_newline(text + from, text + size_bytes);
        if (!scan->has_quotes) {
            scan->at = size_bytes;
            return newline ? (size_t)(newline - text) + 1 : 0;
        }
        scan->at = start;
    }
    if (!marks->irregular) {
        size_t settled = marks->settled;
        marks->by->csv(marks, text, size_bytes, start, delimiter);
        if (!marks->irregular) {
            size_t i = marks->count;
            while (i > settled && text[marks->at[i - 1]] != '\n') i--;
            return i > settled ? marks->at[i - 1] + 1 : 0;
        }
    }
    return irregular_rows(text, size_bytes, start, delimiter, scan);
}

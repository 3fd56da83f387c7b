/* rows.c - see rows.h. */
#include "keys/rows.h"

#include "keys/csv.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static bool refuse_columns(const char *option, const char *text, const char *why)
{
    char shown[128];
    snprintf(shown, sizeof shown, "%s %.80s", option, text);
    return complain(shown, "%s", why);
}

/* Returns a column number, or 0 if the text isn't a column number. */
static uint64_t read_number(const char *text, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return 0;
    return number;
}

static bool is_number(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return size > 0;
}

/* Returns the earlier column that is the same as column i, or i if there is none. */
static size_t find_equal(const struct rows *rows, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        bool same = rows->form == ROWS_OF_JSON ? json_paths_equal(&rows->paths[i], &rows->paths[j])
                    : rows->numbers[i] || rows->numbers[j]
                        ? rows->numbers[i] == rows->numbers[j]
                        : csv_equal(&rows->names[i], &rows->names[j]);
        if (same) return j;
    }
    return i;
}

/* Reads a name or a number; a number in quotes is a name. Returns the position after it, or NULL,
 * with the reason in *why. */
static const char *read_name(struct rows *rows, size_t i, const char *at, const char **why)
{
    struct field *name = &rows->names[i];
    const char *stop = csv_field(at, at + strlen(at), ',', name);
    bool bare = name->text == at, numeric = bare && is_number(at, name->size_bytes);
    rows->numbers[i] = numeric ? read_number(at, name->size_bytes) : 0;
    *why = name->why ? name->why : "fields and columns are numbered from 1";
    if (name->why || (numeric && rows->numbers[i] == 0)) return NULL;
    *why = rows->form == ROWS_OF_CSV ? "a name or a number is missing"
                                     : "not numbers of fields; write 2 or 1,3";
    if (bare && name->size_bytes == 0) return NULL;
    return rows->form == ROWS_OF_CSV || numeric ? stop : NULL;
}

static const char *read_column(struct rows *rows, size_t i, const char *at, const char **why)
{
    return rows->form == ROWS_OF_JSON ? json_path_read(at, &rows->paths[i], why)
                                      : read_name(rows, i, at, why);
}

static bool read_columns(struct rows *rows, const char *option, const char *text)
{
    const char *why, *at = text;
    for (;;) {
        at = read_column(rows, rows->columns, at, &why);
        if (!at) return refuse_columns(option, text, why);
        if (find_equal(rows, rows->columns) < rows->columns)
            return refuse_columns(option, text, "names one twice");
        rows->found = ++rows->columns;
        if (*at == '\0') return true;
        if (*at != ',') return refuse_columns(option, text, "has a newline outside quotes");
        if (rows->columns == MAX_COLUMNS)
            return refuse_columns(option, text, "at most 16 fields make a key");
        at++;
    }
}

/* The time is in a separate column, or in one of the key's columns. */
static bool read_time_column(struct rows *rows, const char *text)
{
    const char *why;
    if (!text) return true;
    if (rows->form == ROWS_ARE_KEYS)
        return complain("--time-field", "goes with -k, --csv or --jsonl, which select the key");
    if (rows->columns == MAX_COLUMNS)
        return refuse_columns("--time-field", text, "with it at most 15 fields make a key");
    const char *end = read_column(rows, rows->columns, text, &why);
    if (!end) return refuse_columns("--time-field", text, why);
    if (*end) return refuse_columns("--time-field", text, "the time is one field");
    rows->has_time = true;
    rows->time_place = find_equal(rows, rows->columns);
    if (rows->time_place == rows->columns) rows->found++;
    return true;
}

static bool read_delimiter(struct rows *rows, const char *text)
{
    bool is_tab = text && (strcmp(text, "\\t") == 0 || strcmp(text, "TAB") == 0);
    rows->delimiter = !text    ? rows->form == ROWS_OF_CSV ? ',' : BLANKS
                      : is_tab ? '\t'
                               : (unsigned char)text[0];
    if (!text || is_tab) return true;
    if (text[0] == '\0' || text[1] != '\0')
        return refuse_columns("-t", text, "takes one character (one byte), \\t or TAB");
    bool ends_rows = strchr(rows->form == ROWS_OF_CSV ? "\"\r\n" : "\n", text[0]) != NULL;
    return !ends_rows || refuse_columns("-t", text, "cannot separate fields");
}

bool rows_read(struct rows *rows, const struct args *args)
{
    const char *option = args->fields ? "-k" : args->csv ? "--csv" : "--jsonl";
    const char *text = args->fields ? args->fields : args->csv ? args->csv : args->jsonl;
    *rows = (struct rows){.separator = args->nul ? '\0' : '\n', .crlf = args->crlf};
    rows->strict = args->strict;
    if ((args->fields != NULL) + (args->csv != NULL) + (args->jsonl != NULL) > 1)
        return complain(NULL, "give one of -k, --csv and --jsonl");
    if (args->crlf && args->nul)
        return complain(NULL, "--crlf is for lines, --null for keys that are not lines; give one");
    if (args->delimiter && !args->fields && !args->csv)
        return complain("-t", "goes with -k or --csv");
    if (args->header && !args->csv) return complain("--header", "goes with --csv");
    if (!rule_read(&rows->rule, args)) return false;
    bool has_rule = rows->rule.unit != UNIT_ROW;
    if (args->strict && !text && !has_rule)
        return complain("--strict", "goes with -k, --csv, --jsonl, --words, --ngrams or --kmers");
    if (args->nul && args->csv) return complain(NULL, "--csv reads lines; leave out --null");
    if (!text) return read_time_column(rows, args->time_field);
    rows->form = args->fields ? ROWS_OF_FIELDS : args->csv ? ROWS_OF_CSV : ROWS_OF_JSON;
    if (!read_delimiter(rows, args->delimiter) || !read_columns(rows, option, text) ||
        !read_time_column(rows, args->time_field))
        return false;
    if (has_rule && rows->columns > 1)
        return complain(option, "%s: words and k-mers are of one field", text);
    rows->has_header = args->header;
    for (size_t i = 0; args->csv && i < rows->found; i++)
        rows->has_header = rows->has_header || rows->numbers[i] == 0;
    return true;
}

/* ---- the header ------------------------------------------------------------------------------ */

void rows_want(const struct rows *rows, const uint64_t *numbers, struct wanted *wanted)
{
    for (size_t i = 0, j; i < rows->found; i++) {
        for (j = i; j > 0 && wanted->numbers[j - 1] > numbers[i]; j--) {
            wanted->numbers[j] = wanted->numbers[j - 1];
            wanted->places[j] = wanted->places[j - 1];
        }
        wanted->numbers[j] = numbers[i];
        wanted->places[j] = (uint8_t)i;
    }
}

size_t rows_mark(const struct rows *rows, const char *text, size_t size_bytes)
{
    bool marked =
        rows->form >= ROWS_OF_CSV && size_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    return marked ? 3 : 0;
}

/* The names in a header, one after the other, each terminated by 0. */
struct names {
    char *text;
    size_t bytes, count;
};

static const char *name_at(const void *context, size_t i)
{
    const char *name = ((const struct names *)context)->text;
    while (i-- > 0) name += strlen(name) + 1;
    return name;
}

char guess_delimiter(const char *text, size_t size_bytes, int used)
{
    static const char others[] = {';', '\t', '|', ','};
    if (used == BLANKS || memchr(text, used, size_bytes)) return '\0';
    for (size_t i = 0; i < sizeof others; i++)
        if (memchr(text, others[i], size_bytes)) return others[i];
    return '\0';
}

void name_delimiter(char delimiter, char name[8])
{
    snprintf(name, 8, delimiter == '\t' ? "TAB" : "%c", delimiter);
}

/* Suggests the name that was probably meant, or lists the existing names. */
static void say_missing(const struct rows *rows, const struct field *wanted,
                        const struct names *names, char *message, size_t room)
{
    char name[64];
    size_t size = wanted->size_bytes < sizeof name ? csv_copy(wanted, name) : 0;
    name[size] = '\0';
    char other = guess_delimiter(names->text, names->bytes, rows->delimiter), shown[8] = "";
    const char *guess =
        size && (names->count > 1 || !other) ? nearest(name, name_at, names, names->count) : NULL;
    int used = snprintf(message, room, "has no column \"%.*s\" in its header",
                        wanted->size_bytes < 60 ? (int)wanted->size_bytes : 60, wanted->text);
    if (guess) {
        snprintf(message + used, room - (size_t)used, "; did you mean %s?", guess);
        return;
    }
    const char *at = names->text;
    for (size_t i = 0; i < names->count && i < 8; i++, at += strlen(at) + 1)
        used += snprintf(message + used, room - (size_t)used, "%s%.40s%s", i ? ", " : "; it has ",
                         at, i == 7 && names->count > 8 ? ", ..." : "");
    if (names->count > 1 || !other) return;
    name_delimiter(other, shown);
    snprintf(message + used, room - (size_t)used, "; if fields are separated by %s, pass -t '%s'",
             shown, shown);
}

/* Returns the column with that name. If there is not exactly one, sets a message and returns 0. */
static uint64_t find_name(const struct rows *rows, const struct field *name, const char *text,
                          const char *end, char *message, size_t room)
{
    struct names names = {.text = malloc((size_t)(end - text) + 1)};
    uint64_t found = 0, number = 0;
    const char *at = text;
    snprintf(message, room, "out of memory");
    for (struct field field; names.text; at++) {
        at = csv_field(at, end, (char)rows->delimiter, &field);
        number++;
        names.count++;
        names.bytes += csv_copy(&field, names.text + names.bytes);
        names.text[names.bytes++] = '\0';
        if (csv_equal(&field, name)) {
            if (found) {
                snprintf(message, room,
                         "has the column \"%.*s\" twice; name it by its number, with --header",
                         name->size_bytes < 60 ? (int)name->size_bytes : 60, name->text);
                free(names.text);
                return 0;
            }
            found = number;
        }
        if (at == end || *at == '\n') break;
    }
    if (names.text && !found) say_missing(rows, name, &names, message, room);
    free(names.text);
    return found;
}

bool rows_read_header(const struct rows *rows, const char *text, size_t size_bytes,
                      struct wanted *wanted, size_t *header_bytes, char *message,
                      size_t message_bytes)
{
    const char *begin = text + rows_mark(rows, text, size_bytes), *end = text + size_bytes;
    const char *at = begin;
    uint64_t numbers[MAX_COLUMNS];
    for (struct field field;; at++) {
        at = csv_field(at, end, (char)rows->delimiter, &field);
        if (field.why) {
            snprintf(message, message_bytes, "header: %s", field.why);
            return false;
        }
        if (at == end || *at == '\n') break;
    }
    *header_bytes = (size_t)(at - text) + (at < end);
    if (memchr(begin, '\0', (size_t)(at - begin))) {
        snprintf(message, message_bytes, "header: holds a NUL byte; if it is UTF-16, convert it");
        return false;
    }
    for (size_t i = 0; i < rows->found; i++) {
        numbers[i] = rows->numbers[i];
        if (numbers[i] == 0)
            numbers[i] = find_name(rows, &rows->names[i], begin, at, message, message_bytes);
        if (numbers[i] == 0) return false;
    }
    rows_want(rows, numbers, wanted);
    for (size_t i = 1; i < rows->found; i++)
        if (wanted->numbers[i] == wanted->numbers[i - 1]) {
            snprintf(message, message_bytes, "column %" PRIu64 " is named twice, in different ways",
                     wanted->numbers[i]);
            return false;
        }
    return true;
}

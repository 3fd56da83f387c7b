/* rows.h - defines what a row is, and which of its fields make up its key: -k, --csv, --jsonl. */
#ifndef PETAL_CLI_ROWS_H
#define PETAL_CLI_ROWS_H

#include "keys/field.h"
#include "keys/jsonpath.h"
#include "keys/row_keys.h"
#include "options/options.h"

#include <stdint.h>

enum row_form {
    ROWS_ARE_KEYS, /* lines, each a key */
    ROWS_OF_FIELDS,
    ROWS_OF_CSV,
    ROWS_OF_JSON
};

/* One of the columns may be only for the time. */
enum { MAX_COLUMNS = MAX_JSON_PATHS, BLANKS = -1 };

/* Joins a key's fields if it has several. */
#define FIELD_JOINT '\x1f'

struct rows {
    enum row_form form;
    char separator; /* after each row */
    int delimiter;  /* between fields; BLANKS: one or more blanks */
    bool crlf;      /* a CR before the separator is not part of the last field */
    bool has_header;
    bool strict;   /* a row without a key is an error */
    bool has_time; /* rows have a time, in the field at `time_place` */
    size_t time_place;
    size_t columns;                  /* the fields that make up the key, in this order */
    size_t found;                    /* columns of the key and of the time */
    uint64_t numbers[MAX_COLUMNS];   /* numbered from 1; 0 if given by name */
    struct field names[MAX_COLUMNS]; /* of CSV */
    struct json_path paths[MAX_COLUMNS];
    struct key_rule rule; /* how the text is divided into keys */
};

/* The columns in ascending order, in which a row is read, and each column's position in the key. */
struct wanted {
    uint64_t numbers[MAX_COLUMNS];
    uint8_t places[MAX_COLUMNS];
};

/* Returns false after reporting an error. */
bool rows_read(struct rows *rows, const struct args *args);

/* Only for columns by number. */
void rows_want(const struct rows *rows, const uint64_t *numbers, struct wanted *wanted);

/* Finds the columns in a header row, and the end of that row, including its separator. If there is
 * no separator, all of the text is the header. Returns false if the columns were not found;
 * `message` gives the reason. */
bool rows_read_header(const struct rows *rows, const char *text, size_t size_bytes,
                      struct wanted *wanted, size_t *header_bytes, char *message,
                      size_t message_bytes);

/* Returns the size of the UTF-8 byte order mark at the start of a CSV or JSON file: 3, or 0 if
 * there is none. The mark is part of the first row. */
size_t rows_mark(const struct rows *rows, const char *text, size_t size_bytes);

/* Guesses which character separates the fields of a row that doesn't contain `used`. Returns 0 if
 * there is no likely one. */
char guess_delimiter(const char *text, size_t size_bytes, int used);

/* Returns the delimiter in the form that -t accepts. */
void name_delimiter(char delimiter, char name[8]);

#endif

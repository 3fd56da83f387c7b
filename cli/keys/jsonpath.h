/* jsonpath.h - finds a value in a JSON text by its path: .user.email, .tags[0], ."odd name". */
#ifndef PETAL_CLI_JSONPATH_H
#define PETAL_CLI_JSONPATH_H

#include "keys/field.h"

#include <stdint.h>

enum { MAX_JSON_PATHS = 16 };

struct json_step {
    const char *name; /* of a member, or NULL for an element */
    size_t name_bytes;
    uint64_t index;
};

struct json_path {
    struct json_step steps[16];
    size_t count;
};

/* Reads the path at the start of `text`, and returns what follows it. Returns NULL if it isn't a
 * path; *why is the reason. */
const char *json_path_read(const char *text, struct json_path *path, const char **why);

bool json_paths_equal(const struct json_path *a, const struct json_path *b);

/* The bytes between a row's scalars. In most rows of a file they are the same as in the row before.
 * Such a row is well-formed too, and has its values in the same places. Initialize with {0}. It
 * points into the text from which it was learned. */
struct json_shape {
    struct json_piece {
        const char *text;
        size_t size_bytes;
        uint64_t first, mask; /* its first 8 bytes, and a mask of those that exist */
        uint64_t last;        /* its last 8 bytes, if it has more than 8 */
        size_t scalar_bytes;  /* length of the scalar after it, in the previous row */
        struct field *value;  /* where the scalar after it goes */
    } pieces[64 + 1];         /* one before each scalar, and one after the last */
    size_t scalars;           /* 0 if no shape is known */
};

/* Rows of text, each of which ends with the separator, a control character. */
struct json_rows {
    const char *end; /* where the last separator is; SCAN_SLACK readable bytes follow */
    char separator;
    const struct json_path *paths;
    size_t count;
    struct field *values, unwanted; /* the current row's, by path; any other value */
    struct json_shape shape;
};

/* Finds the values at the paths in the row at `at`, which is one JSON value and is checked
 * completely. The value of a string is its characters; the value of a number or boolean is its
 * text. If a member occurs twice, the last one counts. Returns where the row ends; *why is NULL if
 * all values exist, otherwise the reason. */
const char *json_find(struct json_rows *rows, const char *at, const char **why);

/* Writes a field's value, which is no longer than its text, and sets *size_bytes. Returns false if
 * it has no value; *why is the reason. */
bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why);

#endif

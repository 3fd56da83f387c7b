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

/* Reads the path at the start of `text`. Returns the position after the path. If there is no valid
 * path, returns NULL and sets *why to the reason. */
const char *json_path_read(const char *text, struct json_path *path, const char **why);

bool json_paths_equal(const struct json_path *a, const struct json_path *b);

/* The bytes between a row's scalars. In most rows of a file these bytes are the same as in the
 * previous row. Such a row is well-formed too, and its values have the same positions among the
 * scalars. Initialize with {0}. The shape points into the text from which it was learned. */
struct json_shape {
    struct json_piece {
        const char *text;
        size_t size_bytes;
        uint64_t first, mask; /* first 8 bytes, and a mask of those that exist */
        uint64_t last;        /* last 8 bytes, if there are more than 8 */
        size_t scalar_bytes;  /* length of the next scalar in the previous row */
        struct field *value;  /* where the next scalar is stored */
    } pieces[64 + 1];         /* one before each scalar, and one after the last */
    size_t scalars;           /* 0 if no shape is known */
};

/* Rows of text, each of which ends with the separator, a control character. */
struct json_rows {
    const char *end; /* position of the last separator; SCAN_SLACK readable bytes follow */
    char separator;
    const struct json_path *paths;
    size_t count;
    struct field *values, unwanted; /* of the current row, by path; then any other value */
    struct json_shape shape;
};

/* Finds the values at the paths in the row at `at`, which is one JSON value and is checked in full.
 * The value of a string is its characters; the value of a number or boolean is its text. If a
 * member occurs twice, the last one counts. Returns the end of the row. Sets *why to NULL if all
 * values exist, otherwise to the reason why not. */
const char *json_find(struct json_rows *rows, const char *at, const char **why);

/* Writes a field's value, which is no longer than its text, and sets *size_bytes. If the field has
 * no value, returns false and sets *why to the reason. */
bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why);

#endif

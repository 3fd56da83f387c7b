/* jsonpath.h - one value of a JSON text, by its path: .user.email, .tags[0], ."odd name". */
#ifndef PETAL_CLI_JSONPATH_H
#define PETAL_CLI_JSONPATH_H

#include "keys/field.h"

#include <stdint.h>

enum { MAX_JSON_PATHS = 16 };

struct json_step {
    const char *name; /* of a member; NULL: an element */
    size_t name_bytes;
    uint64_t index;
};

struct json_path {
    struct json_step steps[16];
    size_t count;
};

/* Reads the path that `text` begins with, and returns what follows it. NULL: it is none, for the
 * reason given. */
const char *json_path_read(const char *text, struct json_path *path, const char **why);

bool json_paths_equal(const struct json_path *a, const struct json_path *b);

/* What stands between the scalars of a row: for most rows of a file, the same bytes as in the row
 * before. Such a row is as well-formed as that one, and has its values in the same places. Begins
 * as {0}, and points into the text that it was learned from. */
struct json_shape {
    struct json_piece {
        const char *text;
        size_t size_bytes;
        uint64_t first, mask; /* its first 8 bytes, and which of them there are */
        uint64_t last;        /* its last 8 bytes, if it has more than 8 */
        size_t scalar_bytes;  /* of the scalar after it, in the row before */
        struct field *value;  /* where the scalar after it goes */
    } pieces[64 + 1];         /* one before each scalar, and one up to the end of the row */
    size_t scalars;           /* 0: no shape is known */
};

/* A text of rows, each of which ends with the separator, a control character. */
struct json_rows {
    const char *end; /* the last separator stands here, with SCAN_SLACK readable bytes after it */
    char separator;
    const struct json_path *paths;
    size_t count;
    struct field *values, unwanted; /* those at the paths in the current row; any other one */
    struct json_shape shape;
};

/* Finds the values at the paths in the row at `at`, which is one JSON value and is checked as a
 * whole. A string is its characters, a number or a boolean its text. If a member is there twice,
 * the last one counts. Returns where the row ends; *why is NULL if all values are there, or says
 * why not. */
const char *json_find(struct json_rows *rows, const char *at, const char **why);

/* Writes the value of a field, which is no longer than its text, and its size; or says why it has
 * none. */
bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why);

#endif

/* jsonpath.h - one value of a JSON text, by its path: .user.email, .tags[0], ."odd name". */
#ifndef PETAL_CLI_JSONPATH_H
#define PETAL_CLI_JSONPATH_H

#include "field.h"

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

/* What stands between the scalars of a text: for most rows of a file, the same bytes as in the row
 * before. Such a row is as well-formed as that one, and has its values in the same places. Begins
 * as {0}, and points into the text that it was learned from. */
struct json_shape {
    struct json_scalar {
        const char *begin, *end;
        bool is_wanted;
        size_t path; /* whose value it is */
    } scalars[64];
    size_t count; /* 0: none is known */
    const char *begin, *end;
};

/* Finds the values at the paths in a text that is one JSON value, which is checked as a whole. A
 * string is its characters, a number or a boolean its text. If a member is there twice, the last
 * one counts. NULL: all are there; otherwise why not. */
const char *json_find(const char *text, size_t size_bytes, const struct json_path *paths,
                      size_t count, struct json_shape *shape, struct field *fields);

/* Writes the value of a field, which is no longer than its text, and its size; or says why it has
 * none. */
bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why);

#endif

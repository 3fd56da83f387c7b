/* jsonpath.h - one value of a JSON text, by its path: .user.email, .tags[0], ."odd name". */
#ifndef PETAL_CLI_JSONPATH_H
#define PETAL_CLI_JSONPATH_H

#include "field.h"

#include <stdint.h>

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

/* Finds the value at the path in a text that is one JSON value, which it checks as a whole. A
 * string is its characters, a number or a boolean its text. If a member is there twice, the last
 * one counts. */
void json_find(const char *text, size_t size_bytes, const struct json_path *path,
               struct field *field);

/* Writes the value of a field, which is no longer than its text, and its size; or says why it has
 * none. */
bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why);

#endif

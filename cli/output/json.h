/* json.h - one JSON object per line. 64-bit integers stay exact; unknown numbers (NAN, infinity)
 * become null. */
#ifndef PETAL_CLI_JSON_H
#define PETAL_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    bool begun;
};

void json_begin(struct json *json, FILE *out);
void json_text(struct json *json, const char *name, const char *value); /* NULL: null */
void json_bytes(struct json *json, const char *name, const void *value, size_t size_bytes);
void json_count(struct json *json, const char *name, uint64_t value);
void json_number(struct json *json, const char *name, double value);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
void json_list(struct json *json,
               const char *name); /* of objects, each between json_open() and json_close() */
void json_item(struct json *json, const char *value); /* of a list of strings */
void json_open(struct json *json);
void json_close(struct json *json);
void json_list_end(struct json *json);
void json_end(struct json *json); /* and a newline */

#endif

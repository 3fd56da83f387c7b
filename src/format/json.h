/* json.h - JSON for codecs: an object with the few members that filters are written as. jsmn finds where strings and
 * numbers end; since it lets pass what is no JSON, the structure is checked here. Nothing is allocated: an array of a
 * million numbers is walked in the text.
 *
 * An optional part of the build: without PETAL_WITH_JSMN, petal_json_read() is PETAL_ERR_UNSUPPORTED and says so.
 *
 * Every failure names the byte of the file: PETAL_ERR_TRUNCATED where the text ends too soon, otherwise
 * PETAL_ERR_DAMAGED. */
#ifndef PETAL_FORMAT_JSON_H
#define PETAL_FORMAT_JSON_H

#include "format/format.h"

#define PETAL_JSON_MOST_MEMBERS 16u

enum json_kind { JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT, JSON_WORD /* true, false, null */ };

/* Where a value stands in the text: of strings what is between the quotes, of arrays and objects the brackets too. */
struct json_value {
    enum json_kind kind;
    uint64_t at, end;
};

/* An object whose members have different names. The text must stay. */
struct json_object {
    const char *text;
    uint64_t size_bytes, at;
    uint32_t count;
    struct {
        struct json_value name, value;
    } members[PETAL_JSON_MOST_MEMBERS];
};

/* An array on the way from its first element to its last. JavaScript writes a typed array as an object with the indices
 * as names: that is one too, with `named` set. */
struct json_array {
    const char *text;
    uint64_t at, end, index;
    bool named;
};

/* Does the text begin as an object does? */
bool petal_json_begins(const uint8_t *bytes, uint64_t size_bytes);

/* Reads a text that is one object, with space around it at most. */
petal_status petal_json_read(const uint8_t *bytes, uint64_t size_bytes, struct json_object *object, petal_error *error);

/* The value of a member, or NULL. */
const struct json_value *petal_json_find(const struct json_object *object, const char *name);

/* The value of a member that must be there and be this: a whole number from 0 to UINT64_MAX, without fraction or
 * exponent; one from INT64_MIN to INT64_MAX; a string without escapes; an object; an array. *at tells where it stands,
 * for messages. */
petal_status petal_json_unsigned(const struct json_object *object, const char *name, uint64_t *number, uint64_t *at,
                                 petal_error *error);
petal_status petal_json_signed(const struct json_object *object, const char *name, int64_t *number, uint64_t *at,
                               petal_error *error);
petal_status petal_json_string(const struct json_object *object, const char *name, const char **chars, uint64_t *count,
                               uint64_t *at, petal_error *error);
petal_status petal_json_inner(const struct json_object *object, const char *name, struct json_object *inner,
                              petal_error *error);
petal_status petal_json_array(const struct json_object *object, const char *name, struct json_array *array,
                              petal_error *error);

/* The next element, which must be a whole number that fits. *more is false, and *number as it was, behind the last. */
petal_status petal_json_next(struct json_array *array, int64_t *number, bool *more, petal_error *error);

#endif

/* json.h - reads JSON (RFC 8259) for codecs: an object with the few members that describe a filter.
 * The reader checks the structure, numbers and escapes, and that the text is UTF-8. It allocates
 * nothing; even an array of a million numbers is read in place.
 *
 * Names are compared after decoding, so "\u006d" is "m". Members that a codec doesn't ask for are
 * skipped. If several members have the same name, the last one counts, as in Go's encoding/json and
 * JavaScript's JSON.parse.
 *
 * Every failure reports its offset in the file. The status is PETAL_ERR_TRUNCATED if the text ends
 * too early, otherwise PETAL_ERR_DAMAGED. */
#ifndef PETAL_FORMAT_JSON_H
#define PETAL_FORMAT_JSON_H

#include "format/format.h"

#define PETAL_JSON_MAX_NAMES 8u

enum json_kind {
    JSON_NONE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_WORD /* true, false, null */
};

/* The position of a value in the text. The position of a string excludes the quotes; the position
 * of an array or object includes the brackets. */
struct json_value {
    enum json_kind kind; /* JSON_NONE: the member is missing */
    uint64_t at, end;
};

/* The names of the members that a codec needs, in ASCII and terminated by NULL. If any_case is set,
 * "M" also matches "m", as in Go's encoding/json. */
struct json_names {
    bool any_case;
    const char *name[PETAL_JSON_MAX_NAMES + 1];
};

/* An object, and the values of the members that the codec needs. The text must outlive the
 * object. */
struct json_object {
    const char *text;
    uint64_t size_bytes, at;
    const struct json_names *names;
    struct json_value values[PETAL_JSON_MAX_NAMES];
    bool has_others; /* other members were skipped */
};

/* An array that is read from its first element to its last. JavaScript writes a typed array as an
 * object with the indices as names. The reader also accepts such an object, and sets `named`. */
struct json_array {
    const char *text;
    uint64_t at, end, index;
    bool named;
};

/* Returns true if the text starts like a JSON object. */
bool petal_json_begins(const uint8_t *bytes, uint64_t size_bytes);

/* Reads text that consists of one object, with only white space around it. */
petal_status petal_json_read(const uint8_t *bytes, uint64_t size_bytes,
                             const struct json_names *names, struct json_object *object,
                             petal_error *error);

/* The first call returns the value of a member that is listed in object->names, or NULL if the
 * member is missing. The second call returns true if the member is of this kind. */
const struct json_value *petal_json_find(const struct json_object *object, const char *name);
bool petal_json_has(const struct json_object *object, const char *name, enum json_kind kind);

/* Each call returns the value of a member. The member must exist and have this type: an integer
 * from 0 to UINT64_MAX, without fraction or exponent; an integer from INT64_MIN to INT64_MAX; a
 * string without escapes; an object; an array. *at is the value's offset, for messages. */
petal_status petal_json_unsigned(const struct json_object *object, const char *name,
                                 uint64_t *number, uint64_t *at, petal_error *error);
petal_status petal_json_signed(const struct json_object *object, const char *name, int64_t *number,
                               uint64_t *at, petal_error *error);
petal_status petal_json_string(const struct json_object *object, const char *name,
                               const char **chars, uint64_t *count, uint64_t *at,
                               petal_error *error);
petal_status petal_json_inner(const struct json_object *object, const char *name,
                              const struct json_names *names, struct json_object *inner,
                              petal_error *error);
petal_status petal_json_array(const struct json_object *object, const char *name,
                              struct json_array *array, petal_error *error);

/* Reads the next element, which must be an integer that fits. At the end of the array, sets *more
 * to false and leaves *number unchanged. */
petal_status petal_json_next(struct json_array *array, int64_t *number, bool *more,
                             petal_error *error);

#endif

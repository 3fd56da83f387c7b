/* json.c - see json.h. */
#include "format/json.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool petal_json_begins(const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t at = 0;
    while (at < size_bytes && is_space((char)bytes[at])) at++;
    return at < size_bytes && bytes[at] == '{';
}

static bool same_text(const char *text, const struct json_value *value, const char *other, uint64_t size_bytes)
{
    return value->end - value->at == size_bytes && memcmp(text + value->at, other, (size_t)size_bytes) == 0;
}

/* ---- the text -------------------------------------------------------------------------------------------------------- */

#ifdef PETAL_WITH_JSMN

#define JSMN_STATIC
#define JSMN_STRICT
#include <jsmn.h>

#define MOST_BYTES ((uint64_t)INT32_MAX) /* jsmn counts in int */
#define MOST_DEPTH 4u                    /* no filter is written deeper */

struct reader {
    const char *text;
    uint64_t size_bytes, at;
    petal_error *error;
};

static petal_status stop(const struct reader *from, const char *what)
{
    if (from->at < from->size_bytes) return petal_format_damaged(from->error, from->at, what);
    return petal_fail_at(from->error, PETAL_ERR_TRUNCATED, from->at, "truncated (within the JSON text); copy it again");
}

static petal_status not_json(const struct reader *from)
{
    return stop(from, "not JSON");
}

static void skip_space(struct reader *from)
{
    while (from->at < from->size_bytes && is_space(from->text[from->at])) from->at++;
}

/* Is this the next character but for space? Then it is passed. */
static bool take(struct reader *from, char c)
{
    skip_space(from);
    if (from->at == from->size_bytes || from->text[from->at] != c) return false;
    from->at++;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* -? digits (. digits)? (e digits)?, where the first digits have no needless zero. */
static bool is_number(const char *at, const char *end)
{
    if (at < end && *at == '-') at++;
    const char *whole = at;
    at = pass_digits(at, end);
    if (at == whole || (*whole == '0' && at - whole > 1)) return false;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = pass_digits(at, end);
        if (at == fraction) return false;
    }
    if (at == end || (*at != 'e' && *at != 'E')) return at == end;
    if (++at < end && (*at == '+' || *at == '-')) at++;
    return at < end && pass_digits(at, end) == end;
}

static bool is_word(const char *at, uint64_t chars)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (chars == strlen(words[i]) && memcmp(at, words[i], (size_t)chars) == 0) return true;
    return false;
}

/* jsmn takes for a number or a word whatever begins like one. */
static bool tell_kind(const char *text, jsmntype_t type, struct json_value *value)
{
    const char *at = text + value->at, *end = text + value->end;
    value->kind = type == JSMN_STRING ? JSON_STRING : is_number(at, end) ? JSON_NUMBER : JSON_WORD;
    return value->kind != JSON_WORD || is_word(at, value->end - value->at);
}

/* A string, number or word. Given room for one token, jsmn stops where the next begins. */
static petal_status read_scalar(struct reader *from, struct json_value *value)
{
    jsmn_parser parser;
    jsmntok_t token = {JSMN_UNDEFINED, 0, 0, 0};
    skip_space(from);
    jsmn_init(&parser);
    int result = jsmn_parse(&parser, from->text + from->at, (size_t)(from->size_bytes - from->at), &token, 1);
    if (token.type == JSMN_UNDEFINED && result == JSMN_ERROR_PART) from->at = from->size_bytes; /* ends within it */
    if (token.type != JSMN_STRING && token.type != JSMN_PRIMITIVE) return not_json(from);
    if (token.start != (token.type == JSMN_STRING)) return not_json(from); /* jsmn passes over commas and more */
    value->at = from->at + (uint64_t)token.start;
    value->end = from->at + (uint64_t)token.end;
    if (!tell_kind(from->text, token.type, value)) return not_json(from);
    from->at = value->end + (value->kind == JSON_STRING);
    return PETAL_OK;
}

static petal_status read_value(struct reader *from, uint32_t depth, struct json_value *value);

static petal_status add_member(struct reader *from, struct json_object *object, const struct json_value *name,
                               const struct json_value *value)
{
    for (uint32_t i = 0; i < object->count; i++)
        if (same_text(from->text, &object->members[i].name, from->text + name->at, name->end - name->at))
            return petal_format_damaged(from->error, name->at, "a member that was there before");
    if (object->count == PETAL_JSON_MOST_MEMBERS)
        return petal_format_damaged(from->error, name->at, "more members than any filter has");
    object->members[object->count].name = *name;
    object->members[object->count++].value = *value;
    return PETAL_OK;
}

/* `object` is NULL where it is only passed over. */
static petal_status read_members(struct reader *from, uint32_t depth, struct json_object *object)
{
    struct json_value name = {0}, value = {0};
    if (!take(from, '{')) return not_json(from);
    if (take(from, '}')) return PETAL_OK;
    do {
        petal_status status = read_scalar(from, &name);
        if (status == PETAL_OK && (name.kind != JSON_STRING || !take(from, ':'))) status = not_json(from);
        if (status == PETAL_OK) status = read_value(from, depth + 1, &value);
        if (status == PETAL_OK && object) status = add_member(from, object, &name, &value);
        if (status != PETAL_OK) return status;
    } while (take(from, ','));
    return take(from, '}') ? PETAL_OK : not_json(from);
}

static petal_status pass_elements(struct reader *from, uint32_t depth)
{
    struct json_value value = {0};
    if (!take(from, '[')) return not_json(from);
    if (take(from, ']')) return PETAL_OK;
    do {
        petal_status status = read_value(from, depth + 1, &value);
        if (status != PETAL_OK) return status;
    } while (take(from, ','));
    return take(from, ']') ? PETAL_OK : not_json(from);
}

static petal_status read_value(struct reader *from, uint32_t depth, struct json_value *value)
{
    skip_space(from);
    char first = from->at < from->size_bytes ? from->text[from->at] : '\0';
    if (first != '{' && first != '[') return read_scalar(from, value);
    if (depth > MOST_DEPTH) return stop(from, "nested deeper than any filter");
    value->kind = first == '{' ? JSON_OBJECT : JSON_ARRAY;
    value->at = from->at;
    petal_status status = first == '{' ? read_members(from, depth, NULL) : pass_elements(from, depth);
    value->end = from->at;
    return status;
}

/* The object that begins at from->at. */
static petal_status read_object(struct reader *from, struct json_object *object)
{
    *object = (struct json_object){.text = from->text, .size_bytes = from->size_bytes, .at = from->at};
    return read_members(from, 1, object);
}

petal_status petal_json_read(const uint8_t *bytes, uint64_t size_bytes, struct json_object *object, petal_error *error)
{
    struct reader from = {(const char *)bytes, size_bytes, 0, error};
    if (size_bytes > MOST_BYTES) return petal_fail(error, PETAL_ERR_LIMIT, "a JSON text above 2 GiB");
    skip_space(&from);
    petal_status status = read_object(&from, object);
    skip_space(&from);
    if (status == PETAL_OK && from.at < size_bytes) return petal_format_damaged(error, from.at, "bytes after the end");
    return status;
}

static petal_status read_inner(const struct json_object *object, uint64_t at, struct json_object *inner,
                               petal_error *error)
{
    struct reader from = {object->text, object->size_bytes, at, error};
    return read_object(&from, inner);
}

#else

static petal_status unsupported(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_UNSUPPORTED, "this petal was built without jsmn, which reads JSON");
}

petal_status petal_json_read(const uint8_t *bytes, uint64_t size_bytes, struct json_object *object, petal_error *error)
{
    (void)bytes, (void)size_bytes, (void)object;
    return unsupported(error);
}

static petal_status read_inner(const struct json_object *object, uint64_t at, struct json_object *inner,
                               petal_error *error)
{
    (void)object, (void)at, (void)inner;
    return unsupported(error);
}

#endif

/* ---- members --------------------------------------------------------------------------------------------------------- */

const struct json_value *petal_json_find(const struct json_object *object, const char *name)
{
    for (uint32_t i = 0; i < object->count; i++)
        if (same_text(object->text, &object->members[i].name, name, strlen(name))) return &object->members[i].value;
    return NULL;
}

/* The member, if it is of that kind. */
static petal_status get(const struct json_object *object, const char *name, enum json_kind kind,
                        const struct json_value **value, petal_error *error)
{
    static const char *const kinds[] = {"number", "string", "array", "object", "word"};
    char what[64];
    *value = petal_json_find(object, name);
    if (*value && (*value)->kind == kind) return PETAL_OK;
    snprintf(what, sizeof what, "no %s \"%s\"", kinds[kind], name);
    return petal_format_damaged(error, *value ? (*value)->at : object->at, what);
}

/* Decimal digits and nothing else; false where they are too many. */
static bool to_number(const char *digits, const char *end, uint64_t *number)
{
    uint64_t sum = 0;
    if (digits == end) return false;
    for (; digits < end; digits++) {
        if (*digits < '0' || *digits > '9' || sum > (UINT64_MAX - (uint64_t)(*digits - '0')) / 10) return false;
        sum = sum * 10 + (uint64_t)(*digits - '0');
    }
    *number = sum;
    return true;
}

petal_status petal_json_unsigned(const struct json_object *object, const char *name, uint64_t *number, uint64_t *at,
                                 petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_NUMBER, &value, error);
    if (status != PETAL_OK) return status;
    *at = value->at;
    if (to_number(object->text + value->at, object->text + value->end, number)) return PETAL_OK;
    return petal_format_damaged(error, value->at, "not a whole number that fits");
}

/* With a sign in front, perhaps; false where it is no such number. */
static bool to_signed(const char *digits, const char *end, int64_t *number)
{
    bool negative = digits < end && *digits == '-';
    uint64_t magnitude, most = (uint64_t)INT64_MAX + negative;
    if (!to_number(digits + negative, end, &magnitude) || magnitude > most) return false;
    *number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

petal_status petal_json_signed(const struct json_object *object, const char *name, int64_t *number, uint64_t *at,
                               petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_NUMBER, &value, error);
    if (status != PETAL_OK) return status;
    *at = value->at;
    if (to_signed(object->text + value->at, object->text + value->end, number)) return PETAL_OK;
    return petal_format_damaged(error, value->at, "not a whole number that fits");
}

petal_status petal_json_string(const struct json_object *object, const char *name, const char **chars, uint64_t *count,
                               uint64_t *at, petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_STRING, &value, error);
    if (status != PETAL_OK) return status;
    for (uint64_t i = value->at; i < value->end; i++)
        if (object->text[i] == '\\' || (unsigned char)object->text[i] < 0x20)
            return petal_format_damaged(error, i, "an escape or a control character where none is needed");
    *at = value->at;
    *chars = object->text + value->at;
    *count = value->end - value->at;
    return PETAL_OK;
}

petal_status petal_json_inner(const struct json_object *object, const char *name, struct json_object *inner,
                              petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_OBJECT, &value, error);
    return status == PETAL_OK ? read_inner(object, value->at, inner, error) : status;
}

petal_status petal_json_array(const struct json_object *object, const char *name, struct json_array *array,
                              petal_error *error)
{
    const struct json_value *value = petal_json_find(object, name);
    bool named = value && value->kind == JSON_OBJECT;
    petal_status status = get(object, name, named ? JSON_OBJECT : JSON_ARRAY, &value, error);
    if (status == PETAL_OK) *array = (struct json_array){object->text, value->at + 1, value->end - 1, 0, named};
    return status;
}

/* That commas and colons stand where they must was seen when the object was read. */
static void pass_space_and(struct json_array *array, char mark)
{
    const char *text = array->text;
    while (array->at < array->end && (is_space(text[array->at]) || text[array->at] == mark)) array->at++;
}

/* Passes the name of the next element, which must be its index. */
static bool pass_index(struct json_array *array)
{
    char name[24];
    uint64_t size = (uint64_t)snprintf(name, sizeof name, "\"%llu\"", (unsigned long long)array->index++);
    if (array->end - array->at < size || memcmp(array->text + array->at, name, (size_t)size) != 0) return false;
    array->at += size;
    pass_space_and(array, ':');
    return true;
}

petal_status petal_json_next(struct json_array *array, int64_t *number, bool *more, petal_error *error)
{
    const char *text = array->text;
    pass_space_and(array, ',');
    *more = array->at < array->end;
    if (!*more) return PETAL_OK;
    if (array->named && !pass_index(array))
        return petal_format_damaged(error, array->at, "a name that is not the next index");
    uint64_t at = array->at, end = at;
    while (end < array->end && !is_space(text[end]) && text[end] != ',') end++;
    array->at = end;
    if (to_signed(text + at, text + end, number)) return PETAL_OK;
    return petal_format_damaged(error, at, "not a whole number that fits");
}

/* json.c - see json.h. */
#include "format/foreign/json.h"

#include "base/error.h"
#include "base/utf16.h"

#include <string.h>

#define MAX_DEPTH 128u /* also checked in values that are skipped */

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

/* ---- the text -------------------------------------------------------------------------------- */

struct reader {
    const char *text;
    uint64_t size_bytes, at;
    petal_error *error;
};

static petal_status stop(const struct reader *from, const char *what)
{
    if (from->at < from->size_bytes) return petal_format_damaged(from->error, from->at, what);
    return petal_fail_at(from->error, PETAL_ERR_TRUNCATED, from->at,
                         "truncated (within the JSON text); copy it again");
}

static petal_status not_json(const struct reader *from)
{
    return stop(from, "not JSON");
}

static void skip_space(struct reader *from)
{
    while (from->at < from->size_bytes && is_space(from->text[from->at])) from->at++;
}

/* Returns the next character, or 0 at the end of the text. The text itself contains no 0. */
static char peek(const struct reader *from)
{
    return from->at < from->size_bytes ? from->text[from->at] : '\0';
}

/* Skips white space and then this character. Returns false if a different character follows. */
static bool take(struct reader *from, char c)
{
    skip_space(from);
    if (peek(from) != c) return false;
    from->at++;
    return true;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* The syntax of a number is -? digits (. digits)? (e digits)?, and the first digits have no leading
 * zero. */
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

/* Reads up to the next delimiter. If the text ends first, the number may be incomplete. */
static petal_status read_bare(struct reader *from, struct json_value *value)
{
    static const char ends[] = "{}[]:,\" \t\n\r";
    uint64_t at = from->at, end = at;
    while (end < from->size_bytes && !memchr(ends, from->text[end], sizeof ends)) end++;
    *value = (struct json_value){JSON_NUMBER, at, end};
    if (!is_number(from->text + at, from->text + end)) value->kind = JSON_WORD;
    bool is_value = value->kind == JSON_NUMBER || is_word(from->text + at, end - at);
    if (is_value || end == from->size_bytes) from->at = end;
    return is_value ? PETAL_OK : not_json(from);
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool hex_digit(char c, uint32_t *digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (!at || c == '\0') return false;
    *digit = (uint32_t)(at - digits);
    return true;
}

/* Skips a backslash and its escape. */
static petal_status pass_escape(struct reader *from)
{
    uint32_t digit;
    from->at++;
    if (peek(from) != 'u') {
        if (peek(from) == '\0' || !strchr("\"\\/bfnrt", peek(from))) return not_json(from);
        from->at++;
        return PETAL_OK;
    }
    from->at++;
    for (int i = 0; i < 4; i++, from->at++)
        if (!hex_digit(peek(from), &digit)) return not_json(from);
    return PETAL_OK;
}

/* Skips a character outside ASCII. utf16.h accepts surrogates, but UTF-8 doesn't. */
static petal_status pass_character(struct reader *from)
{
    struct utf8_lead lead;
    const uint8_t *at = (const uint8_t *)from->text + from->at;
    if (!utf8_lead_of(*at, &lead)) return stop(from, "not UTF-8");
    if (*at == 0xed) lead.high = 0x9f;
    from->at++;
    for (; lead.follow > 0; lead.follow--, lead.low = 0x80, lead.high = 0xbf) {
        uint8_t next = (uint8_t)peek(from);
        if (next < lead.low || next > lead.high) return stop(from, "not UTF-8");
        from->at++;
    }
    return PETAL_OK;
}

static petal_status read_string(struct reader *from, struct json_value *value)
{
    petal_status status = PETAL_OK;
    if (!take(from, '"')) return not_json(from);
    *value = (struct json_value){JSON_STRING, from->at, from->at};
    while (status == PETAL_OK && peek(from) != '"') {
        uint8_t c = (uint8_t)peek(from);
        if (c < 0x20) return not_json(from); /* a control character, or the end of the text */
        if (c == '\\')
            status = pass_escape(from);
        else if (c >= 0x80)
            status = pass_character(from);
        else
            from->at++;
    }
    value->end = from->at++;
    return status;
}

/* Returns the next character of a string that has been checked: a code point, or the value of an
 * escape, which may be a surrogate. */
static uint32_t next_character(const char *text, uint64_t *at, uint64_t end)
{
    static const char escapes[] = "b\bf\fn\nr\rt\t";
    struct utf16_reader from = utf16_from(text + *at, (size_t)(end - *at));
    uint32_t point = utf8_next(&from), digit = 0;
    *at = end - from.left;
    if (point != '\\') return point;
    char c = text[(*at)++];
    if (c != 'u') {
        const char *known = strchr(escapes, c);
        return (uint8_t)(known && (known - escapes) % 2 == 0 ? known[1] : c);
    }
    point = 0;
    for (int i = 0; i < 4; i++) {
        hex_digit(text[(*at)++], &digit);
        point = point << 4 | digit;
    }
    return point;
}

/* Applies Unicode's simple case folding if the result is ASCII. Two characters outside ASCII have
 * such a result: the Kelvin sign and the long s. */
static uint32_t folded(uint32_t point)
{
    if (point == 0x212a) return 'k';
    if (point == 0x17f) return 's';
    return point >= 'A' && point <= 'Z' ? point - 'A' + 'a' : point;
}

/* Returns true if the string, with its escapes decoded, equals `other`, which is ASCII. */
static bool same_text(const char *text, const struct json_value *value, const char *other,
                      bool any_case)
{
    uint64_t at = value->at;
    for (; at < value->end && *other; other++) {
        uint32_t point = next_character(text, &at, value->end), wanted = (uint8_t)*other;
        if (point != wanted && !(any_case && folded(point) == folded(wanted))) return false;
    }
    return at == value->end && !*other;
}

/* ---- objects and arrays ---------------------------------------------------------------------- */

static petal_status read_value(struct reader *from, uint32_t depth, struct json_value *value);

static void note_member(struct json_object *object, const struct json_value *name,
                        const struct json_value *value)
{
    const struct json_names *names = object->names;
    uint32_t i = 0;
    while (names->name[i] && !same_text(object->text, name, names->name[i], names->any_case)) i++;
    if (names->name[i])
        object->values[i] = *value;
    else
        object->has_others = true;
}

/* `object` is NULL if the object is only skipped. */
static petal_status read_members(struct reader *from, uint32_t depth, struct json_object *object)
{
    struct json_value name = {0}, value = {0};
    if (!take(from, '{')) return not_json(from);
    if (take(from, '}')) return PETAL_OK;
    do {
        petal_status status = read_string(from, &name);
        if (status == PETAL_OK && !take(from, ':')) status = not_json(from);
        if (status == PETAL_OK) status = read_value(from, depth + 1, &value);
        if (status != PETAL_OK) return status;
        if (object) note_member(object, &name, &value);
    } while (take(from, ','));
    return take(from, '}') ? PETAL_OK : not_json(from);
}

static petal_status pass_elements(struct reader *from, uint32_t depth)
{
    struct json_value value;
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
    char first = peek(from);
    if (first == '"') return read_string(from, value);
    if (first != '{' && first != '[') return read_bare(from, value);
    if (depth > MAX_DEPTH) return stop(from, "nested deeper than any filter");
    *value = (struct json_value){first == '{' ? JSON_OBJECT : JSON_ARRAY, from->at, from->at};
    petal_status status =
        first == '{' ? read_members(from, depth, NULL) : pass_elements(from, depth);
    value->end = from->at;
    return status;
}

/* Reads the object that starts at from->at. */
static petal_status read_object(struct reader *from, const struct json_names *names,
                                struct json_object *object)
{
    *object = (struct json_object){
        .text = from->text, .size_bytes = from->size_bytes, .at = from->at, .names = names};
    return read_members(from, 1, object);
}

petal_status petal_json_read(const uint8_t *bytes, uint64_t size_bytes,
                             const struct json_names *names, struct json_object *object,
                             petal_error *error)
{
    struct reader from = {(const char *)bytes, size_bytes, 0, error};
    skip_space(&from);
    petal_status status = read_object(&from, names, object);
    skip_space(&from);
    if (status == PETAL_OK && from.at < size_bytes)
        return petal_format_damaged(error, from.at, "bytes after the end");
    return status;
}

/* ---- members --------------------------------------------------------------------------------- */

const struct json_value *petal_json_find(const struct json_object *object, const char *name)
{
    uint32_t i = 0;
    /* Codecs request only names in the list. */
    while (strcmp(object->names->name[i], name) != 0) i++;
    return object->values[i].kind == JSON_NONE ? NULL : &object->values[i];
}

bool petal_json_has(const struct json_object *object, const char *name, enum json_kind kind)
{
    const struct json_value *value = petal_json_find(object, name);
    return value && value->kind == kind;
}

/* Returns the member if it has this kind, otherwise fails. */
static petal_status get(const struct json_object *object, const char *name, enum json_kind kind,
                        const struct json_value **value, petal_error *error)
{
    static const char *const kinds[] = {"member", "number", "string", "array", "object", "word"};
    char what[64];
    *value = petal_json_find(object, name);
    if (*value && (*value)->kind == kind) return PETAL_OK;
    petal_text(what, sizeof what, "no %s \"%s\"", kinds[kind], name);
    return petal_format_damaged(error, *value ? (*value)->at : object->at, what);
}

/* Converts text that consists only of decimal digits. Returns false on overflow. */
static bool to_number(const char *digits, const char *end, uint64_t *number)
{
    uint64_t sum = 0;
    if (digits == end) return false;
    for (; digits < end; digits++) {
        if (*digits < '0' || *digits > '9' || sum > (UINT64_MAX - (uint64_t)(*digits - '0')) / 10)
            return false;
        sum = sum * 10 + (uint64_t)(*digits - '0');
    }
    *number = sum;
    return true;
}

petal_status petal_json_unsigned(const struct json_object *object, const char *name,
                                 uint64_t *number, uint64_t *at, petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_NUMBER, &value, error);
    if (status != PETAL_OK) return status;
    *at = value->at;
    if (to_number(object->text + value->at, object->text + value->end, number)) return PETAL_OK;
    return petal_format_damaged(error, value->at, "not a whole number that fits");
}

/* Like to_number(), but accepts a sign. Returns false if the text is not an integer or doesn't
 * fit. */
static bool to_signed(const char *digits, const char *end, int64_t *number)
{
    bool negative = digits < end && *digits == '-';
    uint64_t magnitude, max = (uint64_t)INT64_MAX + negative;
    if (!to_number(digits + negative, end, &magnitude) || magnitude > max) return false;
    *number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

petal_status petal_json_signed(const struct json_object *object, const char *name, int64_t *number,
                               uint64_t *at, petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_NUMBER, &value, error);
    if (status != PETAL_OK) return status;
    *at = value->at;
    if (to_signed(object->text + value->at, object->text + value->end, number)) return PETAL_OK;
    return petal_format_damaged(error, value->at, "not a whole number that fits");
}

petal_status petal_json_string(const struct json_object *object, const char *name,
                               const char **chars, uint64_t *count, uint64_t *at,
                               petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_STRING, &value, error);
    if (status != PETAL_OK) return status;
    for (uint64_t i = value->at; i < value->end; i++)
        if (object->text[i] == '\\' || (unsigned char)object->text[i] < 0x20)
            return petal_format_damaged(error, i,
                                        "an escape or a control character where none is needed");
    *at = value->at;
    *chars = object->text + value->at;
    *count = value->end - value->at;
    return PETAL_OK;
}

petal_status petal_json_inner(const struct json_object *object, const char *name,
                              const struct json_names *names, struct json_object *inner,
                              petal_error *error)
{
    const struct json_value *value;
    petal_status status = get(object, name, JSON_OBJECT, &value, error);
    if (status != PETAL_OK) return status;
    struct reader from = {object->text, object->size_bytes, value->at, error};
    return read_object(&from, names, inner);
}

petal_status petal_json_array(const struct json_object *object, const char *name,
                              struct json_array *array, petal_error *error)
{
    const struct json_value *value = petal_json_find(object, name);
    bool named = value && value->kind == JSON_OBJECT;
    petal_status status = get(object, name, named ? JSON_OBJECT : JSON_ARRAY, &value, error);
    if (status == PETAL_OK)
        *array = (struct json_array){object->text, value->at + 1, value->end - 1, 0, named};
    return status;
}

/* Skips white space and this mark. Commas and colons were checked when the enclosing object was
 * read. */
static void pass_space_and(struct json_array *array, char mark)
{
    const char *text = array->text;
    while (array->at < array->end && (is_space(text[array->at]) || text[array->at] == mark))
        array->at++;
}

/* Skips the name of the next element, which must equal the element's index. */
static bool pass_index(struct json_array *array)
{
    char digits[24];
    struct reader from = {array->text, array->end, array->at, NULL};
    struct json_value name = {0};
    petal_text(digits, sizeof digits, "%llu", (unsigned long long)array->index++);
    if (read_string(&from, &name) != PETAL_OK || !same_text(array->text, &name, digits, false))
        return false;
    array->at = from.at;
    pass_space_and(array, ':');
    return true;
}

petal_status petal_json_next(struct json_array *array, int64_t *number, bool *more,
                             petal_error *error)
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

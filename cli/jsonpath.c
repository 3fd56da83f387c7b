/* jsonpath.c - see jsonpath.h.
 *
 * The grammar is that of RFC 8259. The text is walked and no tree is built: that would cost more
 * than everything else that is done with a line. A row of the same shape as the one before takes no
 * walk at all:
 *
 *      {"n":17,"user":{"name":"Ada"},"ok":true}
 *      ||||||  ||||||||||||||||       ||||||    |       the same bytes, with scalars between them
 */
#include "jsonpath.h"

#include "decode.h"
#include "scan.h"

#include <string.h>

enum { MAX_DEPTH = 1000 };

static const char NOT_JSON[] = "not JSON", TOO_DEEP[] = "nested too deeply",
                  NO_VALUE[] = "no value at the path", IS_NULL[] = "the value is null",
                  IS_COMPOUND[] = "the value is an object or an array",
                  LONE_SURROGATE[] = "half of a surrogate pair";

/* ---- paths ----------------------------------------------------------------------------------- */

static const char BAD_PATH[] = "not a path; write .name, .a.b, .list[0] or .\"odd name\"";

static const char *read_name(const char *at, struct json_step *step)
{
    bool quoted = *at == '"';
    step->name = at += quoted;
    step->name_bytes = strcspn(at, quoted ? "\"" : ".[],\" ");
    at += step->name_bytes;
    if (quoted ? *at != '"' : step->name_bytes == 0) return NULL;
    return at + quoted;
}

static const char *read_index(const char *at, struct json_step *step)
{
    const char *begin = at;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(step->index, 10, &step->index) ||
            __builtin_add_overflow(step->index, (uint64_t)(*at - '0'), &step->index))
            return NULL;
    return at > begin && *at == ']' ? at + 1 : NULL;
}

const char *json_path_read(const char *text, struct json_path *path, const char **why)
{
    const char *at = text;
    *path = (struct json_path){.count = 0};
    *why = BAD_PATH;
    if (*at != '.') return NULL;
    if (at[1] == '\0' || at[1] == ',') return at + 1; /* the whole value */
    if (at[1] == '[') at++;
    while (*at == '.' || *at == '[') {
        if (path->count == sizeof path->steps / sizeof path->steps[0]) {
            *why = "a path of more than 16 steps";
            return NULL;
        }
        struct json_step *step = &path->steps[path->count++];
        at = *at == '.' ? read_name(at + 1, step) : read_index(at + 1, step);
        if (!at) return NULL;
    }
    return *at == '\0' || *at == ',' ? at : NULL;
}

static bool steps_equal(const struct json_step *a, const struct json_step *b)
{
    if (!a->name || !b->name) return !a->name && !b->name && a->index == b->index;
    return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

bool json_paths_equal(const struct json_path *a, const struct json_path *b)
{
    size_t i = 0;
    while (i < a->count && i < b->count && steps_equal(&a->steps[i], &b->steps[i])) i++;
    return i == a->count && i == b->count;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The four digits of \u, or -1. */
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static size_t put_point(uint32_t point, char *to)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, point >>= 6) to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)((0xf00 >> size & 0xff) | point);
    return size;
}

/* What stands at `at` in a string whose escapes are right, as bytes; returns what follows it. NULL:
 * half of a pair. */
static const char *next_character(const char *at, const char *end, char to[4], size_t *size_bytes)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    *size_bytes = 1;
    to[0] = *at;
    if (*at != '\\') return at + 1;
    if (at[1] != 'u') {
        to[0] = values[strchr(letters, at[1]) - letters];
        return at + 2;
    }
    uint32_t point = (uint32_t)read_unit(at + 2, end);
    at += 6;
    if (point >= 0xd800 && point < 0xdc00) {
        bool paired = end - at >= 6 && at[0] == '\\' && at[1] == 'u';
        uint32_t low = paired ? (uint32_t)read_unit(at + 2, end) : 0;
        if (low < 0xdc00 || low > 0xdfff) return NULL;
        point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
        at += 6;
    } else if (point >= 0xdc00 && point < 0xe000) {
        return NULL;
    }
    *size_bytes = put_point(point, to);
    return at;
}

bool json_copy(const struct field *field, char *to, size_t *size_bytes, const char **why)
{
    const char *at = field->text, *end = at + field->size_bytes;
    char *begin = to;
    *why = LONE_SURROGATE;
    while (at < end) {
        char bytes[4];
        size_t size;
        at = next_character(at, end, bytes, &size);
        if (!at) return false;
        memcpy(to, bytes, size);
        to += size;
    }
    *size_bytes = (size_t)(to - begin);
    return true;
}

static bool is_named(const struct field *string, const struct json_step *step)
{
    const char *at = string->text, *end = at + string->size_bytes;
    if (!step->name) return false;
    if (string->form == FIELD_AS_IS)
        return string->size_bytes == step->name_bytes &&
               memcmp(at, step->name, step->name_bytes) == 0;
    size_t matched = 0;
    while (at && at < end) {
        char bytes[4];
        size_t size;
        at = next_character(at, end, bytes, &size);
        if (!at || size > step->name_bytes - matched ||
            memcmp(bytes, step->name + matched, size) != 0)
            return false;
        matched += size;
    }
    return matched == step->name_bytes;
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct walk {
    const char *at, *end;
    const char *why; /* it ended; NULL: it goes on */
    unsigned depth;
    struct json_shape *shape; /* to be learned, or NULL */
};

static bool refuse(struct walk *walk, const char *why)
{
    walk->why = why;
    return false;
}

static void skip_blanks(struct walk *walk)
{
    while (walk->at < walk->end &&
           (*walk->at == ' ' || *walk->at == '\t' || *walk->at == '\r' || *walk->at == '\n'))
        walk->at++;
}

/* Takes the byte if it comes next. */
static bool take(struct walk *walk, char c)
{
    if (walk->at == walk->end || *walk->at != c) return false;
    walk->at++;
    return true;
}

static bool take_escape(struct walk *walk)
{
    const char *at = walk->at, *end = walk->end;
    size_t size = end - at > 1 && at[1] == 'u' ? 6 : 2;
    bool good = (size_t)(end - at) >= size &&
                (size == 6 ? read_unit(at + 2, end) >= 0
                           : at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL);
    if (good) walk->at += size;
    return good;
}

static inline bool take_string(struct walk *walk, struct field *string)
{
    if (!take(walk, '"')) return refuse(walk, NOT_JSON);
    *string = (struct field){.text = walk->at};
    for (;;) {
        const char *at = walk->at = find_end_of_plain(walk->at, walk->end);
        if (at == walk->end || (*at != '"' && *at != '\\')) return refuse(walk, NOT_JSON);
        if (*at == '"') break;
        string->form = FIELD_OF_JSON;
        if (!take_escape(walk)) return refuse(walk, NOT_JSON);
    }
    string->size_bytes = (size_t)(walk->at++ - string->text);
    return true;
}

static bool take_digits(struct walk *walk)
{
    const char *begin = walk->at;
    while (walk->at < walk->end && *walk->at >= '0' && *walk->at <= '9') walk->at++;
    return walk->at > begin;
}

static bool take_number(struct walk *walk)
{
    take(walk, '-');
    bool good = take(walk, '0') || take_digits(walk);
    if (good && take(walk, '.')) good = take_digits(walk);
    if (good && (take(walk, 'e') || take(walk, 'E'))) {
        if (!take(walk, '+')) take(walk, '-');
        good = take_digits(walk);
    }
    return good || refuse(walk, NOT_JSON);
}

static bool take_word(struct walk *walk, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(walk->end - walk->at) < size || memcmp(walk->at, word, size) != 0)
        return refuse(walk, NOT_JSON);
    walk->at += size;
    return true;
}

/* A string, a number or a word. */
static inline bool take_scalar(struct walk *walk, struct field *value)
{
    const char *begin = walk->at;
    char first = begin < walk->end ? *begin : '\0';
    if (first == '"') return take_string(walk, value);
    bool good = first == 't'   ? take_word(walk, "true")
                : first == 'f' ? take_word(walk, "false")
                : first == 'n' ? take_word(walk, "null")
                               : take_number(walk);
    *value = (struct field){.text = begin, .size_bytes = (size_t)(walk->at - begin)};
    if (first == 'n') value->why = IS_NULL;
    return good;
}

static bool take_value(struct walk *walk, const struct json_step *steps, size_t count,
                       struct field *found);

/* The member's name and its colon, before the value. */
static bool take_member_name(struct walk *walk, struct field *name)
{
    skip_blanks(walk);
    if (!take_string(walk, name)) return false;
    skip_blanks(walk);
    return take(walk, ':') || refuse(walk, NOT_JSON);
}

/* What stands in {} or []. `found` is that of steps[0], if it names something in here; it is NULL
 * for values that are only passed over. */
static bool take_compound(struct walk *walk, const struct json_step *steps, size_t count,
                          struct field *found)
{
    bool is_object = *walk->at++ == '{';
    char closing = is_object ? '}' : ']';
    if (found) *found = (struct field){.why = count ? NO_VALUE : IS_COMPOUND};
    if (++walk->depth > MAX_DEPTH) return refuse(walk, TOO_DEEP);
    skip_blanks(walk);
    bool empty = take(walk, closing);
    for (uint64_t i = 0; !empty; i++) {
        struct field name;
        if (is_object && !take_member_name(walk, &name)) return false;
        bool wanted = found && count > 0 &&
                      (is_object ? is_named(&name, steps) : !steps->name && steps->index == i);
        if (!take_value(walk, wanted ? steps + 1 : NULL, wanted ? count - 1 : 0,
                        wanted ? found : NULL))
            return false;
        skip_blanks(walk);
        if (take(walk, closing)) break;
        if (!take(walk, ',')) return refuse(walk, NOT_JSON);
    }
    walk->depth--;
    return true;
}

enum { MAX_SCALARS = sizeof((struct json_shape *)0)->scalars / sizeof(struct json_scalar) };

static void note_scalar(struct json_shape *shape, const char *begin, const char *end)
{
    if (shape->count < MAX_SCALARS)
        shape->scalars[shape->count] = (struct json_scalar){.begin = begin, .end = end};
    shape->count++;
}

static bool take_value(struct walk *walk, const struct json_step *steps, size_t count,
                       struct field *found)
{
    struct field scalar;
    skip_blanks(walk);
    if (walk->at < walk->end && (*walk->at == '{' || *walk->at == '['))
        return take_compound(walk, steps, count, found);
    const char *begin = walk->at;
    if (!take_scalar(walk, &scalar)) return false;
    if (walk->shape) note_scalar(walk->shape, begin, walk->at);
    if (found) *found = count ? (struct field){.why = NO_VALUE} : scalar;
    return true;
}

static void find_one(const char *text, size_t size_bytes, const struct json_path *path,
                     struct json_shape *shape, struct field *field)
{
    struct walk walk = {.at = text, .end = text + size_bytes, .shape = shape};
    *field = (struct field){.why = NOT_JSON};
    bool good = take_value(&walk, path->steps, path->count, field);
    skip_blanks(&walk);
    if (good && walk.at < walk.end) good = refuse(&walk, NOT_JSON);
    if (!good) field->why = walk.why;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static inline uint64_t load(const char *at, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

/* memcmp() for pieces so short that a call costs more than the comparison: some bytes are compared
 * twice instead. */
static inline bool are_same(const char *a, const char *b, size_t size)
{
    for (; size > 8; a += 8, b += 8, size -= 8)
        if (load(a, 8) != load(b, 8)) return false;
    if (size == 8) return load(a, 8) == load(b, 8);
    size_t last = size & 4 ? size - 4 : 0;
    if (size & 4) return load(a, 4) == load(b, 4) && load(a + last, 4) == load(b + last, 4);
    while (size > 0 && *a == *b) a++, b++, size--;
    return size == 0;
}

/* False: the text has another shape, or is malformed. */
static bool follow(const struct json_shape *shape, const char *text, size_t size_bytes,
                   struct field *fields)
{
    struct walk walk = {.at = text, .end = text + size_bytes};
    const char *from = shape->begin;
    struct field unwanted;
    for (size_t i = 0;; i++) {
        const char *to = i < shape->count ? shape->scalars[i].begin : shape->end;
        size_t size = (size_t)(to - from);
        if ((size_t)(walk.end - walk.at) < size || !are_same(walk.at, from, size)) return false;
        walk.at += size;
        if (i == shape->count) return walk.at == walk.end;
        const struct json_scalar *scalar = &shape->scalars[i];
        if (!take_scalar(&walk, scalar->is_wanted ? &fields[scalar->path] : &unwanted))
            return false;
        from = scalar->end;
    }
}

/* Notes which scalars the wanted values were. */
static void finish_shape(struct json_shape *shape, const char *text, size_t size_bytes,
                         const struct field *fields, size_t count)
{
    shape->begin = text;
    shape->end = text + size_bytes;
    if (shape->count > MAX_SCALARS) shape->count = 0;
    for (size_t i = 0; i < count && shape->count > 0; i++) {
        struct json_scalar *scalar = shape->scalars;
        while (scalar->end <= fields[i].text) scalar++;
        scalar->is_wanted = true;
        scalar->path = i;
    }
}

static const char *first_trouble(const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].why) return fields[i].why;
    return NULL;
}

const char *json_find(const char *text, size_t size_bytes, const struct json_path *paths,
                      size_t count, struct json_shape *shape, struct field *fields)
{
    if (shape->count && follow(shape, text, size_bytes, fields))
        return first_trouble(fields, count);
    shape->count = 0;
    for (size_t i = 0; i < count; i++)
        find_one(text, size_bytes, &paths[i], i == 0 ? shape : NULL, &fields[i]);
    const char *why = first_trouble(fields, count);
    if (why)
        shape->count = 0;
    else
        finish_shape(shape, text, size_bytes, fields, count);
    return why;
}

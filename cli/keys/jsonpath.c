/* jsonpath.c - see jsonpath.h.
 *
 * The grammar is RFC 8259's. The text is parsed without building a tree, which would take longer
 * than all other work on a line. A row with the same shape as the previous row need not be parsed:
 *
 *      {"n":17,"user":{"name":"Ada"},"ok":true}
 *      ||||||  ||||||||||||||||       ||||||    |       the same bytes, with scalars between them
 */
#include "keys/jsonpath.h"

#include "keys/scan.h"
#include "options/decode.h"

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

/* Returns the value of the four hex digits after \u, or -1 if they are invalid. */
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

/* Decodes the character at `at` in a string whose escapes are valid. Returns the position after it,
 * or NULL at an unpaired surrogate. */
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
    const char *why; /* why parsing ended, or NULL if it continues */
    unsigned depth;
    struct json_shape *shape; /* the shape to be learned, or NULL */
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

/* Consumes the next byte if it is the given one. */
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
        const char *at = walk->at = end_of_plain(walk->at);
        if (*at != '"' && *at != '\\') return refuse(walk, NOT_JSON);
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

/* Parses a member's name and its colon, up to the value. */
static bool take_member_name(struct walk *walk, struct field *name)
{
    skip_blanks(walk);
    if (!take_string(walk, name)) return false;
    skip_blanks(walk);
    return take(walk, ':') || refuse(walk, NOT_JSON);
}

/* Parses the contents of {} or []. If steps[0] names one of the elements, its value is stored in
 * `found`, which is NULL if values are only skipped. */
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

enum { MAX_SCALARS = sizeof((struct json_shape *)0)->pieces / sizeof(struct json_piece) - 1 };

static void note_scalar(struct json_shape *shape, const char *begin, const char *end)
{
    if (shape->scalars < MAX_SCALARS) {
        struct json_piece *piece = &shape->pieces[shape->scalars];
        piece->size_bytes = (size_t)(begin - piece->text);
        piece[1].text = end;
    }
    shape->scalars++;
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

static void find_one(const char *at, const char *end, const struct json_path *path,
                     struct json_shape *shape, struct field *field)
{
    struct walk walk = {.at = at, .end = end, .shape = shape};
    *field = (struct field){.why = NOT_JSON};
    bool good = take_value(&walk, path->steps, path->count, field);
    skip_blanks(&walk);
    if (good && walk.at < walk.end) good = refuse(&walk, NOT_JSON);
    if (!good) field->why = walk.why;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static inline uint64_t load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* A memcmp() for pieces so short that a call would cost more than the comparison. */
static inline bool is_at(const struct json_piece *piece, const char *at, const char *end)
{
    size_t size = piece->size_bytes;
    if ((load(at) & piece->mask) != piece->first) return false;
    if (size <= 8) return true;
    if (size <= 16) return load(at + size - 8) == piece->last;
    return (size_t)(end - at) >= size - 1 && memcmp(at + 8, piece->text + 8, size - 8) == 0;
}

/* Returns the end of the integer at `at` if it has only a few digits, otherwise NULL. */
static inline const char *end_of_integer(const char *at)
{
    size_t digits = count_digits(at);
    bool good = digits > 0 && digits < TEXT_PART_BYTES && (*at != '0' || digits == 1);
    at += digits;
    return good && *at != '.' && (*at | 0x20) != 'e' ? at : NULL;
}

/* Parses the scalar at `at`. Returns the position after it, or NULL if it is malformed. */
__attribute__((noinline)) static const char *take_any(const char *at, const char *end,
                                                      struct field *value)
{
    struct walk walk = {.at = at, .end = end};
    return take_scalar(&walk, value) ? walk.at : NULL;
}

/* Parses a scalar, with a fast path for the most common ones: integers, and strings without
 * escapes. */
static inline const char *take_next(const char *at, const char *end, struct field *value)
{
    const char *stop;
    if (*at == '"') {
        stop = end_of_plain(at + 1);
        *value = (struct field){.text = at + 1, .size_bytes = (size_t)(stop - at) - 1};
        if (*stop == '"') return stop + 1;
    } else if ((stop = end_of_integer(at))) {
        *value = (struct field){.text = at, .size_bytes = (size_t)(stop - at)};
        return stop;
    }
    return take_any(at, end, value);
}

/* Returns its argument unchanged, but prevents the compiler from knowing that. */
static inline const char *hide(const char *at)
{
    __asm__("" : "+r"(at));
    return at;
}

/* Returns the end of the row if it has the known shape, or NULL if it has a different shape or is
 * malformed. Nothing after the separator is interpreted, because no scalar contains the separator
 * and the last piece ends with it.
 *
 * The position of each scalar depends on the end of the previous one, so the CPU would have to run
 * the searches one after the other. But many scalars have the same length as in the previous row.
 * If the branch that tests this is predicted correctly, the next search starts immediately. That
 * halves the time. */
static inline const char *follow(struct json_rows *rows, const char *at)
{
    struct json_piece *piece = rows->shape.pieces, *last = piece + rows->shape.scalars;
    for (;; piece++) {
        if (!is_at(piece, at, rows->end)) return NULL;
        at += piece->size_bytes;
        if (piece == last) return at - 1;
        const char *stop = take_next(at, rows->end, piece->value);
        const char *expected = at + piece->scalar_bytes, *same = hide(expected);
        if (stop == expected) {
            at = same;
        } else if (stop) {
            piece->scalar_bytes = (size_t)(stop - at);
            at = stop;
        } else {
            return NULL;
        }
    }
}

static void finish_piece(struct json_piece *piece)
{
    size_t size = piece->size_bytes;
    piece->first = piece->mask = 0;
    memcpy(&piece->first, piece->text, size < 8 ? size : 8);
    memset(&piece->mask, 0xff, size < 8 ? size : 8);
    piece->scalar_bytes = 0;
    if (size > 8) piece->last = load(piece->text + size - 8);
}

/* Called if the row ends at `stop` and all requested values were found. */
static void finish_shape(struct json_rows *rows, const char *stop)
{
    struct json_piece *first = rows->shape.pieces, *last = first + rows->shape.scalars;
    last->size_bytes = (size_t)(stop + 1 - last->text);
    for (struct json_piece *piece = first; piece <= last; piece++) {
        finish_piece(piece);
        piece->value = &rows->unwanted;
    }
    for (size_t i = 0; i < rows->count; i++) {
        struct json_piece *piece = first;
        while (piece[1].text <= rows->values[i].text) piece++;
        piece->value = &rows->values[i];
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static inline const char *first_trouble(const struct json_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->values[i].why) return rows->values[i].why;
    return NULL;
}

/* Parses the row and learns its shape. */
__attribute__((noinline)) static const char *walk_row(struct json_rows *rows, const char *at)
{
    const char *stop = memchr(at, rows->separator, (size_t)(rows->end - at) + 1);
    struct json_shape *shape = &rows->shape;
    shape->scalars = 0;
    shape->pieces[0].text = at;
    for (size_t i = 0; i < rows->count; i++)
        find_one(at, stop, &rows->paths[i], i == 0 ? shape : NULL, &rows->values[i]);
    if (shape->scalars > MAX_SCALARS || first_trouble(rows))
        shape->scalars = 0;
    else
        finish_shape(rows, stop);
    return stop;
}

const char *json_find(struct json_rows *rows, const char *at, const char **why)
{
    const char *stop = rows->shape.scalars ? follow(rows, at) : NULL;
    if (!stop) stop = walk_row(rows, at);
    *why = first_trouble(rows);
    return stop;
}

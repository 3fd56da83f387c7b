/* javascript.c - see javascript.h. */
#include "format/foreign/javascript.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

enum { AT_BITS = 0, AT_HASHES = 8, AT_SEED = 16, AT_FORM = 24, HEADER_BYTES = 32 };

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status check_shape(const struct js_filter *about, uint32_t scheme, struct shape *shape,
                                petal_error *error)
{
    const struct scheme_def *def = petal_scheme_find(scheme);
    *shape = (struct shape){scheme, (uint32_t)about->hashes, 0, about->bits};
    if (about->hashes < 1 || about->hashes > def->max_hashes)
        return petal_format_damaged(error, about->hashes_at, "an impossible number of hashes");
    if (petal_normalize(shape, NULL) != PETAL_OK)
        return petal_format_damaged(error, about->bits_at, "an impossible number of bits");
    return PETAL_OK;
}

petal_status petal_js_image(const struct js_filter *about, uint32_t scheme,
                            const petal_allocator *allocator, uint8_t **image,
                            uint64_t *image_bytes, petal_error *error)
{
    struct shape shape;
    petal_status status = check_shape(about, scheme, &shape, error);
    if (status != PETAL_OK) return status;
    uint64_t size_bytes = HEADER_BYTES + petal_shape_bytes(&shape);
    uint8_t *made = petal_alloc(allocator, size_bytes);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    store64le(made + AT_BITS, about->bits);
    store64le(made + AT_HASHES, about->hashes);
    store64le(made + AT_SEED, about->seed);
    store64le(made + AT_FORM, about->form);
    *image = made;
    *image_bytes = size_bytes;
    return PETAL_OK;
}

uint8_t *petal_js_image_bits(uint8_t *image)
{
    return image + HEADER_BYTES;
}

void petal_js_set_form(uint8_t *image, uint8_t form)
{
    store64le(image + AT_FORM, form);
}

enum { BITS, HASHES, NUMBERS }; /* indices into js_list.members */

enum fit petal_js_list_fits(const struct js_list *list, const uint8_t *bytes, uint64_t size_bytes)
{
    struct json_object object;
    if (!petal_json_begins(bytes, size_bytes)) return FIT_NO;
    if (petal_json_read(bytes, size_bytes, &list->members, &object, NULL) != PETAL_OK)
        return FIT_NO;
    const char *const *name = list->members.name;
    bool named = petal_json_has(&object, name[BITS], JSON_NUMBER) &&
                 petal_json_has(&object, name[HASHES], JSON_NUMBER) &&
                 (petal_json_has(&object, name[NUMBERS], JSON_ARRAY) ||
                  petal_json_has(&object, name[NUMBERS], JSON_OBJECT));
    return named ? FIT_POSSIBLE : FIT_NO;
}

static petal_status count_numbers(struct json_array numbers, uint64_t *count, petal_error *error)
{
    int64_t number;
    bool more = true;
    for (*count = 0;; ++*count) {
        petal_status status = petal_json_next(&numbers, &number, &more, error);
        if (status != PETAL_OK || !more) return status;
    }
}

petal_status petal_js_list_image(const struct js_list *list, const struct json_object *object,
                                 struct js_filter *about, struct json_array *numbers,
                                 const petal_allocator *allocator, uint8_t **image,
                                 uint64_t *image_bytes, petal_error *error)
{
    const char *const *name = list->members.name;
    uint64_t count, unit_bits = (uint64_t)list->unit_bytes * 8;
    petal_status status =
        petal_json_unsigned(object, name[BITS], &about->bits, &about->bits_at, error);
    if (status == PETAL_OK)
        status =
            petal_json_unsigned(object, name[HASHES], &about->hashes, &about->hashes_at, error);
    if (status == PETAL_OK) status = petal_json_array(object, name[NUMBERS], numbers, error);
    if (status == PETAL_OK) status = count_numbers(*numbers, &count, error);
    if (status != PETAL_OK) return status;
    if (numbers->named) about->form |= list->named;
    if (about->bits / unit_bits + (about->bits % unit_bits != 0) != count)
        return petal_format_damaged(error, about->bits_at, "a size that differs from the list's");
    return petal_js_image(about, list->scheme, allocator, image, image_bytes, error);
}

petal_status petal_js_list_bits(const struct js_list *list, struct json_array numbers, int64_t min,
                                int64_t max, uint8_t *image, uint64_t image_bytes, int64_t *lowest,
                                int64_t *highest, petal_error *error)
{
    uint8_t unit[8];
    int64_t number = 0;
    bool more;
    *lowest = *highest = 0;
    /* The code units were counted beforehand, so the buffer has room for all of them. */
    for (uint64_t at = HEADER_BYTES; at < image_bytes; at += list->unit_bytes) {
        petal_status status = petal_json_next(&numbers, &number, &more, error);
        if (status != PETAL_OK) return status;
        if (number < min || number > max)
            return petal_format_damaged(error, numbers.at, "a number before it is out of range");
        if (number < *lowest) *lowest = number;
        if (number > *highest) *highest = number;
        store64le(unit, (uint64_t)number);
        memcpy(image + at, unit, list->unit_bytes);
    }
    return PETAL_OK;
}

uint8_t petal_js_line_break(const uint8_t *bytes, uint64_t size_bytes)
{
    return size_bytes > 0 && bytes[size_bytes - 1] == '\n' ? JS_FORM_LINE_BREAK : 0;
}

petal_status petal_js_read(const struct format_def *self, const uint8_t *image,
                           uint64_t image_bytes, struct description *about, petal_error *error)
{
    struct shape shape = {self->scheme, (uint32_t)load64le(image + AT_HASHES), 0,
                          load64le(image + AT_BITS)};
    petal_format_single(about, &shape, HEADER_BYTES);
    about->seed = load64le(image + AT_SEED);
    about->origin.size_bytes = 1;
    about->origin.near[0] = image[AT_FORM];
    if (petal_tail_is_clear(&shape, image + HEADER_BYTES, image_bytes - HEADER_BYTES))
        return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_DAMAGED,
        "damaged (bits set beyond the last); restore a copy or rebuild from the keys");
}

/* ---- writing --------------------------------------------------------------------------------- */

uint8_t petal_js_form(const petal_filter *filter, const struct format_def *format, uint8_t newest)
{
    return filter->origin.format == format->id && filter->origin.size_bytes == 1
               ? filter->origin.near[0]
               : newest;
}

static void flush(struct js_text *text)
{
    if (text->status == PETAL_OK)
        text->status = petal_put(text->sink, text->chars, text->used, text->error);
    text->used = 0;
}

void petal_js_put(struct js_text *text, const char *chars)
{
    for (; *chars; chars++) {
        if (text->used == sizeof text->chars) flush(text);
        text->chars[text->used++] = *chars;
    }
}

void petal_js_put_number(struct js_text *text, int64_t number)
{
    char digits[24];
    petal_text(digits, sizeof digits, "%lld", (long long)number);
    petal_js_put(text, digits);
}

static int64_t load_unit(const uint8_t *from, uint32_t unit_bytes, bool is_signed)
{
    if (unit_bytes == 1) return *from;
    return is_signed ? (int64_t)(int32_t)load32le(from) : (int64_t)load32le(from);
}

static void put_name(struct js_text *text, uint64_t index)
{
    petal_js_put(text, "\"");
    petal_js_put_number(text, (int64_t)index);
    petal_js_put(text, "\":");
}

static void put_list(struct js_text *text, const struct bit_array *array, uint32_t unit_bytes,
                     bool is_signed, bool named)
{
    petal_js_put(text, named ? "{" : "[");
    for (uint64_t i = 0; i < array->size_bytes / unit_bytes && text->status == PETAL_OK; i++) {
        if (i > 0) petal_js_put(text, ",");
        if (named) put_name(text, i);
        petal_js_put_number(text, load_unit(array->bytes + i * unit_bytes, unit_bytes, is_signed));
    }
    petal_js_put(text, named ? "}" : "]");
}

static void put_member(struct js_text *text, const char *begin, const char *name)
{
    petal_js_put(text, begin);
    petal_js_put(text, "\"");
    petal_js_put(text, name);
    petal_js_put(text, "\":");
}

petal_status petal_js_list_write(const struct js_list *list, const petal_filter *filter,
                                 const struct sink *sink, const char *begin, bool is_signed,
                                 uint8_t form, petal_error *error)
{
    struct js_text text = {.sink = sink, .error = error, .status = PETAL_OK};
    const struct bit_array *array = &filter->layers->array;
    put_member(&text, begin, list->members.name[BITS]);
    petal_js_put_number(&text, (int64_t)array->shape.bits);
    put_member(&text, ",", list->members.name[HASHES]);
    petal_js_put_number(&text, array->shape.hashes);
    put_member(&text, ",", list->members.name[NUMBERS]);
    put_list(&text, array, list->unit_bytes, is_signed, form & list->named);
    petal_js_put(&text, "}");
    return petal_js_end(&text, form);
}

void petal_js_put_base64(struct js_text *text, const struct bit_array *array)
{
    enum { PIECE_BYTES = 300, PIECE_CHARS = PIECE_BYTES / 3 * 4 };
    char chars[PIECE_CHARS + 1] = {0};
    for (uint64_t at = 0; at < array->size_bytes && text->status == PETAL_OK; at += PIECE_BYTES) {
        uint64_t left = array->size_bytes - at;
        size_t piece = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        petal_base64_encode(array->bytes + at, piece, BASE64_STANDARD, chars);
        chars[(piece + 2) / 3 * 4] = '\0';
        petal_js_put(text, chars);
    }
}

petal_status petal_js_end(struct js_text *text, uint8_t form)
{
    if (form & JS_FORM_LINE_BREAK) petal_js_put(text, "\n");
    flush(text);
    return text->status;
}

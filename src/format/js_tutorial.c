/* js_tutorial.c - the Bloom filter class of many JavaScript tutorials, in JSON.
 *
 *     {"size":20,"hashCount":3,"bits":[0,16,5]}
 *
 * bits are ceil(size / 8) bytes, each with its lowest bit first. They may be what JSON.stringify
 * makes of a Uint8Array itself, {"0":0,"1":16,"2":5}. docs/formats/js-tutorial.md.
 *
 * Origin data: the form (javascript.h). */
#include "base/error.h"
#include "base/memory.h"
#include "format/javascript.h"
#include "format/sizing.h"
#include "scheme/model.h"

enum { FORM_NAMED = 1 };

static const struct json_names members = {.name = {"size", "hashCount", "bits"}};

static petal_status read_fields(const struct json_object *object, struct js_filter *about,
                                struct json_array *numbers, petal_error *error)
{
    uint64_t count;
    petal_status status = petal_json_unsigned(object, "size", &about->bits, &about->bits_at, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(object, "hashCount", &about->hashes, &about->hashes_at, error);
    if (status == PETAL_OK) status = petal_json_array(object, "bits", numbers, error);
    if (status == PETAL_OK) status = petal_js_count(*numbers, &count, error);
    if (status != PETAL_OK) return status;
    if (numbers->named) about->form |= FORM_NAMED;
    if (about->bits / 8 + (about->bits % 8 != 0) == count) return PETAL_OK;
    return petal_format_damaged(error, about->bits_at,
                                "a size that is not that of the bits, in whole bytes");
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct json_object object;
    struct json_array numbers;
    struct js_filter about = {.form = petal_js_line_break(bytes, size_bytes)};
    int64_t lowest, highest;
    petal_status status = petal_json_read(bytes, size_bytes, &members, &object, error);
    if (status == PETAL_OK) status = read_fields(&object, &about, &numbers, error);
    if (status == PETAL_OK)
        status = petal_js_image(&about, PETAL_SCHEME_JS_TUTORIAL, allocator, decoded, decoded_bytes,
                                error);
    if (status != PETAL_OK) return status;
    return petal_js_take_numbers(numbers, 1, 0, UINT8_MAX, petal_js_image_bits(*decoded),
                                 about.bits / 8 + (about.bits % 8 != 0), &lowest, &highest, error);
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct json_object object;
    if (!petal_json_begins(bytes, size_bytes)) return FIT_NO;
    if (petal_json_read(bytes, size_bytes, &members, &object, NULL) != PETAL_OK) return FIT_NO;
    bool named = petal_json_has(&object, "size", JSON_NUMBER) &&
                 petal_json_has(&object, "hashCount", JSON_NUMBER) &&
                 (petal_json_has(&object, "bits", JSON_ARRAY) ||
                  petal_json_has(&object, "bits", JSON_OBJECT));
    return named ? FIT_POSSIBLE : FIT_NO;
}

/* The class leaves both to its caller; tutorials have m = ceil(-n ln p / (ln 2)^2) and k = round(m
 * / n * ln 2). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = keys ? (double)keys : 1, bits = petal_model_ceil(petal_model_optimal_bits(n, rate));
    petal_status status =
        petal_size_bits(bits, petal_scheme_js_tutorial.max_bits, &shape->bits, error);
    if (status != PETAL_OK) return status;
    uint64_t hashes = petal_model_round(bits / n * PETAL_LN2);
    shape->hashes = hashes == 0           ? 1
                    : hashes < UINT32_MAX ? (uint32_t)hashes
                                          : UINT32_MAX; /* too many are refused later */
    return PETAL_OK;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    struct js_text text = {.sink = sink, .error = error, .status = PETAL_OK};
    petal_status status = petal_format_expect_single(self, filter, error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers->array;
    uint8_t form = petal_js_form(filter, &petal_format_js_tutorial, 0);
    petal_js_put(&text, "{\"size\":");
    petal_js_put_number(&text, (int64_t)array->shape.bits);
    petal_js_put(&text, ",\"hashCount\":");
    petal_js_put_number(&text, array->shape.hashes);
    petal_js_put(&text, ",\"bits\":");
    petal_js_put_array(&text, array, 1, false, form & FORM_NAMED);
    petal_js_put(&text, "}");
    return petal_js_end(&text, form);
}

const struct format_def petal_format_js_tutorial = {
    .id = PETAL_FORMAT_JS_TUTORIAL,
    .name = "js-tutorial",
    .scheme = PETAL_SCHEME_JS_TUTORIAL,
    .hash = PETAL_HASH_JS_TUTORIAL,
    .keys = "UTF-8 of a string",
    .fits = fits,
    .decode = decode,
    .read = petal_js_read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

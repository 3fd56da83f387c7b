/* js_tutorial.c - reads and writes the JSON of a Bloom filter class that many JavaScript tutorials
 * use.
 *
 *     {"size":20,"hashCount":3,"bits":[0,16,5]}
 *
 * `bits` holds ceil(size / 8) bytes, with the lowest bit of each byte first. It may also be an
 * object, since JSON.stringify writes a Uint8Array as {"0":0,"1":16,"2":5}.
 * docs/formats/js-tutorial.md.
 *
 * Origin data: the form (javascript.h). */
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/javascript.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

enum { FORM_NAMED = 1 };

static const struct js_list list = {
    .members = {.name = {"size", "hashCount", "bits"}},
    .scheme = PETAL_SCHEME_JS_TUTORIAL,
    .unit_bytes = 1,
    .named = FORM_NAMED,
};

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct json_object object;
    struct json_array numbers;
    struct js_filter about = {.form = petal_js_line_break(bytes, size_bytes)};
    int64_t lowest, highest;
    petal_status status = petal_json_read(bytes, size_bytes, &list.members, &object, error);
    if (status == PETAL_OK)
        status = petal_js_list_image(&list, &object, &about, &numbers, allocator, decoded,
                                     decoded_bytes, error);
    if (status != PETAL_OK) return status;
    return petal_js_list_bits(&list, numbers, 0, UINT8_MAX, *decoded, *decoded_bytes, &lowest,
                              &highest, error);
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    return petal_js_list_fits(&list, bytes, size_bytes);
}

/* In this class, the caller chooses m and k. Tutorials use m = ceil(-n ln p / (ln 2)^2) and k =
 * round(m / n * ln 2). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = keys ? (double)keys : 1, bits = petal_model_ceil(petal_model_optimal_bits(n, rate));
    petal_status status =
        petal_size_bits(bits, petal_scheme_js_tutorial.max_bits, &shape->bits, error);
    if (status != PETAL_OK) return status;
    uint64_t hashes = petal_model_round(bits / n * PETAL_LN2);
    shape->hashes = hashes == 0           ? 1
                    : hashes < UINT32_MAX ? (uint32_t)hashes
                                          : UINT32_MAX; /* rejected later if too large */
    return PETAL_OK;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    return petal_js_list_write(&list, filter, sink, "{", false, petal_js_form(filter, self, 0),
                               error);
}

const struct format_def petal_format_js_tutorial = {
    JS_ROW(JS_TUTORIAL, "js-tutorial", PETAL_HASH_JS_TUTORIAL),
};

/* bloomfilter.c - npm bloomfilter (Jason Davies), in JSON.
 *
 *     {"version":1,"m":64,"k":3,"buckets":[537002048,0]}
 *         1.1: toJSON(); numbers from 0 to 2^32 - 1
 *     {"m":64,"k":3,"buckets":[537002048,0]}
 *         0.0.x: as its README gathers it; signed numbers
 *
 * Bucket i holds bits 32 i to 32 i + 31, the lowest first. buckets may be what JSON.stringify makes
 * of the typed array itself, {"0":537002048,"1":0}. docs/formats/bloomfilter.md.
 *
 * Origin data: the form (javascript.h). */
#include "base/error.h"
#include "base/memory.h"
#include "format/javascript.h"
#include "format/sizing.h"
#include "scheme/model.h"

enum { FORM_VERSION = 1, FORM_UNSIGNED = 2, FORM_NAMED = 4 };

#define VERSION 1u
#define BUCKET_BYTES 4u

static const struct json_names members = {.name = {"version", "m", "k", "buckets"}};

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status read_version(const struct json_object *object, struct js_filter *about,
                                 petal_error *error)
{
    uint64_t version, at;
    if (!petal_json_find(object, "version")) return PETAL_OK;
    petal_status status = petal_json_unsigned(object, "version", &version, &at, error);
    if (status != PETAL_OK) return status;
    about->form |= FORM_VERSION | FORM_UNSIGNED;
    if (version == VERSION) return PETAL_OK;
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, at,
                         "version %llu of bloomfilter's JSON; there is only 1",
                         (unsigned long long)version);
}

static petal_status read_fields(const struct json_object *object, struct js_filter *about,
                                struct json_array *buckets, petal_error *error)
{
    uint64_t count;
    petal_status status = read_version(object, about, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(object, "m", &about->bits, &about->bits_at, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(object, "k", &about->hashes, &about->hashes_at, error);
    if (status == PETAL_OK) status = petal_json_array(object, "buckets", buckets, error);
    if (status == PETAL_OK) status = petal_js_count(*buckets, &count, error);
    if (status != PETAL_OK) return status;
    if (buckets->named) about->form |= FORM_NAMED;
    if (about->bits == count * 32) return PETAL_OK;
    return petal_format_damaged(error, about->bits_at,
                                "an m that is not 32 times the number of buckets");
}

/* Numbers are unsigned if a version says so; without one they are signed, or unsigned if one
 * needs that. */
static petal_status take_buckets(const struct json_array *buckets, struct js_filter *about,
                                 uint8_t *image, petal_error *error)
{
    int64_t min = about->form & FORM_VERSION ? 0 : INT32_MIN, lowest, highest;
    petal_status status =
        petal_js_take_numbers(*buckets, BUCKET_BYTES, min, UINT32_MAX, petal_js_image_bits(image),
                              about->bits / 8, &lowest, &highest, error);
    if (status != PETAL_OK || highest <= INT32_MAX) return status;
    if (lowest < 0)
        return petal_format_damaged(error, buckets->at,
                                    "buckets of which some are signed and some are not");
    about->form |= FORM_UNSIGNED;
    return PETAL_OK;
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct json_object object;
    struct json_array buckets;
    struct js_filter about = {.form = petal_js_line_break(bytes, size_bytes)};
    if (size_bytes > 0 && bytes[0] == '[')
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, 0,
            "a bare list of buckets, which does not say k; write it as {\"m\":...,\"k\":...,\"buckets\":[...]}");
    petal_status status = petal_json_read(bytes, size_bytes, &members, &object, error);
    if (status == PETAL_OK) status = read_fields(&object, &about, &buckets, error);
    if (status == PETAL_OK)
        status = petal_js_image(&about, PETAL_SCHEME_BLOOMFILTER, allocator, decoded, decoded_bytes,
                                error);
    if (status != PETAL_OK) return status;
    status = take_buckets(&buckets, &about, *decoded, error);
    petal_js_set_form(*decoded, about.form);
    return status;
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct json_object object;
    if (!petal_json_begins(bytes, size_bytes)) return FIT_NO;
    if (petal_json_read(bytes, size_bytes, &members, &object, NULL) != PETAL_OK) return FIT_NO;
    bool named = petal_json_has(&object, "m", JSON_NUMBER) &&
                 petal_json_has(&object, "k", JSON_NUMBER) &&
                 (petal_json_has(&object, "buckets", JSON_ARRAY) ||
                  petal_json_has(&object, "buckets", JSON_OBJECT));
    return named ? FIT_POSSIBLE : FIT_NO;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* withTargetError(): m = ceil(-n log2(p) / ln 2), k = ceil(ln 2 * m / n) with that m; then m in
 * whole buckets. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = (double)keys;
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bloomfilter makes no filter for 0 keys; say how many");
    double bits = petal_model_ceil(-n * petal_model_log2(rate) / PETAL_LN2);
    petal_status status =
        petal_size_bits(bits, petal_scheme_bloomfilter.max_bits, &shape->bits, error);
    if (status != PETAL_OK) return status;
    shape->hashes = petal_size_hashes(shape->bits, keys);
    return PETAL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    struct js_text text = {.sink = sink, .error = error, .status = PETAL_OK};
    petal_status status = petal_format_expect_single(self, filter, error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers->array;
    uint8_t form = petal_js_form(filter, &petal_format_bloomfilter, FORM_VERSION | FORM_UNSIGNED);
    petal_js_put(&text, form & FORM_VERSION ? "{\"version\":1,\"m\":" : "{\"m\":");
    petal_js_put_number(&text, (int64_t)array->shape.bits);
    petal_js_put(&text, ",\"k\":");
    petal_js_put_number(&text, array->shape.hashes);
    petal_js_put(&text, ",\"buckets\":");
    petal_js_put_array(&text, array, BUCKET_BYTES, !(form & FORM_UNSIGNED), form & FORM_NAMED);
    petal_js_put(&text, "}");
    return petal_js_end(&text, form);
}

const struct format_def petal_format_bloomfilter = {
    .id = PETAL_FORMAT_BLOOMFILTER,
    .name = "bloomfilter",
    .scheme = PETAL_SCHEME_BLOOMFILTER,
    .hash = PETAL_HASH_FNV1A_UTF16,
    .keys = "UTF-8 of a string",
    .fits = fits,
    .decode = decode,
    .read = petal_js_read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

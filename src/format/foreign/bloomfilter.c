/* bloomfilter.c - reads and writes the JSON of npm bloomfilter (Jason Davies).
 *
 *     {"version":1,"m":64,"k":3,"buckets":[537002048,0]}
 *         1.1: toJSON(); numbers from 0 to 2^32 - 1
 *     {"m":64,"k":3,"buckets":[537002048,0]}
 *         0.0.x: as its README assembles it; signed numbers
 *
 * Bucket i has bits 32 i to 32 i + 31, lowest first. `buckets` may also be an object, since
 * JSON.stringify writes a typed array as {"0":537002048,"1":0}. docs/formats/bloomfilter.md.
 *
 * Origin data: the form (javascript.h). */
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/javascript.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

enum { FORM_VERSION = 1, FORM_UNSIGNED = 2, FORM_NAMED = 4 };

#define VERSION 1u

static const struct js_list list = {
    .members = {.name = {"m", "k", "buckets", "version"}},
    .scheme = PETAL_SCHEME_BLOOMFILTER,
    .unit_bytes = 4,
    .named = FORM_NAMED,
};

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

/* If the JSON has a version, the numbers are unsigned. Otherwise the numbers are signed, unless one
 * of them is too large for a signed number. */
static petal_status take_buckets(const struct json_array *buckets, struct js_filter *about,
                                 uint8_t *image, uint64_t image_bytes, petal_error *error)
{
    int64_t min = about->form & FORM_VERSION ? 0 : INT32_MIN, lowest, highest;
    petal_status status = petal_js_list_bits(&list, *buckets, min, UINT32_MAX, image, image_bytes,
                                             &lowest, &highest, error);
    if (status != PETAL_OK || highest <= INT32_MAX) return status;
    if (lowest < 0)
        return petal_format_damaged(error, buckets->at, "a mix of signed and unsigned buckets");
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
            "a bare list of buckets, which lacks k; write it as {\"m\":...,\"k\":...,\"buckets\":[...]}");
    petal_status status = petal_json_read(bytes, size_bytes, &list.members, &object, error);
    if (status == PETAL_OK) status = read_version(&object, &about, error);
    if (status == PETAL_OK)
        status = petal_js_list_image(&list, &object, &about, &buckets, allocator, decoded,
                                     decoded_bytes, error);
    if (status != PETAL_OK) return status;
    status = take_buckets(&buckets, &about, *decoded, *decoded_bytes, error);
    petal_js_set_form(*decoded, about.form);
    return status;
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    return petal_js_list_fits(&list, bytes, size_bytes);
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* withTargetError() computes m = ceil(-n log2(p) / ln 2), and k = ceil(ln 2 * m / n) from this m.
 * Then it rounds m up to whole buckets. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = (double)keys;
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bloomfilter cannot make a filter for 0 keys; use at least 1");
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
    uint8_t form = petal_js_form(filter, self, FORM_VERSION | FORM_UNSIGNED);
    return petal_js_list_write(&list, filter, sink, form & FORM_VERSION ? "{\"version\":1," : "{",
                               !(form & FORM_UNSIGNED), form, error);
}

const struct format_def petal_format_bloomfilter = {
    JS_ROW(BLOOMFILTER, "bloomfilter", PETAL_HASH_FNV1A_UTF16),
};

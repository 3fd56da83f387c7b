/* bloom_filters.c - reads and writes the JSON of BloomFilter.saveAsJSON() in npm bloom-filters 2
 * and 3.
 *
 *     {"type":"BloomFilter","_size":10,"_nbHashes":7,"_filter":{"size":16,"content":"GgM="},"_seed":78187493520}
 *
 * _size is m, and _nbHashes is k. The inner `size` is m rounded up to whole bytes, and `content` is
 * these bytes in base64, with the lowest bit of each byte first. Version 1 wrote the bits as a list
 * of 0s and 1s, and version 4 writes the seed as an object. Both versions also hash differently, so
 * they are rejected. docs/formats/bloom-filters.md.
 *
 * Origin data: the form (javascript.h). */
#include "base/base64.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/javascript.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

/* The largest integer up to which JavaScript represents all integers exactly. */
#define MAX_SEED (((int64_t)1 << 53) - 1)

/* ---- reading --------------------------------------------------------------------------------- */

static const struct json_names members = {
    .name = {"type", "_size", "_nbHashes", "_filter", "_seed"}};
static const struct json_names inner_members = {.name = {"size", "content"}};

/* Determines the library's version and the class. */
static petal_status check_type(const struct json_object *object, petal_error *error)
{
    const char *type;
    uint64_t chars, at;
    if (petal_json_has(object, "_seed", JSON_OBJECT) ||
        petal_json_has(object, "_seed", JSON_STRING))
        return petal_fail_at(
            error, PETAL_ERR_UNSUPPORTED, petal_json_find(object, "_seed")->at,
            "written by bloom-filters 4 (its seed is not a plain number), which hashes differently from 3; "
            "petal reads 2 and 3");
    if (petal_json_has(object, "_filter", JSON_ARRAY))
        return petal_fail_at(
            error, PETAL_ERR_UNSUPPORTED, petal_json_find(object, "_filter")->at,
            "written by bloom-filters 1 (its bits are a list), which hashes differently from 2 and 3; petal "
            "reads 2 and 3");
    petal_status status = petal_json_string(object, "type", &type, &chars, &at, error);
    if (status != PETAL_OK || (chars == 11 && memcmp(type, "BloomFilter", 11) == 0)) return status;
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, at,
                         "another structure of bloom-filters; petal reads its BloomFilter only");
}

static petal_status read_fields(const struct json_object *object, struct js_filter *about,
                                petal_error *error)
{
    int64_t seed;
    uint64_t at;
    petal_status status =
        petal_json_unsigned(object, "_size", &about->bits, &about->bits_at, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(object, "_nbHashes", &about->hashes, &about->hashes_at, error);
    if (status == PETAL_OK) status = petal_json_signed(object, "_seed", &seed, &at, error);
    if (status != PETAL_OK) return status;
    if (seed < -MAX_SEED || seed > MAX_SEED)
        return petal_format_damaged(error, at, "a seed that is not exact in JavaScript");
    about->seed = (uint64_t)seed;
    return PETAL_OK;
}

/* Finds the base64 string with the bits. The string must encode exactly as many bytes as the bits
 * need. */
static petal_status find_content(const struct json_object *object, const struct js_filter *about,
                                 const char **content, uint64_t *chars, uint64_t *at,
                                 petal_error *error)
{
    struct json_object inner;
    uint64_t size, size_at, bytes, whole;
    petal_status status = petal_json_inner(object, "_filter", &inner_members, &inner, error);
    if (status == PETAL_OK) status = petal_json_unsigned(&inner, "size", &size, &size_at, error);
    if (status == PETAL_OK)
        status = petal_json_string(&inner, "content", content, chars, at, error);
    if (status != PETAL_OK) return status;
    if (!checked_round_up(about->bits, 8, &whole) || size != whole)
        return petal_format_damaged(error, size_at, "a size that is not _size in whole bytes");
    if (!petal_base64_bytes(*content, *chars, &bytes) || bytes != whole / 8)
        return petal_format_damaged(error, *at, "not base64 of that many bits");
    return PETAL_OK;
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct json_object object;
    struct js_filter about = {.form = petal_js_line_break(bytes, size_bytes)};
    const char *content;
    uint64_t chars, at;
    unsigned seen = 0;
    petal_status status = petal_json_read(bytes, size_bytes, &members, &object, error);
    if (status == PETAL_OK) status = check_type(&object, error);
    if (status == PETAL_OK) status = read_fields(&object, &about, error);
    if (status == PETAL_OK) status = find_content(&object, &about, &content, &chars, &at, error);
    if (status == PETAL_OK)
        status = petal_js_image(&about, PETAL_SCHEME_BLOOM_FILTERS, allocator, decoded,
                                decoded_bytes, error);
    if (status != PETAL_OK) return status;
    uint64_t end = petal_base64_decode(content, chars, petal_js_image_bits(*decoded), &seen);
    if (end == chars && !(seen & BASE64_URL)) return PETAL_OK;
    return petal_format_damaged(error, end == chars ? at : at + end, "not base64");
}

/* Accepts the text of any version, so that read() can name an unsupported version. */
static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct json_object object;
    if (!petal_json_begins(bytes, size_bytes)) return FIT_NO;
    if (petal_json_read(bytes, size_bytes, &members, &object, NULL) != PETAL_OK) return FIT_NO;
    bool named = petal_json_find(&object, "_size") && petal_json_find(&object, "_nbHashes") &&
                 petal_json_find(&object, "_filter") && petal_json_find(&object, "_seed");
    return named ? FIT_CERTAIN : FIT_NO;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* BloomFilter.create(): m = ceil(-(n ln p / (ln 2)^2)), k = ceil(m / n * ln 2). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = (double)keys, ln2 = petal_model_ln(2);
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bloom-filters cannot make a filter for 0 keys; use at least 1");
    double bits = petal_model_ceil(-(n * petal_model_ln(rate) / petal_model_pow(ln2, 2)));
    petal_status status =
        petal_size_bits(bits, petal_scheme_bloom_filters.max_bits, &shape->bits, error);
    if (status != PETAL_OK) return status;
    double hashes = petal_model_ceil(bits / n * ln2);
    shape->hashes =
        hashes < UINT32_MAX ? (uint32_t)hashes : UINT32_MAX; /* rejected later if too large */
    return PETAL_OK;
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    petal_status status = petal_size_plan(self, options, about, error);
    if (status != PETAL_OK) return status;
    about->seed = options->seed ? options->seed : PETAL_BLOOM_FILTERS_SEED;
    int64_t seed = (int64_t)about->seed;
    if (seed >= -MAX_SEED && seed <= MAX_SEED) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "JavaScript keeps seeds exactly only up to 2^53 - 1; use a smaller one");
}

/* ---- writing --------------------------------------------------------------------------------- */

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    struct js_text text = {.sink = sink, .error = error, .status = PETAL_OK};
    const struct bit_array *array = &filter->layers->array;
    petal_js_put(&text, "{\"type\":\"BloomFilter\",\"_size\":");
    petal_js_put_number(&text, (int64_t)array->shape.bits);
    petal_js_put(&text, ",\"_nbHashes\":");
    petal_js_put_number(&text, array->shape.hashes);
    petal_js_put(&text, ",\"_filter\":{\"size\":");
    petal_js_put_number(&text, (int64_t)(array->size_bytes * 8));
    petal_js_put(&text, ",\"content\":\"");
    petal_js_put_base64(&text, array);
    petal_js_put(&text, "\"},\"_seed\":");
    petal_js_put_number(&text, (int64_t)filter->hash_key.seed);
    petal_js_put(&text, "}");
    return petal_js_end(&text, petal_js_form(filter, &petal_format_bloom_filters, 0));
}

const struct format_def petal_format_bloom_filters = {
    JS_ROW(BLOOM_FILTERS, "bloom-filters", PETAL_HASH_BLOOM_FILTERS),
    .plan = UNLESS_READ_ONLY(plan),
};

/* pybloom.c - reads and writes the files of pybloom_live 4, as written by BloomFilter.tofile() and
 * ScalableBloomFilter.tofile(). All numbers are little-endian.
 *
 *     0       8   16          24        32     40
 *     +-------+---+-----------+---------+------+------------------------------+
 *     | error | k | slice s   | capacity| count| ceil(k * s / 8) bytes        |
 *     +-------+---+-----------+---------+------+------------------------------+
 *
 *     0       4       12        20      28         32
 *     +-------+-------+---------+-------+----------+-----------------+---------------------------+
 *     | scale | ratio | capacity| error | filters n| n sizes, 8 each | n filters, each as above  |
 *     +-------+-------+---------+-------+----------+-----------------+---------------------------+
 *
 * In the header of a plain filter, each number takes 8 bytes, and the error rate is a double.
 *
 * A new scalable filter contains no plain filter. When a key is added, and there is no plain filter
 * yet or the last one is full, a plain filter is appended. The appended filter has `scale` times
 * the capacity and `ratio` times the error rate of the last one. The format `pybloom` reads both
 * forms and creates plain filters; `pybloom-scalable` reads and creates only scalable filters. See
 * docs/formats/pybloom.md.
 *
 * The origin of a scalable filter contains the first 28 bytes of the file. A plain filter has no
 * origin data. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/popcount.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

enum {
    AT_ERROR = 0,
    AT_SLICES = 8,
    AT_SLICE_BITS = 16,
    AT_CAPACITY = 24,
    AT_COUNT = 32,
    HEADER_BYTES = 40
};

enum {
    AT_SCALE = 0,
    AT_RATIO = 4,
    AT_INITIAL = 12,
    AT_TOTAL_ERROR = 20,
    AT_FILTERS = 28,
    AT_SIZES = 32
};

#define ORIGIN_BYTES ((uint32_t)AT_FILTERS)

/* The default arguments of ScalableBloomFilter(). */
#define DEFAULT_SCALE 4u /* LARGE_SET_GROWTH */
#define DEFAULT_RATIO 0.9

/* pybloom_live defines names for the scales 2 and 4, but accepts any scale. With a scale above this
 * limit, the capacity would explode. */
#define MAX_SCALE 1024u

/* A scalable filter without any plain filter is opened as if it had an empty first one. If that
 * first filter would exceed this size, the file is refused. */
#define MAX_EMPTY_BYTES ((uint64_t)1 << 20)

static double load_double(const uint8_t *from)
{
    return double_from_bits(load64le(from));
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* k = ceil(log2(1 / p)), and each slice has ceil(n abs(ln p) / (k (ln 2)^2)) bits. Both are
 * computed with the same expressions as in pybloom_live. */
static petal_status size(uint64_t capacity, double rate, struct shape *shape, petal_error *error)
{
    uint64_t slice_bits;
    if (!(rate > 0 && rate < 1))
        return petal_fail(error, PETAL_ERR_LIMIT, "%g is not a rate", rate);
    double ln2 = petal_model_ln(2), slices = petal_model_ceil(petal_model_ln(1.0 / rate) / ln2);
    if (!(slices <= PETAL_HASH_MAX_WORDS))
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "%g hashes; petal takes at most %u; use a higher rate", slices,
                          PETAL_HASH_MAX_WORDS);
    double bits = petal_model_ceil((double)capacity * -petal_model_ln(rate) /
                                   (slices * petal_model_pow(ln2, 2)));
    petal_status status =
        petal_size_bits(bits, petal_scheme_pybloom.max_bits / (uint32_t)slices, &slice_bits, error);
    if (status != PETAL_OK) return status;
    *shape =
        (struct shape){PETAL_SCHEME_PYBLOOM, (uint32_t)slices, 0, (uint32_t)slices * slice_bits};
    return petal_normalize(shape, error);
}

static petal_status check_request(const petal_options *options, petal_error *error)
{
    struct request asked;
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (!asked.by_bits && asked.keys > 0) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "pybloom sizes a filter by keys and rate only; give both");
}

static petal_status plan_layer(uint64_t capacity, double rate, struct description *about,
                               petal_error *error)
{
    struct shape shape;
    petal_status status = size(capacity, rate, &shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    about->layers->capacity = capacity;
    about->layers->target_rate = rate;
    return PETAL_OK;
}

static petal_status plan_plain(const struct format_def *self, const petal_options *options,
                               struct description *about, petal_error *error)
{
    (void)self;
    petal_status status = check_request(options, error);
    return status == PETAL_OK ? plan_layer(options->capacity, options->rate, about, error) : status;
}

static petal_status plan_scalable(const struct format_def *self, const petal_options *options,
                                  struct description *about, petal_error *error)
{
    (void)self;
    petal_status status = check_request(options, error);
    if (status == PETAL_OK)
        status = plan_layer(options->capacity, options->rate * DEFAULT_RATIO, about, error);
    if (status != PETAL_OK) return status;
    about->origin.size_bytes = ORIGIN_BYTES;
    store32le(about->origin.near + AT_SCALE, DEFAULT_SCALE);
    store64le(about->origin.near + AT_RATIO, bits_from_double(DEFAULT_RATIO));
    store64le(about->origin.near + AT_INITIAL, options->capacity);
    store64le(about->origin.near + AT_TOTAL_ERROR, bits_from_double(options->rate));
    return PETAL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status check_header(const uint8_t *header, uint64_t offset, petal_error *error)
{
    double rate = load_double(header + AT_ERROR);
    uint64_t slices = load64le(header + AT_SLICES), slice_bits = load64le(header + AT_SLICE_BITS);
    if (!(rate > 0 && rate < 1))
        return petal_format_damaged(error, offset + AT_ERROR,
                                    "an error rate that is not between 0 and 1");
    if (slices < 1 || slices > petal_scheme_pybloom.max_hashes)
        return petal_format_damaged(error, offset + AT_SLICES, "an impossible number of slices");
    if (slice_bits < 1 || slice_bits > petal_scheme_pybloom.max_bits / slices)
        return petal_format_damaged(error, offset + AT_SLICE_BITS,
                                    "an impossible size of the slices");
    if (load64le(header + AT_CAPACITY) == 0)
        return petal_format_damaged(error, offset + AT_CAPACITY, "a capacity of 0 keys");
    if (load64le(header + AT_COUNT) > INT64_MAX)
        return petal_format_damaged(error, offset + AT_COUNT, "an impossible number of keys");
    return PETAL_OK;
}

/* Reads the plain filter at `offset`, which must have exactly the given size. */
static petal_status read_filter(const uint8_t *bytes, uint64_t offset, uint64_t size_bytes,
                                struct layer_description *layer, petal_error *error)
{
    const uint8_t *header = bytes + offset;
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, offset + size_bytes,
                             "truncated (a filter's header has %d bytes); copy it again",
                             HEADER_BYTES);
    petal_status status = check_header(header, offset, error);
    if (status != PETAL_OK) return status;
    uint32_t slices = (uint32_t)load64le(header + AT_SLICES);
    struct description one;
    struct shape shape = {PETAL_SCHEME_PYBLOOM, slices, 0,
                          slices * load64le(header + AT_SLICE_BITS)};
    status = petal_format_check_size(HEADER_BYTES + petal_shape_bytes(&shape), size_bytes, error);
    if (status == PETAL_OK) status = petal_normalize(&shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(&one, &shape, offset + HEADER_BYTES);
    *layer = one.layers[0];
    layer->capacity = load64le(header + AT_CAPACITY);
    layer->target_rate = load_double(header + AT_ERROR);
    layer->items = load64le(header + AT_COUNT);
    return petal_format_check_tail(&one, bytes, error);
}

/* A plain filter stores its number of slices where a scalable filter stores the upper half of the
 * ratio. A number of slices, read as part of a double, is a tiny ratio. A ratio such as 0.9, read
 * as a number of slices, is impossibly large. */
static bool is_scalable(const uint8_t *bytes, uint64_t size_bytes)
{
    return size_bytes >= AT_INITIAL && load_double(bytes + AT_RATIO) >= 0x1p-64 &&
           load_double(bytes + AT_RATIO) <= 1;
}

static petal_status check_scalable(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (!is_scalable(bytes, size_bytes))
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, AT_RATIO,
            "not a scalable filter of pybloom's (no ratio at byte 4); the format of plain ones is pybloom");
    if (size_bytes < AT_SIZES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %d bytes); copy it again", AT_SIZES);
    uint32_t scale = load32le(bytes + AT_SCALE), filters = load32le(bytes + AT_FILTERS);
    double first_error = load_double(bytes + AT_TOTAL_ERROR) * load_double(bytes + AT_RATIO);
    if (scale < 1 || scale > MAX_SCALE)
        return petal_format_damaged(error, AT_SCALE, "an impossible scale");
    if (load64le(bytes + AT_INITIAL) == 0)
        return petal_format_damaged(error, AT_INITIAL, "a capacity of 0 keys");
    if (!(first_error > 0 && first_error < 1))
        return petal_format_damaged(error, AT_TOTAL_ERROR,
                                    "an error rate that is not between 0 and 1");
    if (filters > INT32_MAX)
        return petal_format_damaged(error, AT_FILTERS, "an impossible number of filters");
    if (filters > PETAL_MAX_LAYERS)
        return petal_fail_at(error, PETAL_ERR_LIMIT, AT_FILTERS,
                             "%u filters; petal takes at most %u", filters, PETAL_MAX_LAYERS);
    if (size_bytes < AT_SIZES + 8 * (uint64_t)filters)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (within the sizes); copy it again");
    return PETAL_OK;
}

/* Reads the filters of a scalable filter whose header has been checked. */
static petal_status read_filters(const uint8_t *bytes, uint64_t size_bytes,
                                 struct description *about, petal_error *error)
{
    uint32_t filters = load32le(bytes + AT_FILTERS);
    uint64_t offset = AT_SIZES + 8 * (uint64_t)filters;
    for (uint32_t i = 0; i < filters; i++) {
        uint64_t size = load64le(bytes + AT_SIZES + 8 * (uint64_t)i);
        if (size > size_bytes - offset)
            return petal_fail_at(
                error, PETAL_ERR_TRUNCATED, size_bytes,
                "truncated (filter %u has %llu bytes, the file has %llu of them); copy it again",
                i + 1, (unsigned long long)size, (unsigned long long)(size_bytes - offset));
        petal_status status = read_filter(bytes, offset, size, &about->layers[i], error);
        if (status != PETAL_OK) return status;
        offset += size;
    }
    return petal_format_check_size(offset, size_bytes, error);
}

static petal_status read_scalable(const uint8_t *bytes, uint64_t size_bytes,
                                  struct description *about, petal_error *error)
{
    petal_status status = check_scalable(bytes, size_bytes, error);
    if (status == PETAL_OK) status = read_filters(bytes, size_bytes, about, error);
    if (status != PETAL_OK) return status;
    about->layer_count = load32le(bytes + AT_FILTERS);
    about->origin.size_bytes = ORIGIN_BYTES;
    memcpy(about->origin.near, bytes, ORIGIN_BYTES);
    return PETAL_OK;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    if (self->id == PETAL_FORMAT_PYBLOOM_SCALABLE || is_scalable(bytes, size_bytes))
        return read_scalable(bytes, size_bytes, about, error);
    about->layer_count = 1;
    return read_filter(bytes, 0, size_bytes, about->layers, error);
}

/* ---- a scalable filter that contains no filters ---------------------------------------------- */

static void write_header(const struct layer *layer, uint8_t header[HEADER_BYTES]);

/* Creates the file that pybloom_live would write for a scalable filter with an empty first
 * filter. */
static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct layer first = {.capacity = 0};
    bool is_plain_image = !is_scalable(bytes, size_bytes) ||
                          check_scalable(bytes, size_bytes, NULL) != PETAL_OK ||
                          load32le(bytes + AT_FILTERS) != 0 || size_bytes != AT_SIZES;
    if (is_plain_image) return PETAL_OK; /* read() reports any error */
    first.capacity = load64le(bytes + AT_INITIAL);
    first.target_rate = load_double(bytes + AT_TOTAL_ERROR) * load_double(bytes + AT_RATIO);
    petal_status status = size(first.capacity, first.target_rate, &first.array.shape, error);
    if (status != PETAL_OK) return status;
    uint64_t bits_bytes = petal_shape_bytes(&first.array.shape),
             filter_bytes = HEADER_BYTES + bits_bytes;
    if (bits_bytes > MAX_EMPTY_BYTES)
        return petal_fail_at(
            error, PETAL_ERR_LIMIT, AT_FILTERS,
            "holds no filter yet, and its first would have %llu bytes; make a new one instead",
            (unsigned long long)bits_bytes);
    *decoded_bytes = AT_SIZES + 8 + filter_bytes;
    *decoded = petal_alloc(allocator, *decoded_bytes);
    if (!*decoded) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    memcpy(*decoded, bytes, ORIGIN_BYTES);
    store32le(*decoded + AT_FILTERS, 1);
    store64le(*decoded + AT_SIZES, filter_bytes);
    write_header(&first, *decoded + AT_SIZES + 8);
    return PETAL_OK;
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool has_scalable_origin(const petal_filter *filter)
{
    uint32_t format = filter->origin.format;
    return (format == petal_format_pybloom.id || format == petal_format_pybloom_scalable.id) &&
           filter->origin.size_bytes == ORIGIN_BYTES;
}

/* Only a scalable filter grows, because a plain filter accepts keys beyond its capacity. */
static bool grows(const petal_filter *filter)
{
    return has_scalable_origin(filter) && filter->scheme == &petal_scheme_pybloom;
}

static petal_status grow(petal_filter *filter, petal_error *error)
{
    const struct layer *last = &filter->layers[filter->layer_count - 1];
    uint64_t capacity;
    struct shape shape;
    if (filter->layer_count >= PETAL_MAX_LAYERS)
        return petal_fail(error, PETAL_ERR_FULL, "full: the filter has %u layers, and no more fit",
                          filter->layer_count);
    double rate = last->target_rate * load_double(filter->origin.near + AT_RATIO);
    if (!checked_mul(last->capacity, load32le(filter->origin.near + AT_SCALE), &capacity) ||
        capacity == 0)
        return petal_fail(error, PETAL_ERR_FULL, "full: no next layer has %u times %llu keys",
                          load32le(filter->origin.near + AT_SCALE),
                          (unsigned long long)last->capacity);
    if (size(capacity, rate, &shape, NULL) != PETAL_OK)
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: no layer of pybloom holds %llu keys at a rate of %.3g",
                          (unsigned long long)capacity, rate);
    petal_status status = petal_filter_add_layer(filter, &shape, error);
    if (status != PETAL_OK) return status;
    struct layer *added = &filter->layers[filter->layer_count - 1];
    added->capacity = capacity;
    added->target_rate = rate;
    return PETAL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_header(const struct layer *layer, uint8_t header[HEADER_BYTES])
{
    const struct shape *shape = &layer->array.shape;
    store64le(header + AT_ERROR, bits_from_double(layer->target_rate));
    store64le(header + AT_SLICES, shape->hashes);
    store64le(header + AT_SLICE_BITS, shape->bits / shape->hashes);
    store64le(header + AT_CAPACITY, layer->capacity);
    store64le(header + AT_COUNT, layer->items > INT64_MAX ? INT64_MAX : layer->items);
}

static petal_status write_filter(const struct layer *layer, const struct sink *sink,
                                 petal_error *error)
{
    uint8_t header[HEADER_BYTES];
    if (layer->capacity == 0 || !(layer->target_rate > 0))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "pybloom holds a capacity and a rate, which the filter lacks; use petal");
    write_header(layer, header);
    return petal_put_both(sink, header, sizeof header, &layer->array, error);
}

/* Returns true if pybloom_live's scalable filter would still contain no plain filter. pybloom_live
 * creates the first one when a key is added. */
static bool is_bare(const petal_filter *filter)
{
    const struct bit_array *array = &filter->layers->array;
    return filter->layer_count == 1 && filter->layers->items == 0 &&
           array->size_bytes <= MAX_EMPTY_BYTES &&
           petal_popcount(array->bytes, array->size_bytes) == 0;
}

static petal_status write_front(const petal_filter *filter, uint32_t filters,
                                const struct sink *sink, petal_error *error)
{
    uint8_t front[AT_SIZES + 8 * PETAL_MAX_LAYERS];
    memcpy(front, filter->origin.near, ORIGIN_BYTES);
    store32le(front + AT_FILTERS, filters);
    for (uint32_t i = 0; i < filters; i++)
        store64le(front + AT_SIZES + 8 * (uint64_t)i,
                  HEADER_BYTES + filter->layers[i].array.size_bytes);
    return petal_put(sink, front, AT_SIZES + 8 * (uint64_t)filters, error);
}

static petal_status write_scalable(const petal_filter *filter, const struct sink *sink,
                                   petal_error *error)
{
    uint32_t filters = is_bare(filter) ? 0 : filter->layer_count;
    petal_status status = write_front(filter, filters, sink, error);
    for (uint32_t i = 0; status == PETAL_OK && i < filters; i++)
        status = write_filter(&filter->layers[i], sink, error);
    return status;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    if (has_scalable_origin(filter)) return write_scalable(filter, sink, error);
    if (self->id == PETAL_FORMAT_PYBLOOM_SCALABLE)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "is a plain filter, which does not grow; its format is pybloom");
    petal_status status = petal_format_expect_single(self, filter, error);
    return status == PETAL_OK ? write_filter(filter->layers, sink, error) : status;
}

#define ROW(NAME, name_, fit_, plan_) \
    { \
        .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = PETAL_SCHEME_PYBLOOM, \
        .hash = PETAL_HASH_PYBLOOM, .keys = "UTF-8 of str()", .fit = (fit_), .decode = decode, \
        .read = read, .plan = UNLESS_READ_ONLY(plan_), .expect = petal_format_expect, \
        .write = write, .grows = grows, .grow = grow \
    }

/* Format detection reports a scalable filter as pybloom. */
const struct format_def petal_format_pybloom = ROW(PYBLOOM, "pybloom", FIT_POSSIBLE, plan_plain);
const struct format_def petal_format_pybloom_scalable =
    ROW(PYBLOOM_SCALABLE, "pybloom-scalable", FIT_NO, plan_scalable);

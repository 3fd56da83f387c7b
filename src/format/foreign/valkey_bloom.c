/* valkey_bloom.c - reads and writes a filter of valkey-bloom 1.0, as the payload of BF.LOAD. All
 * numbers are little-endian.
 *
 *     0   1           5         13           21        22           30
 *     +---+-----------+---------+------------+---------+------------+-----------------------------
 *     | 1 | expansion | rate f64| ratio f64  | random  | layers n   | n layers
 *     +---+-----------+---------+------------+---------+------------+-----------------------------
 *
 *     0          8   9       17   21        53         53 + s     61 + s
 *     +----------+---+-------+----+---------+----------+----------+----------+
 *     | 45 + s   | 1 | s     | k  | seed 32 | s bytes  | items    | capacity |    of each layer
 *     +----------+---+-------+----+---------+----------+----------+----------+
 *
 * The fields expansion and k take 4 bytes, random takes 1, and the other numbers take 8. If
 * expansion is 0, the filter doesn't grow. All layers have the same seed, and layer i has the
 * false-positive rate `rate * ratio^i`. This description follows what valkey-bloom 1.0.1 does
 * (BF.LOAD, rdb_load and scaling), and its crates bloomfilter 3.0.1 and bincode 1.3.
 * docs/formats/valkey-bloom.md.
 *
 * The origin data consists of: seed (32 bytes), expansion (4), ratio (8), random (1). */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

enum {
    AT_VERSION = 0,
    AT_EXPANSION = 1,
    AT_RATE = 5,
    AT_RATIO = 13,
    AT_RANDOM = 21,
    AT_LAYERS = 22,
    HEAD_BYTES = 30
};

/* Offsets of a layer's fields, and the sizes of the parts before and after its bits. */
enum {
    AT_LENGTH = 0,
    AT_BITMAP_VERSION = 8,
    AT_BYTES = 9,
    AT_HASHES = 17,
    AT_SEED = 21,
    FRONT_BYTES = 53,
    BITMAP_HEADER_BYTES = 45, /* the length field counts this many of the FRONT_BYTES */
    BACK_BYTES = 16
};

enum {
    ORIGIN_SEED = 0,
    ORIGIN_EXPANSION = 32,
    ORIGIN_RATIO = 36,
    ORIGIN_RANDOM = 44,
    ORIGIN_BYTES = 45
};

#define VERSION 1u
#define BITMAP_VERSION 1u
#define DEFAULT_EXPANSION 2u
#define DEFAULT_RATIO 0.5
#define LOWEST_RATE 0x1p-1022 /* the lowest normal double; a layer's rate must be higher */

/* valkey-bloom uses this seed if bloom-use-random-seed is "no". */
static const uint8_t fixed_seed[PETAL_LONG_SEED_BYTES] = {
    89, 15,  245, 34,  234, 120, 17,  218, 167, 20,  216, 9,   59, 62, 123, 217,
    29, 137, 138, 115, 62,  152, 136, 135, 48,  127, 151, 205, 40, 7,  51,  131};

static double load_double(const uint8_t *from)
{
    return double_from_bits(load64le(from));
}

static bool is_rate(double rate)
{
    return rate > 0 && rate < 1;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* Computes ratio^n in the same way as Rust's powi(). */
static double power(double ratio, uint32_t n)
{
    double result = 1;
    for (; n; n /= 2, ratio *= ratio)
        if (n % 2) result *= ratio;
    return result;
}

/* The bloomfilter crate computes ceil(n ln p / (-8 (ln 2)^2)) bytes, and max(1, round(m / n * ln
 * 2)) hashes. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    const double ln2 = 0.693147180559945309417232121458;
    uint64_t bytes;
    petal_status status = petal_size_bits(
        petal_model_ceil((double)keys * petal_model_ln(rate) / (-8.0 * (ln2 * ln2))),
        petal_scheme_valkey_bloom.max_bits / 8, &bytes, error);
    if (status != PETAL_OK) return status;
    if (bytes == 0) bytes = 1;
    uint64_t hashes = petal_model_round((double)(8 * bytes) / (double)keys * ln2);
    if (hashes > petal_scheme_valkey_bloom.max_hashes)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "a rate of %g needs %llu hashes; the maximum is %u", rate,
                          (unsigned long long)hashes, petal_scheme_valkey_bloom.max_hashes);
    *shape = (struct shape){PETAL_SCHEME_VALKEY_BLOOM, hashes ? (uint32_t)hashes : 1, 0, 8 * bytes};
    return petal_normalize(shape, error);
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    (void)self;
    struct request asked;
    struct shape shape;
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (asked.by_bits || asked.keys == 0 || asked.keys > INT64_MAX)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "valkey-bloom needs a number of keys, at least 1, and a rate");
    if (options->seed != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "valkey-bloom's seed has 32 bytes; leave the seed out for its fixed one");
    status = size(asked.keys, asked.rate, &shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    about->layers->capacity = asked.keys;
    about->layers->target_rate = asked.rate;
    about->origin.size_bytes = ORIGIN_BYTES;
    memcpy(about->origin.near + ORIGIN_SEED, fixed_seed, sizeof fixed_seed);
    store32le(about->origin.near + ORIGIN_EXPANSION, DEFAULT_EXPANSION);
    store64le(about->origin.near + ORIGIN_RATIO, bits_from_double(DEFAULT_RATIO));
    return PETAL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status check_head(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes < 1 || bytes[AT_VERSION] != VERSION)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, AT_VERSION,
                             "not a filter of valkey-bloom's (it begins with 01)");
    if (size_bytes < HEAD_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %d bytes); copy it again", HEAD_BYTES);
    uint64_t layers = load64le(bytes + AT_LAYERS);
    if (!is_rate(load_double(bytes + AT_RATE)))
        return petal_format_damaged(error, AT_RATE, "the error rate is not between 0 and 1");
    if (!is_rate(load_double(bytes + AT_RATIO)))
        return petal_format_damaged(error, AT_RATIO, "the tightening ratio is not between 0 and 1");
    if (bytes[AT_RANDOM] > 1)
        return petal_format_damaged(error, AT_RANDOM, "a seed that is neither fixed nor random");
    if (layers == 0) return petal_format_damaged(error, AT_LAYERS, "a filter has at least 1 layer");
    if (layers > PETAL_MAX_LAYERS)
        return petal_fail_at(error, PETAL_ERR_LIMIT, AT_LAYERS,
                             "%llu layers; petal reads up to %u: reserve a larger capacity, and "
                             "add the keys again",
                             (unsigned long long)layers, PETAL_MAX_LAYERS);
    return PETAL_OK;
}

static petal_status too_short(uint64_t size_bytes, uint32_t number, petal_error *error)
{
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                         "truncated (within layer %u); copy it again", number);
}

static petal_status check_layer(const uint8_t *front, uint64_t offset, petal_error *error)
{
    uint64_t bytes = load64le(front + AT_BYTES), length;
    uint32_t hashes = load32le(front + AT_HASHES);
    if (front[AT_BITMAP_VERSION] != BITMAP_VERSION)
        return petal_format_damaged(error, offset + AT_BITMAP_VERSION,
                                    "bits of an unknown version");
    if (!checked_add(bytes, BITMAP_HEADER_BYTES, &length) || load64le(front + AT_LENGTH) != length)
        return petal_format_damaged(error, offset + AT_LENGTH,
                                    "the lengths of a layer contradict each other");
    if (bytes == 0 || bytes > petal_scheme_valkey_bloom.max_bits / 8)
        return petal_format_damaged(error, offset + AT_BYTES, "an impossible size of a layer");
    if (hashes == 0 || hashes > petal_scheme_valkey_bloom.max_hashes)
        return petal_format_damaged(error, offset + AT_HASHES, "an impossible number of hashes");
    return PETAL_OK;
}

/* Reads the layer at *offset, and advances *offset to the end of the layer. */
static petal_status read_layer(const uint8_t *bytes, uint64_t size_bytes, uint64_t *offset,
                               uint32_t number, struct layer_description *layer, petal_error *error)
{
    const uint8_t *front = bytes + *offset;
    uint64_t left = size_bytes - *offset;
    if (left < FRONT_BYTES) return too_short(size_bytes, number, error);
    petal_status status = check_layer(front, *offset, error);
    if (status != PETAL_OK) return status;
    uint64_t bits_bytes = load64le(front + AT_BYTES);
    if (left - FRONT_BYTES < bits_bytes || left - FRONT_BYTES - bits_bytes < BACK_BYTES)
        return too_short(size_bytes, number, error);
    const uint8_t *back = front + FRONT_BYTES + bits_bytes;
    if (memcmp(front + AT_SEED, bytes + HEAD_BYTES + AT_SEED, PETAL_LONG_SEED_BYTES) != 0)
        return petal_format_damaged(error, *offset + AT_SEED, "the layers have different seeds");
    if (load64le(back) > INT64_MAX)
        return petal_format_damaged(error, *offset + FRONT_BYTES + bits_bytes,
                                    "an impossible number of keys");
    if (load64le(back + 8) < 1 || load64le(back + 8) > INT64_MAX)
        return petal_format_damaged(error, *offset + FRONT_BYTES + bits_bytes + 8,
                                    "an impossible capacity");
    layer->shape =
        (struct shape){PETAL_SCHEME_VALKEY_BLOOM, load32le(front + AT_HASHES), 0, 8 * bits_bytes};
    layer->items = load64le(back);
    layer->capacity = load64le(back + 8);
    layer->size_bytes = bits_bytes;
    layer->offset = *offset + FRONT_BYTES;
    *offset += FRONT_BYTES + bits_bytes + BACK_BYTES;
    return petal_normalize(&layer->shape, error);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    (void)self;
    uint64_t offset = HEAD_BYTES;
    petal_status status = check_head(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    double rate = load_double(bytes + AT_RATE), ratio = load_double(bytes + AT_RATIO);
    about->layer_count = (uint32_t)load64le(bytes + AT_LAYERS);
    for (uint32_t i = 0; i < about->layer_count; i++) {
        status = read_layer(bytes, size_bytes, &offset, i, &about->layers[i], error);
        if (status != PETAL_OK) return status;
        about->layers[i].target_rate = rate * power(ratio, i);
    }
    about->origin.size_bytes = ORIGIN_BYTES;
    memcpy(about->origin.near + ORIGIN_SEED, bytes + HEAD_BYTES + AT_SEED, PETAL_LONG_SEED_BYTES);
    memcpy(about->origin.near + ORIGIN_EXPANSION, bytes + AT_EXPANSION, 4);
    memcpy(about->origin.near + ORIGIN_RATIO, bytes + AT_RATIO, 8);
    about->origin.near[ORIGIN_RANDOM] = bytes[AT_RANDOM];
    return petal_format_check_size(offset, size_bytes, error);
}

/* ---- growing --------------------------------------------------------------------------------- */

/* The origin comes from a file, so it may be forged. */
static bool has_origin(const petal_filter *filter)
{
    return filter->origin.format == PETAL_FORMAT_VALKEY_BLOOM &&
           filter->origin.size_bytes == ORIGIN_BYTES &&
           is_rate(load_double(filter->origin.near + ORIGIN_RATIO)) &&
           filter->origin.near[ORIGIN_RANDOM] <= 1;
}

static bool grows(const petal_filter *filter)
{
    return filter->scheme == &petal_scheme_valkey_bloom && has_origin(filter);
}

/* valkey-bloom computes a layer's rate from the filter's rate, not from the previous layer's
 * rate. */
static petal_status grow(petal_filter *filter, petal_error *error)
{
    const struct layer *last = petal_filter_last(filter);
    uint32_t expansion = load32le(filter->origin.near + ORIGIN_EXPANSION);
    double rate = filter->layers->target_rate *
                  power(load_double(filter->origin.near + ORIGIN_RATIO), filter->layer_count);
    uint64_t capacity;
    struct shape shape;
    if (expansion == 0)
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: a NONSCALING filter takes the %llu keys it was made for",
                          (unsigned long long)last->capacity);
    if (filter->layer_count >= PETAL_MAX_LAYERS)
        return petal_fail(error, PETAL_ERR_FULL, "full: the filter has %u layers, and no more fit",
                          filter->layer_count);
    if (!(rate > LOWEST_RATE))
        return petal_fail(error, PETAL_ERR_FULL, "full: the next layer would have a rate of 0");
    if (!checked_mul(last->capacity, expansion, &capacity) || capacity > INT64_MAX ||
        size(capacity, rate, &shape, NULL) != PETAL_OK)
        return petal_fail(error, PETAL_ERR_FULL, "full: no next layer has %u times %llu keys",
                          expansion, (unsigned long long)last->capacity);
    petal_status status = petal_filter_add_layer(filter, &shape, error);
    if (status != PETAL_OK) return status;
    petal_filter_last(filter)->capacity = capacity;
    petal_filter_last(filter)->target_rate = rate;
    return PETAL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static petal_status expect(const struct format_def *self, const petal_filter *filter,
                           petal_error *error)
{
    petal_status status = petal_format_expect(self, filter, error);
    if (status != PETAL_OK) return status;
    if (!has_origin(filter) || !is_rate(filter->layers->target_rate))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "valkey-bloom holds a rate and how it grows, which the filter lacks; "
                          "use petal");
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (filter->layers[i].capacity == 0 || filter->layers[i].capacity > INT64_MAX)
            return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                              "valkey-bloom holds a capacity, which layer %u lacks; use petal", i);
    return PETAL_OK;
}

static petal_status write_head(const petal_filter *filter, const struct sink *sink,
                               petal_error *error)
{
    uint8_t head[HEAD_BYTES];
    head[AT_VERSION] = VERSION;
    memcpy(head + AT_EXPANSION, filter->origin.near + ORIGIN_EXPANSION, 4);
    store64le(head + AT_RATE, bits_from_double(filter->layers->target_rate));
    memcpy(head + AT_RATIO, filter->origin.near + ORIGIN_RATIO, 8);
    head[AT_RANDOM] = filter->origin.near[ORIGIN_RANDOM];
    store64le(head + AT_LAYERS, filter->layer_count);
    return petal_put(sink, head, sizeof head, error);
}

static petal_status write_layer(const petal_filter *filter, const struct layer *layer,
                                const struct sink *sink, petal_error *error)
{
    uint8_t front[FRONT_BYTES], back[BACK_BYTES];
    store64le(front + AT_LENGTH, BITMAP_HEADER_BYTES + layer->array.size_bytes);
    front[AT_BITMAP_VERSION] = BITMAP_VERSION;
    store64le(front + AT_BYTES, layer->array.size_bytes);
    store32le(front + AT_HASHES, layer->array.shape.hashes);
    memcpy(front + AT_SEED, filter->origin.near + ORIGIN_SEED, PETAL_LONG_SEED_BYTES);
    petal_status status = petal_put_both(sink, front, sizeof front, &layer->array, error);
    store64le(back, layer->items > INT64_MAX ? INT64_MAX : layer->items);
    store64le(back + 8, layer->capacity);
    return status == PETAL_OK ? petal_put(sink, back, sizeof back, error) : status;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    petal_status status = write_head(filter, sink, error);
    for (uint32_t i = 0; status == PETAL_OK && i < filter->layer_count; i++)
        status = write_layer(filter, &filter->layers[i], sink, error);
    return status;
}

const struct format_def petal_format_valkey_bloom = {
    .id = PETAL_FORMAT_VALKEY_BLOOM,
    .name = "valkey-bloom",
    .scheme = PETAL_SCHEME_VALKEY_BLOOM,
    .hash = PETAL_HASH_VALKEY_BLOOM,
    .fit = FIT_CERTAIN,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .expect = expect,
    .write = write,
    .grows = grows,
    .grow = grow,
};

/* datasketches.c - reads and writes the serialized Bloom filters of Apache DataSketches in Java,
 * C++ and Python. All numbers are little-endian.
 *
 *     0           1   2    3       4     6   8      16       20   24         32
 *     +-----------+---+----+-------+-----+---+------+--------+----+----------+--------------+
 *     | 3 or 4    | 1 | 21 | flags | k   | 0 | seed | longs  | 0  | bits set | longs * 8    |
 *     +-----------+---+----+-------+-----+---+------+--------+----+----------+--------------+
 *
 * The first byte is the number of longs before the bits. Flag 4 means "empty": the file ends at
 * offset 24. "bits set" is -1 if the bits were not counted after the last update ("dirty"). The
 * reader doesn't trust this number. See docs/formats/datasketches.md. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/popcount.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

enum {
    AT_PREAMBLE = 0,
    AT_VERSION = 1,
    AT_FAMILY = 2,
    AT_FLAGS = 3,
    AT_HASHES = 4,
    AT_ZERO_16 = 6,
    AT_SEED = 8,
    AT_LONGS = 16,
    AT_ZERO_32 = 20,
    AT_BITS_SET = 24,
    AT_BITS = 32
};

#define EMPTY_BYTES 24u
#define PREAMBLE_EMPTY 3u
#define PREAMBLE 4u
#define VERSION 1u
#define FAMILY 21u
#define FLAG_EMPTY 4u
#define DIRTY UINT64_MAX

/* origin.near is one byte. It records properties of the file other than its bits. */
enum {
    NOTE_DIRTY = 1, /* the number of set bits was -1 */
    /* The filter is empty, but was written with its bits, because it was created in the caller's
     * memory. */
    NOTE_LONG_EMPTY = 2,
    NOTE_DIRECT = 4, /* empty, with first byte 4: created by Java in the caller's memory */
};

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status check_head(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes > AT_FAMILY &&
        (bytes[AT_PREAMBLE] < PREAMBLE_EMPTY || bytes[AT_PREAMBLE] > PREAMBLE ||
         bytes[AT_VERSION] != VERSION || bytes[AT_FAMILY] != FAMILY))
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, 0,
            "not a Bloom filter of DataSketches (that begins with 03 or 04, 01, 15)");
    if (size_bytes < EMPTY_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has 24 bytes); copy it again");
    if (bytes[AT_FLAGS] & ~FLAG_EMPTY)
        return petal_format_damaged(error, AT_FLAGS, "unknown flags");
    if (bytes[AT_PREAMBLE] == PREAMBLE_EMPTY && bytes[AT_FLAGS] == 0)
        return petal_format_damaged(error, AT_PREAMBLE,
                                    "3 longs before the bits, which only empty filters have");
    if (load32le(bytes + AT_HASHES) >> 16 != 0)
        return petal_format_damaged(error, AT_ZERO_16, "unused bytes that are not 0");
    if (load32le(bytes + AT_ZERO_32) != 0)
        return petal_format_damaged(error, AT_ZERO_32, "unused bytes that are not 0");
    return PETAL_OK;
}

/* Reports why a size that fits in the header is rejected. */
static petal_status check_bits(double bits, uint64_t offset, petal_error *error)
{
    if (bits <= (double)petal_scheme_datasketches.max_bits) return PETAL_OK;
    return petal_fail_at(
        error, PETAL_ERR_LIMIT, offset,
        "%.10g bits: from 2^32 on, DataSketches in Java and in C++ disagree on where bits go; use fewer",
        bits);
}

static petal_status check_limits(uint32_t longs, uint32_t hashes, petal_error *error)
{
    petal_status status = check_bits((double)longs * 64, AT_LONGS, error);
    if (status != PETAL_OK) return status;
    if (hashes > petal_scheme_datasketches.max_hashes)
        return petal_fail_at(error, PETAL_ERR_LIMIT, AT_HASHES, "%u hashes; petal reads up to %u",
                             hashes, petal_scheme_datasketches.max_hashes);
    return PETAL_OK;
}

static uint8_t notes_of(const uint8_t *bytes, bool is_empty)
{
    if (is_empty) return bytes[AT_PREAMBLE] == PREAMBLE ? NOTE_DIRECT : 0;
    uint64_t bits_set = load64le(bytes + AT_BITS_SET);
    return bits_set == DIRTY ? NOTE_DIRTY : bits_set == 0 ? NOTE_LONG_EMPTY : 0;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    petal_status status = check_head(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    bool is_empty = bytes[AT_FLAGS] & FLAG_EMPTY;
    uint32_t longs = load32le(bytes + AT_LONGS), hashes = load32le(bytes + AT_HASHES);
    if (hashes == 0) return petal_format_damaged(error, AT_HASHES, "a filter has at least 1 hash");
    if (longs == 0 || longs > INT32_MAX)
        return petal_format_damaged(error, AT_LONGS, "an impossible number of longs");
    status = petal_format_check_size(is_empty ? EMPTY_BYTES : AT_BITS + (uint64_t)longs * 8,
                                     size_bytes, error);
    if (status == PETAL_OK) status = check_limits(longs, hashes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, hashes, 0, (uint64_t)longs * 64};
    petal_format_single(about, &shape, AT_BITS);
    about->bits_left_out = is_empty;
    about->seed = load64le(bytes + AT_SEED);
    about->origin.size_bytes = 1;
    about->origin.near[0] = notes_of(bytes, is_empty);
    return PETAL_OK;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* C++ and Python use m = ceil(-n ln p / (ln 2 * ln 2)), rounded up to whole longs, and k = ceil(-ln
 * p / ln 2). Java computes k = ceil(m / n * ln 2) before it rounds m. So k is one higher for small
 * n, and whenever p is a power of 1/2. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "DataSketches cannot make a filter for 0 keys; use at least 1");
    double bits = petal_model_ceil(petal_model_optimal_bits((double)keys, rate));
    petal_status status = check_bits(bits, PETAL_NO_OFFSET, error);
    if (status != PETAL_OK) return status;
    shape->bits = (uint64_t)bits;
    shape->hashes = (uint32_t)petal_model_ceil(-petal_model_ln(rate) / petal_model_ln(2.0));
    return PETAL_OK;
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    petal_status status = check_bits((double)options->bits, PETAL_NO_OFFSET, error);
    about->seed = options->seed;
    return status == PETAL_OK ? petal_size_plan(self, options, about, error) : status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint8_t noted(const petal_filter *filter)
{
    bool is_noted =
        filter->origin.format == petal_format_datasketches.id && filter->origin.size_bytes == 1;
    return is_noted ? filter->origin.near[0] : 0;
}

/* Returns the value of "bits set" that the original library writes. The original library doesn't
 * count bits during updates. */
static uint64_t bits_set_of(const petal_filter *filter)
{
    const struct layer *layer = filter->layers;
    if (petal_filter_items(filter) > 0 || noted(filter) & NOTE_DIRTY) return DIRTY;
    return petal_popcount(layer->array.bytes, layer->array.size_bytes);
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[AT_BITS] = {0};
    const struct bit_array *array = &filter->layers->array;
    uint64_t bits_set = bits_set_of(filter);
    bool is_empty = bits_set == 0 && !(noted(filter) & NOTE_LONG_EMPTY);
    header[AT_PREAMBLE] = is_empty && !(noted(filter) & NOTE_DIRECT) ? PREAMBLE_EMPTY : PREAMBLE;
    header[AT_VERSION] = VERSION;
    header[AT_FAMILY] = FAMILY;
    header[AT_FLAGS] = is_empty ? FLAG_EMPTY : 0;
    store32le(header + AT_HASHES, array->shape.hashes);
    store64le(header + AT_SEED, filter->hash_key.seed);
    store32le(header + AT_LONGS, (uint32_t)(array->shape.bits / 64));
    store64le(header + AT_BITS_SET, bits_set);
    if (is_empty) return petal_put(sink, header, EMPTY_BYTES, error);
    return petal_put_both(sink, header, AT_BITS, array, error);
}

const struct format_def petal_format_datasketches = {
    .id = PETAL_FORMAT_DATASKETCHES,
    .name = "datasketches",
    .scheme = PETAL_SCHEME_DATASKETCHES,
    .hash = PETAL_HASH_DATASKETCHES,
    .keys = "UTF-8 or i64, not empty",
    .fit = FIT_CERTAIN,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

/* bits_and_blooms.c - the files of the Go package bits-and-blooms/bloom, version 3 (WriteTo, MarshalBinary and gob); all
 * numbers big-endian, 8 bytes each.
 *
 *     0   8   16       24
 *     +---+---+--------+-----------------------+
 *     | m | k | length | ceil(length / 64) * 8 |
 *     +---+---+--------+-----------------------+
 *
 * length is that of the bit set, m but for filters made from words (FromWithM), where it is 64 * words. No magic, no count.
 * docs/formats/bits-and-blooms.md.
 *
 * Origin data: length, 8 bytes little-endian. */
#include "base/bytes.h"
#include "base/error.h"
#include "format/sizing.h"
#include "scheme/model.h"

#include <string.h>

#define HEADER_BYTES 24u

static uint64_t load64be(const uint8_t *from)
{
    return swap64(load64le(from));
}

static void store64be(uint8_t *to, uint64_t x)
{
    store64le(to, swap64(x));
}

static uint64_t words_for(uint64_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static petal_status check_header(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes, "truncated (a header has %u bytes); copy it again",
                             HEADER_BYTES);
    uint64_t bits = load64be(bytes), hashes = load64be(bytes + 8), length = load64be(bytes + 16);
    if (bits < 1 || bits > petal_bits_and_blooms.max_bits)
        return petal_format_damaged(error, 0, "an impossible number of bits");
    if (hashes < 1 || hashes > petal_bits_and_blooms.max_hashes)
        return petal_format_damaged(error, 8, "an impossible number of hashes");
    if (length < bits) return petal_format_damaged(error, 16, "a bit set shorter than the filter");
    if (words_for(length) != words_for(bits))
        return petal_format_damaged(error, 16, "a bit set longer than the filter");
    return PETAL_OK;
}

static petal_status read(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    petal_status status = check_header(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {PETAL_SCHEME_BITS_AND_BLOOMS, (uint32_t)load64be(bytes + 8), 0, load64be(bytes)};
    uint64_t array_bytes = petal_shape_bytes(&shape);
    status = petal_format_check_size(HEADER_BYTES + array_bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    if (!petal_tail_is_clear(&shape, bytes + HEADER_BYTES, array_bytes))
        return petal_format_damaged(error, size_bytes - 8, "bits set beyond the last");
    petal_format_single(about, &shape, HEADER_BYTES);
    about->hash = PETAL_HASH_BITS_AND_BLOOMS;
    about->origin.size_bytes = 8;
    store64le(about->origin.data, load64be(bytes + 16));
    return PETAL_OK;
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct description about = {0};
    return read(bytes, size_bytes, &about, NULL) == PETAL_OK ? FIT_POSSIBLE : FIT_NO;
}

/* ---- sizing ---------------------------------------------------------------------------------------------------------- */

/* EstimateParameters: m = ceil(-n ln p / (ln 2)^2), k = ceil(ln 2 * m / n). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "bits-and-blooms sizes no filter for 0 keys; ask for 1");
    double bits = petal_model_ceil(petal_model_optimal_bits((double)keys, rate));
    petal_status status = petal_size_bits(bits, petal_bits_and_blooms.max_bits, &shape->bits, error);
    if (status == PETAL_OK) shape->hashes = petal_size_hashes(shape->bits, keys);
    return status;
}

static petal_status plan(const petal_options *options, struct description *about, petal_error *error)
{
    struct request asked;
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {PETAL_SCHEME_BITS_AND_BLOOMS, asked.hashes, 0, asked.bits};
    if (!asked.by_bits) status = size(asked.keys, asked.rate, &shape, error);
    if (status != PETAL_OK) return status;
    about->hash = PETAL_HASH_BITS_AND_BLOOMS;
    return petal_size_layer(options, &shape, about, error);
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* Taken from the origin where it can be that of these bits: a petal file may say anything. */
static uint64_t length_of(const petal_filter *filter)
{
    uint64_t bits = filter->layers->array.shape.bits, length = load64le(filter->origin.data);
    bool known = filter->origin.format == petal_format_bits_and_blooms.id && filter->origin.size_bytes == 8;
    return known && length >= bits && words_for(length) == words_for(bits) ? length : bits;
}

static petal_status write(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    uint8_t header[HEADER_BYTES];
    petal_status status = petal_format_expect_single(filter, PETAL_SCHEME_BITS_AND_BLOOMS, "bits-and-blooms", error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers->array;
    store64be(header, array->shape.bits);
    store64be(header + 8, array->shape.hashes);
    store64be(header + 16, length_of(filter));
    status = petal_put(sink, header, sizeof header, error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

const struct format_def petal_format_bits_and_blooms = {
    .id = 8, .name = "bits-and-blooms", .fits = fits, .read = read, .plan = plan, .write = write};

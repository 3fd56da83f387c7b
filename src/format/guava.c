/* guava.c - the files of Guava's BloomFilter.writeTo, which its ports write too.
 *
 *     0         1   2               6
 *     +---------+---+---------------+---------------------------+
 *     | 0 or 1  | k | longs, BE 32  | longs * 8 bytes, BE words |
 *     +---------+---+---------------+---------------------------+
 *
 * 0 is the strategy MITZ_32 (format guava32), 1 MITZ_64 (format guava). No magic, no count, no checksum, and nothing says which
 * funnel made key bytes of the keys: the user must know. docs/formats/guava.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/sizing.h"
#include "scheme/model.h"

#define HEADER_BYTES 6u

enum strategy { MITZ_32 = 0, MITZ_64 = 1 };

static petal_scheme scheme_of(enum strategy strategy)
{
    return strategy == MITZ_64 ? PETAL_SCHEME_GUAVA_MITZ64 : PETAL_SCHEME_GUAVA_MITZ32;
}

/* What else it is, for messages: Java's object streams hold the same filter in another form. */
static petal_status check_stream(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= 4 && load32le(bytes) == 0x0500edacu) /* ac ed 00 05 */
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "a Java-serialized object, not what writeTo() makes; read it in Java and call writeTo()");
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes, "truncated (a header has 6 bytes); copy it again");
    return PETAL_OK;
}

static petal_status check_body(uint64_t promised_bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= HEADER_BYTES && size_bytes < promised_bytes && (size_bytes - HEADER_BYTES) % 8 == 0)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (header promises %llu bytes, file has %llu): cut off, or written by OldPanda's Go "
                             "module, which drops leading and trailing zero words",
                             (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
    return petal_format_check_size(promised_bytes, size_bytes, error);
}

static petal_status read_strategy(const uint8_t *bytes, uint64_t size_bytes, enum strategy strategy,
                                  struct description *about, petal_error *error)
{
    petal_status status = check_stream(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    uint32_t longs = swap32(load32le(bytes + 2));
    if (bytes[0] > MITZ_64) return petal_format_damaged(error, 0, "a strategy is 0 or 1");
    if (bytes[0] != strategy)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "has strategy %s; its format is %s",
                             strategy == MITZ_64 ? "MITZ_32" : "MITZ_64", strategy == MITZ_64 ? "guava32" : "guava");
    if (bytes[1] == 0) return petal_format_damaged(error, 1, "a filter has at least 1 hash");
    if (longs == 0 || longs > INT32_MAX) return petal_format_damaged(error, 2, "an impossible number of longs");
    status = check_body(HEADER_BYTES + (uint64_t)longs * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {scheme_of(strategy), bytes[1], 0, (uint64_t)longs * 64};
    petal_format_single(about, &shape, HEADER_BYTES);
    about->hash = PETAL_HASH_MURMUR3_X64_128;
    return PETAL_OK;
}

/* Guava up to 31.1: m0 = (long)(-n ln p / (ln 2)^2), k = round(m0 / n * ln 2), m = m0 in whole longs. Later versions take
 * k = round(-ln p / ln 2), which differs for a few tiny n only. */
static petal_status plan_strategy(const petal_options *options, enum strategy strategy, struct description *about,
                                  petal_error *error)
{
    struct request asked;
    struct shape shape = {scheme_of(strategy), 0, 0, 0};
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (asked.by_bits) {
        shape.hashes = asked.hashes;
        if (!checked_round_up(asked.bits, 64, &shape.bits)) shape.bits = UINT64_MAX; /* refused below */
    } else {
        double n = asked.keys ? (double)asked.keys : 1;
        uint64_t bits;
        status = petal_size_bits(petal_model_optimal_bits(n, asked.rate), (uint64_t)INT32_MAX * 64, &bits, error);
        if (status != PETAL_OK) return status;
        if (bits == 0) return petal_fail(error, PETAL_ERR_ARGUMENT, "Guava makes no filter of 0 bits; ask a lower rate");
        uint64_t hashes = petal_model_round((double)bits / n * PETAL_LN2);
        if (hashes > 255) return petal_fail(error, PETAL_ERR_LIMIT, "more than 255 hashes; ask a higher rate");
        shape.hashes = hashes ? (uint32_t)hashes : 1;
        shape.bits = (bits + 63) / 64 * 64;
    }
    status = petal_scheme_find(shape.scheme)->settle(&shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    petal_size_record(options, about);
    about->hash = PETAL_HASH_MURMUR3_X64_128;
    return PETAL_OK;
}

static petal_status write_strategy(const petal_filter *filter, enum strategy strategy, const char *name,
                                   const struct sink *sink, petal_error *error)
{
    uint8_t header[HEADER_BYTES] = {(uint8_t)strategy};
    petal_status status = petal_format_expect_single(filter, scheme_of(strategy), name, error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers->array;
    header[1] = (uint8_t)array->shape.hashes;
    store32le(header + 2, swap32((uint32_t)(array->shape.bits / 64)));
    status = petal_put(sink, header, sizeof header, error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

static enum fit fits_strategy(const uint8_t *bytes, uint64_t size_bytes, enum strategy strategy)
{
    struct description about = {0};
    return read_strategy(bytes, size_bytes, strategy, &about, NULL) == PETAL_OK ? FIT_POSSIBLE : FIT_NO;
}

/* ---- guava ----------------------------------------------------------------------------------------------------------- */

static enum fit fits64(const uint8_t *bytes, uint64_t size_bytes)
{
    return fits_strategy(bytes, size_bytes, MITZ_64);
}

static petal_status read64(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    return read_strategy(bytes, size_bytes, MITZ_64, about, error);
}

static petal_status plan64(const petal_options *options, struct description *about, petal_error *error)
{
    return plan_strategy(options, MITZ_64, about, error);
}

static petal_status write64(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    return write_strategy(filter, MITZ_64, "guava", sink, error);
}

const struct format_def petal_format_guava = {
    .id = 2, .name = "guava", .fits = fits64, .read = read64, .plan = plan64, .write = write64};

/* ---- guava32 --------------------------------------------------------------------------------------------------------- */

static enum fit fits32(const uint8_t *bytes, uint64_t size_bytes)
{
    return fits_strategy(bytes, size_bytes, MITZ_32);
}

static petal_status read32(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    return read_strategy(bytes, size_bytes, MITZ_32, about, error);
}

static petal_status plan32(const petal_options *options, struct description *about, petal_error *error)
{
    return plan_strategy(options, MITZ_32, about, error);
}

static petal_status write32(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    return write_strategy(filter, MITZ_32, "guava32", sink, error);
}

const struct format_def petal_format_guava32 = {
    .id = 3, .name = "guava32", .fits = fits32, .read = read32, .plan = plan32, .write = write32};

/* guava.c - the files of Guava's BloomFilter.writeTo, which its ports write too.
 *
 *     0         1   2               6
 *     +---------+---+---------------+---------------------------+
 *     | 0 or 1  | k | longs, BE 32  | longs * 8 bytes, BE words |
 *     +---------+---+---------------+---------------------------+
 *
 * 0 is the strategy MITZ_32 (format guava32), 1 MITZ_64 (format guava). No magic, no count, no checksum, and nothing says which
 * funnel made key bytes of the keys: the user must know. docs/formats/guava.md. OldPanda's ports write the same bytes; where
 * their MITZ_32 differs from Guava's it is a scheme of its own, which only the user can name. docs/formats/oldpanda.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/sizing.h"
#include "scheme/model.h"

#define HEADER_BYTES 6u

enum strategy { MITZ_32 = 0, MITZ_64 = 1 };

/* Who wrote the file. */
struct variant {
    const char *format;
    enum strategy strategy;
    petal_scheme scheme;
};

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
        return petal_fail_at(
            error, PETAL_ERR_TRUNCATED, size_bytes,
            "truncated (header promises %llu bytes, file has %llu): cut off, or written by OldPanda's Go "
            "module, which drops leading and trailing zero words",
            (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
    return petal_format_check_size(promised_bytes, size_bytes, error);
}

static petal_status read_variant(const struct variant *variant, const uint8_t *bytes, uint64_t size_bytes,
                                 struct description *about, petal_error *error)
{
    petal_status status = check_stream(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    uint32_t longs = swap32(load32le(bytes + 2));
    if (bytes[0] > MITZ_64) return petal_format_damaged(error, 0, "a strategy is 0 or 1");
    if (bytes[0] != variant->strategy)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "has strategy %s; its format is %s",
                             bytes[0] == MITZ_64 ? "MITZ_64" : "MITZ_32", bytes[0] == MITZ_64 ? "guava" : "guava32");
    if (bytes[1] == 0) return petal_format_damaged(error, 1, "a filter has at least 1 hash");
    if (longs == 0 || longs > INT32_MAX) return petal_format_damaged(error, 2, "an impossible number of longs");
    status = check_body(HEADER_BYTES + (uint64_t)longs * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {variant->scheme, bytes[1], 0, (uint64_t)longs * 64};
    petal_format_single(about, &shape, HEADER_BYTES);
    about->hash = PETAL_HASH_MURMUR3_X64_128;
    return PETAL_OK;
}

/* Guava up to 31.1: m0 = (long)(-n ln p / (ln 2)^2), k = round(m0 / n * ln 2), m = m0 in whole longs. Later versions take
 * k = round(-ln p / ln 2), which differs for a few tiny n only. */
static petal_status plan_variant(const struct variant *variant, const petal_options *options, struct description *about,
                                 petal_error *error)
{
    struct request asked;
    struct shape shape = {variant->scheme, 0, 0, 0};
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
        if (bits == 0)
            return petal_fail(error, PETAL_ERR_ARGUMENT, "Guava makes no filter of 0 bits; ask a lower rate");
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

static petal_status write_variant(const struct variant *variant, const petal_filter *filter, const struct sink *sink,
                                  petal_error *error)
{
    uint8_t header[HEADER_BYTES] = {(uint8_t)variant->strategy};
    petal_status status = petal_format_expect_single(filter, variant->scheme, variant->format, error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers->array;
    header[1] = (uint8_t)array->shape.hashes;
    store32le(header + 2, swap32((uint32_t)(array->shape.bits / 64)));
    status = petal_put(sink, header, sizeof header, error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

/* The port's files cannot be told from Guava's, so they are never a guess. */
static enum fit fits_variant(const struct variant *variant, const uint8_t *bytes, uint64_t size_bytes)
{
    struct description about = {0};
    bool is_port = variant->scheme == PETAL_SCHEME_OLDPANDA_PY32 || variant->scheme == PETAL_SCHEME_OLDPANDA_GO32;
    return !is_port && read_variant(variant, bytes, size_bytes, &about, NULL) == PETAL_OK ? FIT_POSSIBLE : FIT_NO;
}

/* The row of a variant. NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names, not values. */
#define ROW(id_, symbol, name_, strategy_, scheme_) \
    static const struct variant symbol = {name_, strategy_, scheme_}; \
    static enum fit fits_##symbol(const uint8_t *bytes, uint64_t size_bytes) \
    { \
        return fits_variant(&symbol, bytes, size_bytes); \
    } \
    static petal_status read_##symbol(const uint8_t *bytes, uint64_t size_bytes, struct description *about, \
                                      petal_error *error) \
    { \
        return read_variant(&symbol, bytes, size_bytes, about, error); \
    } \
    static petal_status plan_##symbol(const petal_options *options, struct description *about, petal_error *error) \
    { \
        return plan_variant(&symbol, options, about, error); \
    } \
    static petal_status write_##symbol(const petal_filter *filter, const struct sink *sink, petal_error *error) \
    { \
        return write_variant(&symbol, filter, sink, error); \
    } \
    const struct format_def petal_format_##symbol = {.id = id_, \
                                                     .name = name_, \
                                                     .fits = fits_##symbol, \
                                                     .read = read_##symbol, \
                                                     .plan = plan_##symbol, \
                                                     .write = write_##symbol};

ROW(2, guava, "guava", MITZ_64, PETAL_SCHEME_GUAVA_MITZ64)
ROW(3, guava32, "guava32", MITZ_32, PETAL_SCHEME_GUAVA_MITZ32)
ROW(26, oldpanda_py32, "oldpanda-py32", MITZ_32, PETAL_SCHEME_OLDPANDA_PY32)
ROW(27, oldpanda_go32, "oldpanda-go32", MITZ_32, PETAL_SCHEME_OLDPANDA_GO32)
/* NOLINTEND(bugprone-macro-parentheses) */

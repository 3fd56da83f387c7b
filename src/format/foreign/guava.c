/* guava.c - reads and writes the files that Guava's BloomFilter.writeTo() and its ports write.
 *
 *     0         1   2               6
 *     +---------+---+---------------+---------------------------+
 *     | 0 or 1  | k | longs, BE 32  | longs * 8 bytes, BE words |
 *     +---------+---+---------------+---------------------------+
 *
 * 0 is the strategy MITZ_32 (format guava32), and 1 is MITZ_64 (format guava). There is no magic
 * number, no count and no checksum. The file doesn't record which funnel converted keys to bytes,
 * so the user must know the funnel. docs/formats/guava.md. OldPanda's ports write the same bytes.
 * Their MITZ_32 differs from Guava's in some cases, so it is a separate scheme, which the user must
 * name. docs/formats/oldpanda.md. */
#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/sizing.h"

#define HEADER_BYTES 6u

enum strategy { MITZ_32 = 0, MITZ_64 = 1 };

/* Finds out what else the bytes could be, for the message. A Java object stream contains the same
 * filter in a different form. */
static petal_status check_stream(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= 4 && load32le(bytes) == 0x0500edacu) /* ac ed 00 05 */
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, 0,
            "a Java-serialized object, not what writeTo() makes; read it in Java and call writeTo()");
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has 6 bytes); copy it again");
    return PETAL_OK;
}

static petal_status check_body(uint64_t promised_bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= HEADER_BYTES && size_bytes < promised_bytes &&
        (size_bytes - HEADER_BYTES) % 8 == 0)
        return petal_fail_at(
            error, PETAL_ERR_TRUNCATED, size_bytes,
            "truncated (header promises %llu bytes, file has %llu): cut off, or written by OldPanda's Go "
            "module, which drops leading and trailing zero words",
            (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
    return petal_format_check_size(promised_bytes, size_bytes, error);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    petal_status status = check_stream(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    uint32_t longs = swap32(load32le(bytes + 2));
    if (bytes[0] > MITZ_64) return petal_format_damaged(error, 0, "a strategy other than 0 and 1");
    if (bytes[0] != self->variant)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "has strategy %s; its format is %s",
                             bytes[0] == MITZ_64 ? "MITZ_64" : "MITZ_32",
                             bytes[0] == MITZ_64 ? "guava" : "guava32");
    if (bytes[1] == 0) return petal_format_damaged(error, 1, "a filter has at least 1 hash");
    if (longs == 0 || longs > INT32_MAX)
        return petal_format_damaged(error, 2, "an impossible number of longs");
    status = check_body(HEADER_BYTES + (uint64_t)longs * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, bytes[1], 0, (uint64_t)longs * 64};
    petal_format_single(about, &shape, HEADER_BYTES);
    return PETAL_OK;
}

/* The sizes that Guava up to 31.1 uses. Later versions use k = round(-ln p / ln 2), which differs
 * only for a few very small n. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    petal_status status = petal_size_java(keys, rate, shape, error);
    if (status != PETAL_OK) return status;
    if (shape->bits == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "Guava cannot make a filter of 0 bits; use a lower rate");
    if (shape->hashes > 255)
        return petal_fail(error, PETAL_ERR_LIMIT, "more than 255 hashes; use a higher rate");
    return PETAL_OK;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    uint8_t header[HEADER_BYTES] = {(uint8_t)self->variant};
    const struct bit_array *array = &filter->layers->array;
    header[1] = (uint8_t)array->shape.hashes;
    store32le(header + 2, swap32((uint32_t)(array->shape.bits / 64)));
    return petal_put_both(sink, header, sizeof header, array, error);
}

#define ROW(NAME, name_, strategy, scheme_, fit_) \
    { \
        .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = PETAL_SCHEME_##scheme_, \
        .hash = PETAL_HASH_MURMUR3_X64_128, .keys = "what a Funnel writes", .variant = (strategy), \
        .fit = (fit_), .read = read, .size = UNLESS_READ_ONLY(size), .write = write \
    }

/* The ports' files look like Guava's, so petal_recognize() never reports the ports. */
const struct format_def petal_format_guava =
    ROW(GUAVA, "guava", MITZ_64, GUAVA_MITZ64, FIT_POSSIBLE);
const struct format_def petal_format_guava32 =
    ROW(GUAVA32, "guava32", MITZ_32, GUAVA_MITZ32, FIT_POSSIBLE);
const struct format_def petal_format_oldpanda_py32 =
    ROW(OLDPANDA_PY32, "oldpanda-py32", MITZ_32, OLDPANDA_PY32, FIT_NO);
const struct format_def petal_format_oldpanda_go32 =
    ROW(OLDPANDA_GO32, "oldpanda-go32", MITZ_32, OLDPANDA_GO32, FIT_NO);

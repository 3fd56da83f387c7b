/* rocksdb.c - reads and writes one Bloom filter (FastLocalBloom) from the filter block of a RocksDB
 * table with format_version 5 or later.
 *
 *     0            size - 5
 *     +------------+----+---+---+---+---+
 *     | lines * 64 | ff | 0 | k | 0 | 0 |
 *     +------------+----+---+---+---+---+
 *
 * The byte ff marks newer filters; older filters store the number of hashes in its place. The 0
 * after ff identifies FastLocalBloom. The upper 3 bits of k are 0, which means 64-byte lines. The
 * last two bytes are reserved. See docs/formats/rocksdb.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#define TRAILER_BYTES 5u

enum { NEWER_BLOOM = 0xff, RIBBON = 0xfe };

/* ---- reading --------------------------------------------------------------------------------- */

/* Before format_version 5, a filter ends with the number of hashes and the number of lines. The
 * size of a line is a power of two. */
static bool is_legacy(const uint8_t *trailer, uint64_t array_bytes)
{
    uint64_t lines = load32le(trailer + 1);
    if (trailer[0] < 1 || trailer[0] > 127 || lines == 0 || array_bytes % lines != 0) return false;
    uint64_t line_bytes = array_bytes / lines;
    return line_bytes >= 64 && (line_bytes & (line_bytes - 1)) == 0;
}

static petal_status other_filter(const uint8_t *trailer, uint64_t array_bytes, petal_error *error)
{
    if (trailer[0] == RIBBON && array_bytes)
        return petal_fail_at(error, PETAL_ERR_UNSUPPORTED, array_bytes,
                             "a Ribbon filter, which is not a Bloom filter");
    if (is_legacy(trailer, array_bytes))
        return petal_fail_at(
            error, PETAL_ERR_UNSUPPORTED, array_bytes,
            "a RocksDB filter from before format_version 5; let RocksDB write the table anew");
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, array_bytes,
                         "not a RocksDB filter (its last 5 bytes are ff 00 k 00 00)");
}

static petal_status check_trailer(const uint8_t *trailer, uint64_t array_bytes, petal_error *error)
{
    if (trailer[0] != NEWER_BLOOM) return other_filter(trailer, array_bytes, error);
    if (trailer[1] != 0 || trailer[2] >> 5 != 0 || trailer[2] == 31 || trailer[3] != 0 ||
        trailer[4] != 0)
        return petal_fail_at(
            error, PETAL_ERR_UNSUPPORTED, array_bytes,
            "a RocksDB filter of a later kind (%02x %02x %02x %02x %02x); RocksDB takes every key as present",
            trailer[0], trailer[1], trailer[2], trailer[3], trailer[4]);
    if (trailer[2] == 0)
        return petal_format_damaged(error, array_bytes + 2, "a filter has at least 1 hash");
    if (array_bytes == 0)
        return petal_fail_at(error, PETAL_ERR_UNSUPPORTED, 0,
                             "RocksDB's filter of 0 keys, which has no bits");
    if (array_bytes % PETAL_LINE_BYTES != 0)
        return petal_format_damaged(error, array_bytes, "not whole lines of 64 bytes");
    if (array_bytes > petal_scheme_rocksdb.max_bits / 8)
        return petal_fail_at(error, PETAL_ERR_LIMIT, 0,
                             "more than the 4 GiB that RocksDB can count");
    return PETAL_OK;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    if (size_bytes < TRAILER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a filter has at least %u bytes); copy it again",
                             TRAILER_BYTES);
    uint64_t array_bytes = size_bytes - TRAILER_BYTES;
    petal_status status = check_trailer(bytes + array_bytes, array_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, bytes[array_bytes + 2], 0, array_bytes * 8};
    petal_format_single(about, &shape, 0);
    return PETAL_OK;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

#define MIN_BITS_PER_KEY 1u
#define MAX_BITS_PER_KEY 100u /* RocksDB reduces larger values to this maximum */

/* Returns RocksDB's number of hashes for a number of bits per key, given in thousandths. RocksDB's
 * developers chose the limits by testing. */
static uint32_t hashes_for(uint32_t millibits)
{
    static const uint32_t max[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                   11720, 14001, 16050, 18300, 22001, 25501};
    const uint32_t rows = sizeof max / sizeof *max;
    for (uint32_t i = 0; i < rows; i++)
        if (millibits <= max[i]) return i + 1;
    return millibits > 50000 ? 24 : (millibits - 1) / 2000 - 1;
}

/* lines = n * millibits / 512,000, rounded up. */
static petal_status shape_for(uint64_t keys, uint32_t bits_per_key, struct shape *shape,
                              petal_error *error)
{
    uint64_t bits;
    if (!checked_mul(keys, bits_per_key, &bits) || !checked_round_up(bits, PETAL_LINE_BITS, &bits))
        return petal_fail(error, PETAL_ERR_LIMIT, "more than the 4 GiB that RocksDB can count");
    *shape = (struct shape){PETAL_SCHEME_ROCKSDB, hashes_for(bits_per_key * 1000), 0, bits};
    return PETAL_OK;
}

/* RocksDB's parameter is the number of bits per key. This function returns the smallest integer for
 * which a large filter has at most the requested false-positive rate, for example 10 for 1 %. */
static petal_status bits_per_key_for(double rate, uint32_t *bits_per_key, petal_error *error)
{
    const uint64_t lines = 1 << 20;
    double reached = 1;
    for (uint32_t bits = MIN_BITS_PER_KEY; bits <= MAX_BITS_PER_KEY; bits++) {
        reached = petal_model_lines_rate(lines, hashes_for(bits * 1000),
                                         (double)lines * PETAL_LINE_BITS / bits);
        *bits_per_key = bits;
        if (reached <= rate) return PETAL_OK;
    }
    return petal_fail(error, PETAL_ERR_UNREACHABLE,
                      "RocksDB's filters reach a rate of %.3g, not %g", reached, rate);
}

static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    uint32_t bits_per_key;
    petal_status status = bits_per_key_for(rate, &bits_per_key, error);
    return status == PETAL_OK ? shape_for(keys ? keys : 1, bits_per_key, shape, error) : status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    const struct bit_array *array = &filter->layers->array;
    const uint8_t trailer[TRAILER_BYTES] = {NEWER_BLOOM, 0, (uint8_t)array->shape.hashes, 0, 0};
    petal_status status = petal_put(sink, array->bytes, array->size_bytes, error);
    return status == PETAL_OK ? petal_put(sink, trailer, sizeof trailer, error) : status;
}

const struct format_def petal_format_rocksdb = {
    .id = PETAL_FORMAT_ROCKSDB,
    .name = "rocksdb",
    .scheme = PETAL_SCHEME_ROCKSDB,
    .hash = PETAL_HASH_XXPH3,
    .fit = FIT_POSSIBLE,
    .read = read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

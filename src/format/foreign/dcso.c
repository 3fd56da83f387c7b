/* dcso.c - reads and writes the files of DCSO's bloom (Go) and flor (Python). All numbers are
 * little-endian and take 8 bytes.
 *
 *     0       8   16  24  32  40        48
 *     +-------+---+---+---+---+---------+----------------------+---------------+
 *     | flags | n | p | k | m | items N | ceil(m / 64) * 8     | attached data |
 *     +-------+---+---+---+---+---------+----------------------+---------------+
 *
 * The low byte of the flags is the version, 1. N counts the keys that changed a bit. The attached
 * data, everything after the bits, is the filter's metadata. docs/formats/dcso.md.
 *
 * The whole file may be compressed with gzip. `dcso` reads both forms and writes the plain one.
 * `dcso-gzip` reads and writes the compressed form, and is recorded as the origin of a compressed
 * file. In the image that read() receives, PACKED replaces the version.
 *
 * Origin data: the flags, 8 bytes little-endian. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/gzip.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

#define HEADER_BYTES 48u
#define VERSION 1u
#define VERSION_MASK ((uint64_t)0xff)
#define GZIP_MAX_EXPANSION 1032u /* gzip needs at least 2 bits to encode 258 bytes */
#define PACKED 0x1fu             /* the first byte of gzip; no plain file starts with it */

enum { AT_FLAGS = 0, AT_CAPACITY = 8, AT_RATE = 16, AT_HASHES = 24, AT_BITS = 32, AT_ITEMS = 40 };

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status check_header(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= 1 && bytes[AT_FLAGS] != VERSION && bytes[AT_FLAGS] != PACKED)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not a DCSO filter (version %u; there is only %u)", bytes[AT_FLAGS],
                             VERSION);
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %u bytes); copy it again", HEADER_BYTES);
    double rate = double_from_bits(load64le(bytes + AT_RATE));
    uint64_t hashes = load64le(bytes + AT_HASHES), bits = load64le(bytes + AT_BITS);
    if (load64le(bytes + AT_CAPACITY) == 0)
        return petal_format_damaged(error, AT_CAPACITY, "a capacity of 0 keys");
    if (!(rate > 0 && rate < 1))
        return petal_format_damaged(error, AT_RATE, "a rate that is not between 0 and 1");
    if (hashes < 1 || hashes > petal_scheme_dcso.max_hashes)
        return petal_format_damaged(error, AT_HASHES, "an impossible number of hashes");
    if (bits < 1 || bits > petal_scheme_dcso.max_bits)
        return petal_format_damaged(error, AT_BITS, "an impossible number of bits");
    return PETAL_OK;
}

/* Everything after the bits is attached data, so no file is too long. */
static petal_status check_data(uint64_t data_bytes, uint64_t offset, petal_error *error)
{
    if (data_bytes <= PETAL_METADATA_MAX_BYTES) return PETAL_OK;
    return petal_fail_at(error, PETAL_ERR_LIMIT, offset,
                         "%llu bytes of attached data; petal takes at most %d",
                         (unsigned long long)data_bytes, PETAL_METADATA_MAX_BYTES);
}

/* Returns the size, without attached data, of a file with this (already checked) header. */
static uint64_t promised_bytes(const uint8_t *header)
{
    struct shape shape = {PETAL_SCHEME_DCSO, 0, 0, load64le(header + AT_BITS)};
    return HEADER_BYTES + petal_shape_bytes(&shape);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    petal_status status = check_header(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, (uint32_t)load64le(bytes + AT_HASHES), 0,
                          load64le(bytes + AT_BITS)};
    uint64_t promised = promised_bytes(bytes);
    if (size_bytes < promised) return petal_format_check_size(promised, size_bytes, error);
    status = check_data(size_bytes - promised, promised, error);
    if (status != PETAL_OK) return status;
    if (!petal_tail_is_clear(&shape, bytes + HEADER_BYTES, promised - HEADER_BYTES))
        return petal_format_damaged(error, promised - 8, "bits set beyond the last");
    petal_format_single(about, &shape, HEADER_BYTES);
    about->layers->capacity = load64le(bytes + AT_CAPACITY);
    about->layers->target_rate = double_from_bits(load64le(bytes + AT_RATE));
    about->layers->items = load64le(bytes + AT_ITEMS);
    about->metadata_offset = promised;
    about->metadata_bytes = size_bytes - promised;
    if (bytes[AT_FLAGS] == PACKED) about->origin.format = PETAL_FORMAT_DCSO_GZIP;
    about->origin.size_bytes = 8;
    store64le(about->origin.near, (load64le(bytes + AT_FLAGS) & ~VERSION_MASK) | VERSION);
    return PETAL_OK;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

#ifdef PETAL_WITH_ZLIB

/* Reads the header of a compressed file. Unpacks only a few bytes, whatever size the header
 * claims. */
static petal_status unpack_header(const uint8_t *bytes, uint64_t size_bytes,
                                  const petal_allocator *allocator, uint8_t header[HEADER_BYTES],
                                  petal_error *error)
{
    uint64_t made = 0;
    petal_status status =
        petal_gunzip(bytes, size_bytes, false, allocator, header, HEADER_BYTES, &made, error);
    if (status != PETAL_OK) return status;
    if (made > 0 && header[AT_FLAGS] == PACKED)
        header[AT_FLAGS] = 0; /* a file compressed twice is rejected like an unknown version */
    return check_header(header, made, error);
}

/* Before the stream is read, checks that it can contain `promised` bytes, and that this many bytes
 * may be allocated. A stream may expand a thousandfold. */
static petal_status check_promise(uint64_t promised, uint64_t size_bytes,
                                  const petal_allocator *allocator, petal_error *error)
{
    if (promised / GZIP_MAX_EXPANSION > size_bytes)
        return petal_fail_at(
            error, PETAL_ERR_TRUNCATED, size_bytes,
            "truncated (header promises %llu bytes, more than %llu of gzip can hold); copy it again",
            (unsigned long long)promised, (unsigned long long)size_bytes);
    void *memory = petal_alloc(allocator, promised);
    petal_release(allocator, memory, promised);
    return memory ? PETAL_OK : petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
}

/* Reads the stream twice: first to find its size, then to unpack it. It allocates no more than the
 * size of the stream's contents, and no more than the size in the header plus the longest attached
 * data. So neither a false header nor a decompression bomb can make it allocate more. */
static petal_status unpack(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    uint8_t header[HEADER_BYTES];
    uint64_t real = 0;
    petal_status status = unpack_header(bytes, size_bytes, allocator, header, error);
    if (status == PETAL_OK)
        status = check_promise(promised_bytes(header), size_bytes, allocator, error);
    if (status != PETAL_OK) return status;
    status = petal_gunzip(bytes, size_bytes, true, allocator, NULL,
                          promised_bytes(header) + PETAL_METADATA_MAX_BYTES, &real, error);
    if (status != PETAL_OK) return status;
    uint8_t *made = petal_alloc(allocator, real);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    status = petal_gunzip(bytes, size_bytes, true, allocator, made, real, &real, error);
    if (status != PETAL_OK) {
        petal_release(allocator, made, real);
        return status;
    }
    made[AT_FLAGS] = PACKED;
    *decoded = made;
    *decoded_bytes = real;
    return PETAL_OK;
}

static petal_status decode_gzip(const uint8_t *bytes, uint64_t size_bytes,
                                const petal_allocator *allocator, uint8_t **decoded,
                                uint64_t *decoded_bytes, petal_error *error)
{
    if (petal_is_gzip(bytes, size_bytes))
        return unpack(bytes, size_bytes, allocator, decoded, decoded_bytes, error);
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                         "not packed with gzip; if it is a DCSO filter, its format is dcso");
}

#else
static petal_status unpack_header(const uint8_t *bytes, uint64_t size_bytes,
                                  const petal_allocator *allocator, uint8_t header[HEADER_BYTES],
                                  petal_error *error)
{
    (void)bytes, (void)size_bytes, (void)allocator, (void)header;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "packed with gzip, which is not in this build; unpack it with gzip -d first");
}

static petal_status unpack(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    (void)decoded, (void)decoded_bytes;
    return unpack_header(bytes, size_bytes, allocator, NULL, error);
}
#endif

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    if (petal_is_gzip(bytes, size_bytes))
        return unpack(bytes, size_bytes, allocator, decoded, decoded_bytes, error);
    if (size_bytes == 0 || bytes[AT_FLAGS] != PACKED) return PETAL_OK; /* already plain */
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "neither a DCSO filter nor gzip");
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* DCSO uses m = |ceil(n ln p / (ln 2)^2)|. This rounds a negative number up, so m itself is rounded
 * down. k = ceil(ln 2 * m / n). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    petal_status status = petal_size_bits(petal_model_optimal_bits((double)keys, rate),
                                          petal_scheme_dcso.max_bits, &shape->bits, error);
    if (status == PETAL_OK && shape->bits == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "DCSO cannot make a filter of 0 bits; use a lower rate or more keys");
    if (status == PETAL_OK) shape->hashes = petal_size_hashes(shape->bits, keys);
    return status;
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    if (options->capacity == 0 || !(options->rate > 0 && options->rate < 1))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a DCSO file records a capacity and a rate; give both");
    return petal_size_plan(self, options, about, error);
}

/* Reports a fit if DCSO's formulas yield these bits and hashes for these keys and this rate, which
 * hardly ever happens by chance. */
static enum fit fit_of_header(const uint8_t *header)
{
    struct shape shape = {PETAL_SCHEME_DCSO, 0, 0, 0};
    double rate = double_from_bits(load64le(header + AT_RATE));
    petal_status status = size(load64le(header + AT_CAPACITY), rate, &shape, NULL);
    bool same =
        shape.bits == load64le(header + AT_BITS) && shape.hashes == load64le(header + AT_HASHES);
    return status == PETAL_OK && same ? FIT_CERTAIN : FIT_POSSIBLE;
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    uint8_t header[HEADER_BYTES];
    struct description about = {0};
    if (petal_is_gzip(bytes, size_bytes))
        return unpack_header(bytes, size_bytes, NULL, header, NULL) == PETAL_OK
                   ? fit_of_header(header)
                   : FIT_NO;
    if (size_bytes == 0 || bytes[AT_FLAGS] != VERSION ||
        read(&petal_format_dcso, bytes, size_bytes, &about, NULL) != PETAL_OK)
        return FIT_NO;
    return fit_of_header(bytes);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The upper bytes of the flags have no meaning yet, but are preserved. */
static uint64_t flags_of(const petal_filter *filter)
{
    uint32_t format = filter->origin.format;
    bool known = format == petal_format_dcso.id || format == PETAL_FORMAT_DCSO_GZIP;
    return known ? (load64le(filter->origin.near) & ~VERSION_MASK) | VERSION : VERSION;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[HEADER_BYTES];
    const struct layer *layer = filter->layers;
    if (layer->capacity == 0 || !(layer->target_rate > 0))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "dcso holds a capacity and a rate, which the filter lacks; use petal");
    store64le(header + AT_FLAGS, flags_of(filter));
    store64le(header + AT_CAPACITY, layer->capacity);
    store64le(header + AT_RATE, bits_from_double(layer->target_rate));
    store64le(header + AT_HASHES, layer->array.shape.hashes);
    store64le(header + AT_BITS, layer->array.shape.bits);
    store64le(header + AT_ITEMS, petal_filter_items(filter));
    petal_status status = petal_put_both(sink, header, sizeof header, &layer->array, error);
    return status == PETAL_OK ? petal_put(sink, filter->metadata, filter->metadata_bytes, error)
                              : status;
}

const struct format_def petal_format_dcso = {
    .id = PETAL_FORMAT_DCSO,
    .name = "dcso",
    .scheme = PETAL_SCHEME_DCSO,
    .hash = PETAL_HASH_FNV1,
    .fits = fits,
    .decode = decode,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

#ifdef PETAL_WITH_ZLIB
static petal_status write_gzip(const struct format_def *self, const petal_filter *filter,
                               const struct sink *sink, petal_error *error)
{
    (void)self;
    return petal_gzip(&petal_format_dcso, filter, sink, error);
}

/* petal_recognize() reports a compressed file as dcso. */
const struct format_def petal_format_dcso_gzip = {
    .id = PETAL_FORMAT_DCSO_GZIP,
    .name = "dcso-gzip",
    .has_checksum = true,
    .scheme = PETAL_SCHEME_DCSO,
    .hash = PETAL_HASH_FNV1,
    .decode = decode_gzip,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .size = UNLESS_READ_ONLY(size),
    .write = write_gzip,
};
#endif

/* hadoop.c - reads and writes the files that Hadoop's
 * org.apache.hadoop.util.bloom.BloomFilter.write() produces. All numbers are big-endian.
 *
 *     0        4   8      9               13
 *     +--------+---+------+---------------+--------------------+
 *     | -1     | k | hash | vectorSize m  | ceil(m / 8) bytes  |
 *     +--------+---+------+---------------+--------------------+
 *
 * hash: 0 is Jenkins, 1 is Murmur. Files without a version start with k, and always use Jenkins:
 *
 *     | k | vectorSize m | ceil(m / 8) bytes |          4 bytes each
 *
 * Bit i is bit i % 8 of byte i / 8, lowest first. docs/formats/hadoop.md.
 *
 * Origin data: one byte, 1, if the file has the old form; otherwise none. */
#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#define VERSION (-1)
#define OLD_HEADER_BYTES 8u
#define HEADER_BYTES 13u

enum { JENKINS = 0, MURMUR = 1 };

/* The fields of both forms, before they are checked. */
struct header {
    bool old;
    uint32_t size_bytes;
    uint32_t hashes, hash_type, bits;
};

static petal_status read_header(const uint8_t *bytes, uint64_t size_bytes, struct header *header,
                                petal_error *error)
{
    int32_t first = size_bytes >= 4 ? (int32_t)load32be(bytes) : VERSION;
    if (first <= 0 && first != VERSION)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not a Hadoop filter (version %d; there is only -1)", first);
    *header = (struct header){.old = first > 0,
                              .size_bytes = first > 0 ? OLD_HEADER_BYTES : HEADER_BYTES};
    if (size_bytes < header->size_bytes)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %u bytes); copy it again",
                             header->size_bytes);
    header->hashes = header->old ? (uint32_t)first : load32be(bytes + 4);
    header->hash_type = header->old ? JENKINS : bytes[8];
    header->bits = load32be(bytes + header->size_bytes - 4);
    return PETAL_OK;
}

static petal_status check_header(const struct header *header, petal_error *error)
{
    if (header->hashes < 1 || header->hashes > petal_scheme_hadoop.max_hashes)
        return petal_format_damaged(error, header->old ? 0 : 4, "an impossible number of hashes");
    if (header->hash_type > MURMUR)
        return petal_format_damaged(error, 8, "a hash other than 0 and 1");
    if (header->bits < 1 || header->bits > petal_scheme_hadoop.max_bits)
        return petal_format_damaged(error, header->size_bytes - 4,
                                    "an impossible size of the vector");
    return PETAL_OK;
}

/* The files of Hadoop's other filters start with the same header, but are longer. */
static petal_status check_body(uint64_t promised_bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes <= promised_bytes)
        return petal_format_check_size(promised_bytes, size_bytes, error);
    return petal_fail_at(
        error, PETAL_ERR_DAMAGED, promised_bytes,
        "bytes after the end (header promises %llu, file has %llu): damaged, or one of Hadoop's "
        "counting, dynamic or retouched filters, which petal does not read",
        (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    struct header header;
    petal_status status = read_header(bytes, size_bytes, &header, error);
    if (status == PETAL_OK) status = check_header(&header, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, header.hashes, 0, header.bits};
    status = check_body(header.size_bytes + petal_shape_bytes(&shape), size_bytes, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, header.size_bytes);
    about->hash = header.hash_type == MURMUR ? PETAL_HASH_HADOOP_MURMUR : PETAL_HASH_HADOOP_JENKINS;
    about->origin.size_bytes = header.old;
    about->origin.near[0] = header.old;
    return petal_format_check_tail(about, bytes, error);
}

/* In Hadoop, the caller chooses k and m. Hadoop's own BloomMapFile uses k = 5 and m = ceil(-k n /
 * ln(1 - p^(1/k))). The hash is the default of hadoop.util.hash.type. */
#define BLOOM_MAP_FILE_HASHES 5

static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = keys ? (double)keys : 1, k = BLOOM_MAP_FILE_HASHES;
    double bits = petal_model_ceil(-k * n / petal_model_ln(1.0 - petal_model_pow(rate, 1.0 / k)));
    shape->hashes = BLOOM_MAP_FILE_HASHES;
    return petal_size_bits(bits, petal_scheme_hadoop.max_bits, &shape->bits, error);
}

static bool is_old(const petal_filter *filter)
{
    return filter->origin.format == petal_format_hadoop.id && filter->origin.near[0] == 1 &&
           filter->hash->id == PETAL_HASH_HADOOP_JENKINS;
}

/* Returns the header's size. */
static uint32_t write_header(const petal_filter *filter, uint8_t header[HEADER_BYTES])
{
    const struct shape *shape = &filter->layers->array.shape;
    uint32_t size = is_old(filter) ? OLD_HEADER_BYTES : HEADER_BYTES;
    if (size == HEADER_BYTES) {
        store32be(header, (uint32_t)VERSION);
        header[8] = filter->hash->id == PETAL_HASH_HADOOP_MURMUR ? MURMUR : JENKINS;
    }
    store32be(header + (size == HEADER_BYTES ? 4 : 0), shape->hashes);
    store32be(header + size - 4, (uint32_t)shape->bits);
    return size;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[HEADER_BYTES];
    uint32_t size = write_header(filter, header);
    return petal_put_both(sink, header, size, &filter->layers->array, error);
}

const struct format_def petal_format_hadoop = {
    .id = PETAL_FORMAT_HADOOP,
    .name = "hadoop",
    .scheme = PETAL_SCHEME_HADOOP,
    .hash = PETAL_HASH_HADOOP_MURMUR,
    .fit = FIT_POSSIBLE,
    .read = read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

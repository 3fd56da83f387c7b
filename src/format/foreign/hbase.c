/* hbase.c - reads and writes one chunk of an HBase Bloom filter: the 16 bytes that
 * BloomFilterChunk(DataInput) reads, followed by the bits that writeBloom() writes. All numbers are
 * big-endian.
 *
 *     0          4   8      12     16
 *     +----------+---+------+------+-----------------+
 *     | byteSize | k | hash | keys | byteSize bytes  |
 *     +----------+---+------+------+-----------------+
 *
 * hash: 0 is Jenkins, 1 is Murmur (2), 2 is Murmur3. Bit i is bit i % 8 of byte i / 8, lowest
 * first; m = 8 * byteSize. HBase itself stores the header and the bits in different places in an
 * HFile. docs/formats/hbase.md. */
#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#define HEADER_BYTES 16u

enum { AT_BYTES = 0, AT_HASHES = 4, AT_HASH = 8, AT_KEYS = 12 };

/* Petal's hash ids, indexed by HBase's numbers. */
static const uint32_t hash_types[] = {PETAL_HASH_HBASE_JENKINS, PETAL_HASH_HBASE_MURMUR2,
                                      PETAL_HASH_HBASE_MURMUR3};

#define HASH_TYPES (sizeof hash_types / sizeof *hash_types)

static petal_status check_header(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %u bytes); copy it again", HEADER_BYTES);
    uint32_t body_bytes = load32be(bytes + AT_BYTES), hashes = load32be(bytes + AT_HASHES);
    if (body_bytes < 1 || body_bytes > petal_scheme_hbase.max_bits / 8)
        return petal_format_damaged(error, AT_BYTES, "an impossible size");
    if (hashes < 1 || hashes > petal_scheme_hbase.max_hashes)
        return petal_format_damaged(error, AT_HASHES, "an impossible number of hashes");
    if (load32be(bytes + AT_HASH) >= HASH_TYPES)
        return petal_format_damaged(error, AT_HASH, "a hash other than 0, 1 and 2");
    if (load32be(bytes + AT_KEYS) > INT32_MAX)
        return petal_format_damaged(error, AT_KEYS, "a negative number of keys");
    return petal_format_check_size(HEADER_BYTES + (uint64_t)body_bytes, size_bytes, error);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    petal_status status = check_header(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, load32be(bytes + AT_HASHES), 0,
                          (uint64_t)load32be(bytes + AT_BYTES) * 8};
    petal_format_single(about, &shape, HEADER_BYTES);
    about->hash = hash_types[load32be(bytes + AT_HASH)];
    about->layers->items = load32be(bytes + AT_KEYS);
    return PETAL_OK;
}

/* BloomFilterChunk(maxKeys, errorRate, hashType, 0) chooses ceil(n * (-ln p / (ln 2 * ln 2))) bits,
 * rounded up to whole bytes; k = ceil(ln 2 * (bits / n)), where bits / n is an integer division of
 * the number before rounding. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    uint64_t bits, whole_bits_per_key;
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "HBase cannot make a chunk for 0 keys; use at least 1");
    double ln2 = petal_model_ln(2), exact = (double)keys * (-petal_model_ln(rate) / (ln2 * ln2));
    petal_status status =
        petal_size_bits(petal_model_ceil(exact), petal_scheme_hbase.max_bits, &bits, error);
    if (status != PETAL_OK) return status;
    whole_bits_per_key = bits / keys;
    shape->hashes = (uint32_t)petal_model_ceil(ln2 * (double)whole_bits_per_key);
    shape->bits = (bits + 7) / 8 * 8;
    if (shape->hashes > 0) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "HBase cannot go below one bit per key; use a lower rate");
}

static uint32_t hash_type_of(const petal_filter *filter)
{
    uint32_t type = 0;
    while (type < HASH_TYPES && hash_types[type] != filter->hash->id) type++;
    return type;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[HEADER_BYTES];
    const struct layer *layer = filter->layers;
    if (hash_type_of(filter) == HASH_TYPES)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "hbase has no hash %s", filter->hash->name);
    if (petal_filter_items(filter) > INT32_MAX)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "hbase counts to 2^31 - 1 keys, the filter has %llu; use petal",
                          (unsigned long long)petal_filter_items(filter));
    store32be(header + AT_BYTES, (uint32_t)layer->array.size_bytes);
    store32be(header + AT_HASHES, layer->array.shape.hashes);
    store32be(header + AT_HASH, hash_type_of(filter));
    store32be(header + AT_KEYS, (uint32_t)petal_filter_items(filter));
    return petal_put_both(sink, header, sizeof header, &layer->array, error);
}

/* The default of hbase.hash.type is "murmur". */
const struct format_def petal_format_hbase = {
    .id = PETAL_FORMAT_HBASE,
    .name = "hbase",
    .scheme = PETAL_SCHEME_HBASE,
    .hash = PETAL_HASH_HBASE_MURMUR2,
    .keys = "row, or row and column",
    .fit = FIT_POSSIBLE,
    .read = read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

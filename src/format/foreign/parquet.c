/* parquet.c - reads and writes one Apache Parquet Bloom filter: a header in Thrift's compact
 * protocol, followed by the blocks. parquet_file.c finds the filters inside a .parquet file.
 *
 *     15 <zigzag varint: bytes of the blocks>  1c 1c 00 00  1c 1c 00 00  1c 1c 00 00  00 | blocks
 *      numBytes                                algorithm    hash         compression
 *                                              BLOCK        XXHASH       UNCOMPRESSED
 *
 * A block consists of 32 bytes. Example: a one-block filter with "hello" added, which sets bits 20
 * 9 10 7 9 31 28 27 in the eight words:
 *
 *     15 40 1c1c0000 1c1c0000 1c1c0000 00 |
 *     00001000 00020000 00040000 80000000 00020000 00000080 00000010 00000008
 *
 * Thrift allows other encodings of the same header (long field ids, unknown fields), and the reader
 * accepts them. The origin keeps the header's bytes, so that they can be written back unchanged.
 * See docs/formats/parquet.md. */
#include "format/foreign/parquet.h"

#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "format/foreign/thrift.h"
#include "scheme/model.h"

#define BLOCK_BYTES 32u
#define HASHES 8u
/* A typical header has 15 to 20 bytes. Arrow's C++ reader has the same limit of 256 bytes, which
 * makes a hostile header cheap to refuse. */
#define MAX_HEADER_BYTES 256u
/* parquet-java, Arrow and arrow-rs create no larger filters. */
#define MAX_WRITTEN_BYTES ((uint64_t)128 << 20)

/* ---- the header ------------------------------------------------------------------------------ */

/* The state of reading a header. */
struct reading {
    uint64_t offset;
    int64_t bitset_bytes;
    uint32_t seen;       /* bit i is set if field i is present */
    petal_status status; /* the error for a field that is well-formed but unsupported */
    petal_error *error;
};

/* The header's unions, indexed by field id, each with its only supported member. */
static const struct {
    const char *what, *member;
} unions[] = {
    [2] = {"algorithm", "BLOCK"}, [3] = {"hash", "XXHASH"}, [4] = {"compression", "UNCOMPRESSED"}};

/* Reads the only member of a union, and stores the member's id in *context. */
static bool take_member(struct thrift *in, const struct thrift_field *field, void *context)
{
    int32_t *member = context;
    if (*member != 0 || field->id < 1) return false;
    *member = field->id;
    return petal_thrift_skip(in, field);
}

static bool take_union(struct thrift *in, const struct thrift_field *field, struct reading *reading)
{
    int32_t member = 0;
    uint64_t from = reading->offset + in->at;
    if (!petal_thrift_is(field, THRIFT_STRUCT) || !petal_thrift_struct(in, take_member, &member))
        return false;
    if (member == 1) return true;
    if (member == 0) return false;
    reading->status =
        petal_fail_at(reading->error, PETAL_ERR_UNSUPPORTED, from,
                      "its %s is number %d, made by a newer Parquet; only %s is known",
                      unions[field->id].what, member, unions[field->id].member);
    return false;
}

static bool take_size(struct thrift *in, const struct thrift_field *field, struct reading *reading)
{
    uint64_t from = reading->offset + in->at;
    if (!petal_thrift_integer(in, field, THRIFT_I32, &reading->bitset_bytes)) return false;
    if (reading->bitset_bytes > 0 && reading->bitset_bytes % BLOCK_BYTES == 0) return true;
    reading->status =
        petal_format_damaged(reading->error, from, "an impossible number of bytes; blocks have 32");
    return false;
}

static bool take_header_field(struct thrift *in, const struct thrift_field *field, void *context)
{
    struct reading *reading = context;
    if (field->id < 1 || field->id > 4) return petal_thrift_skip(in, field);
    if (reading->seen >> field->id & 1) return false;
    reading->seen |= 1u << field->id;
    return field->id == 1 ? take_size(in, field, reading) : take_union(in, field, reading);
}

#define ALL_FIELDS 0x1eu /* 1 to 4 */

petal_status petal_parquet_read_header(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                       struct parquet_header *header, petal_error *error)
{
    struct reading reading = {.offset = offset, .error = error};
    struct thrift in = {bytes, 0, size_bytes < MAX_HEADER_BYTES ? size_bytes : MAX_HEADER_BYTES,
                        false};
    if (petal_thrift_struct(&in, take_header_field, &reading) && reading.seen == ALL_FIELDS) {
        *header = (struct parquet_header){(uint32_t)in.at, (uint32_t)reading.bitset_bytes};
        return PETAL_OK;
    }
    if (reading.status != PETAL_OK) return reading.status;
    if (in.ended && in.end == size_bytes)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, offset + size_bytes,
                             "truncated (within the filter's header); copy it again");
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, offset + in.at,
                         "not a Parquet Bloom filter (no such header up to byte %llu)",
                         (unsigned long long)(offset + in.at));
}

/* ---- reading --------------------------------------------------------------------------------- */

#define USUAL_BYTES 20u /* at most */

/* Writes the header in the form that all known writers produce. Returns its size in bytes. */
static uint32_t usual_header(uint32_t bitset_bytes, uint8_t header[USUAL_BYTES])
{
    static const uint8_t rest[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
    uint32_t size = 0;
    header[size++] = 1 << 4 | THRIFT_I32;
    uint32_t left = bitset_bytes << 1; /* a positive number in zigzag encoding */
    for (; left >= 0x80; left >>= 7) header[size++] = (uint8_t)(left | 0x80);
    header[size++] = (uint8_t)left;
    memcpy(header + size, rest, sizeof rest);
    return size + (uint32_t)sizeof rest;
}

static bool is_usual(const uint8_t *bytes, const struct parquet_header *header)
{
    uint8_t usual[USUAL_BYTES];
    return usual_header(header->bitset_bytes, usual) == header->header_bytes &&
           memcmp(bytes, usual, header->header_bytes) == 0;
}

static petal_status read_region(const uint8_t *bytes, uint64_t size_bytes,
                                struct parquet_header *header, petal_error *error)
{
    if (size_bytes >= 4 && memcmp(bytes, "PAR1", 4) == 0)
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, 0,
            "a whole Parquet file; take one of the filters in it (petal_parquet_list() finds them)");
    petal_status status = petal_parquet_read_header(bytes, size_bytes, 0, header, error);
    if (status != PETAL_OK) return status;
    return petal_format_check_size((uint64_t)header->header_bytes + header->bitset_bytes,
                                   size_bytes, error);
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    struct parquet_header header;
    petal_status status = read_region(bytes, size_bytes, &header, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, HASHES, 0, (uint64_t)header.bitset_bytes * 8};
    petal_format_single(about, &shape, header.header_bytes);
    if (!is_usual(bytes, &header)) petal_format_keep(about, bytes, header.header_bytes);
    return PETAL_OK;
}

/* The usual header is easy to recognize, because 14 of its bytes are constant. */
static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct parquet_header header;
    if (read_region(bytes, size_bytes, &header, NULL) != PETAL_OK) return FIT_NO;
    return is_usual(bytes, &header) ? FIT_CERTAIN : FIT_POSSIBLE;
}

/* ---- making and writing ---------------------------------------------------------------------- */

/* Rounds up to a power of two, like arrow-rs and parquet-java. */
static uint64_t usual_size(uint64_t bytes)
{
    uint64_t size = BLOCK_BYTES;
    while (size < bytes && size < MAX_WRITTEN_BYTES) size *= 2;
    return size;
}

/* arrow-rs computes (usize)(-8 n / ln(1 - p^(1/8))) / 8, and rounds it up to a power of two from 32
 * bytes to 128 MiB. If the rate is so low that 1 - p^(1/8) rounds to 1, the result is negative, and
 * arrow-rs chooses the smallest size, far too small for the rate. In this case, Petal chooses the
 * largest size, like parquet-java. */
static uint64_t bytes_of_rate(uint64_t keys, double rate)
{
    double bits = petal_model_split_block_bits((double)keys, rate);
    if (keys > 0 && !(bits >= 0 && bits < (double)(8 * MAX_WRITTEN_BYTES)))
        return MAX_WRITTEN_BYTES;
    return keys > 0 ? usual_size((uint64_t)bits / 8) : BLOCK_BYTES;
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    struct request asked;
    struct shape shape = {self->scheme, HASHES, 0, 0};
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (asked.by_bits && asked.bits / 8 > MAX_WRITTEN_BYTES)
        return petal_fail(
            error, PETAL_ERR_LIMIT,
            "Parquet's writers limit filters to %llu bytes; use a higher rate or fewer keys",
            (unsigned long long)MAX_WRITTEN_BYTES);
    if (asked.by_bits) shape.hashes = asked.hashes;
    shape.bits = 8 * (asked.by_bits ? usual_size(asked.bits / 8 + (asked.bits % 8 != 0))
                                    : bytes_of_rate(asked.keys, asked.rate));
    return petal_size_layer(options, &shape, about, error);
}

/* Returns true if the filter still has the header of its original file, and that header describes
 * exactly these blocks. (The filter may come from a modified petal file.) */
static bool has_header(const petal_filter *filter)
{
    const struct origin *origin = &filter->origin;
    struct parquet_header header;
    return origin->format == petal_format_parquet.id && origin->size_bytes > 0 &&
           petal_parquet_read_header(origin_bytes(origin), origin->size_bytes, 0, &header, NULL) ==
               PETAL_OK &&
           header.header_bytes == origin->size_bytes &&
           header.bitset_bytes == filter->layers->array.size_bytes;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t usual[USUAL_BYTES];
    const struct bit_array *array = &filter->layers->array;
    petal_status status;
    if (has_header(filter))
        status = petal_put(sink, origin_bytes(&filter->origin), filter->origin.size_bytes, error);
    else
        status = petal_put(sink, usual, usual_header((uint32_t)array->size_bytes, usual), error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

const struct format_def petal_format_parquet = {
    .id = PETAL_FORMAT_PARQUET,
    .name = "parquet",
    .scheme = PETAL_SCHEME_PARQUET,
    .hash = PETAL_HASH_XXH64,
    .keys = "plain encoding of the column",
    .fits = fits,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .expect = petal_format_expect_hashed,
    .write = write,
};

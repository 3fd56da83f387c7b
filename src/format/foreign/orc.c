/* orc.c - reads and writes one Apache ORC Bloom filter: a protobuf message BloomFilter, as stored
 * in the BloomFilterIndex of an ORC file.
 *
 *     newer form, in stream BLOOM_FILTER_UTF8; field 3 (bytes) contains the bits:
 *         08 <varint: k>  1a <varint: bytes>  <bits>
 *     older form, in stream BLOOM_FILTER; field 2 (repeated fixed64) contains the bits:
 *         08 <varint: k>  11 <8 bytes>  11 <8 bytes> ...
 *
 * The bits are little-endian 64-bit words, so in both forms, bit i of the filter is bit i % 8 of
 * byte i / 8. The reader accepts only what protobuf's own writers produce: each field once, in
 * order, and varints of minimal length. The origin records the form:
 *
 *     origin.near: empty for the newer form, one byte 1 for the older
 *
 * The file doesn't record how the keys were hashed. ORC hashes strings, decimals and binaries as
 * bytes (format orc), and integers, dates, timestamps and doubles as longs (format orc-long). So
 * the user must know the column's type. Example: a filter created for 1 key at 1 %, with "hello"
 * added. k = 44, m = 64, and only bits 1 and 62 are set, because the step between positions is a
 * multiple of 64, and ORC complements negative positions:
 *
 *     08 2c 1a 08 02 00 00 00 00 00 00 40        08 2c 11 02 00 00 00 00 00 00 40 */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#define TAG_HASHES 0x08u /* field 1, varint */
#define TAG_WORD 0x11u   /* field 2, 8 bytes */
#define TAG_BITS 0x1au   /* field 3, length and bytes */
#define TAG_ENTRY 0x0au  /* field 1 of a BloomFilterIndex, length and bytes */
#define WORD_BYTES 8u
#define TAGGED_BYTES 9u

#define OLDER_FORM 1u

/* ---- the message ----------------------------------------------------------------------------- */

struct message {
    uint32_t hashes;
    bool older;
    uint64_t offset;     /* offset of the bits, or of the first word's tag */
    uint64_t size_bytes; /* of the bits */
};

static petal_status truncated(uint64_t size_bytes, petal_error *error)
{
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                         "truncated (within a field); copy it again");
}

/* Reads a varint of at most 32 bits and minimal length at *at, and advances *at. */
static petal_status take_varint(const uint8_t *bytes, uint64_t size_bytes, uint64_t *at,
                                uint32_t *value, petal_error *error)
{
    uint64_t from = *at, wide = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (*at == size_bytes) return truncated(size_bytes, error);
        uint8_t byte = bytes[(*at)++];
        wide |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80) continue;
        if ((byte == 0 && shift > 0) || wide > UINT32_MAX) break;
        *value = (uint32_t)wide;
        return PETAL_OK;
    }
    return petal_format_damaged(error, from, "an impossible number");
}

static petal_status check_bits(uint64_t bits_bytes, uint64_t offset, petal_error *error)
{
    if (bits_bytes > 0 && bits_bytes % WORD_BYTES == 0 &&
        bits_bytes <= petal_scheme_orc.max_bits / 8)
        return PETAL_OK;
    return petal_format_damaged(error, offset,
                                "an impossible number of bits; they are whole words of 64");
}

static petal_status take_newer(const uint8_t *bytes, uint64_t size_bytes, uint64_t at,
                               struct message *message, petal_error *error)
{
    uint64_t from = ++at;
    uint32_t length = 0;
    petal_status status = take_varint(bytes, size_bytes, &at, &length, error);
    if (status == PETAL_OK) status = check_bits(length, from, error);
    if (status == PETAL_OK) status = petal_format_check_size(at + length, size_bytes, error);
    message->offset = at;
    message->size_bytes = length;
    return status;
}

/* Each word has its own tag, so a message truncated after any word is a valid smaller filter. */
static petal_status take_older(const uint8_t *bytes, uint64_t size_bytes, uint64_t at,
                               struct message *message, petal_error *error)
{
    message->older = true;
    message->offset = at;
    message->size_bytes = (size_bytes - at) / TAGGED_BYTES * WORD_BYTES;
    for (uint64_t tag = at; tag < size_bytes; tag += TAGGED_BYTES)
        if (bytes[tag] != TAG_WORD) return petal_format_damaged(error, tag, "not a word of bits");
    if ((size_bytes - at) % TAGGED_BYTES != 0) return truncated(size_bytes, error);
    return check_bits(message->size_bytes, at, error);
}

/* Reports a more specific error if the bytes look like another kind of file. */
static petal_status check_kind(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes >= 3 && memcmp(bytes, "ORC", 3) == 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "a whole ORC file; take one BloomFilter message out of its index");
    if (size_bytes > 0 && bytes[0] == TAG_ENTRY)
        return petal_fail_at(
            error, PETAL_ERR_NOT_A_FILTER, 0,
            "a whole BloomFilterIndex; take one of its entries, without tag and length");
    if (size_bytes > 0 && bytes[0] != TAG_HASHES)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not ORC's BloomFilter message (begins with %02x, not 08)", bytes[0]);
    return size_bytes > 0 ? PETAL_OK : truncated(0, error);
}

static petal_status parse(const uint8_t *bytes, uint64_t size_bytes, struct message *message,
                          petal_error *error)
{
    uint64_t at = 1;
    *message = (struct message){0};
    petal_status status = check_kind(bytes, size_bytes, error);
    if (status == PETAL_OK) status = take_varint(bytes, size_bytes, &at, &message->hashes, error);
    if (status != PETAL_OK) return status;
    if (message->hashes < 1 || message->hashes > petal_scheme_orc.max_hashes)
        return petal_format_damaged(error, 1, "an impossible number of hashes");
    if (at == size_bytes) return truncated(size_bytes, error);
    if (bytes[at] == TAG_BITS) return take_newer(bytes, size_bytes, at, message, error);
    if (bytes[at] == TAG_WORD) return take_older(bytes, size_bytes, at, message, error);
    return petal_format_damaged(error, at, "no field that holds the bits");
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct message message;
    return parse(bytes, size_bytes, &message, NULL) == PETAL_OK ? FIT_POSSIBLE : FIT_NO;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The plain image: k and form, 4 bytes each, followed by the bits. The image is at most 6 bytes
 * larger than the message. */
#define PLAIN_HEADER_BYTES 8u

static void gather_bits(const uint8_t *bytes, const struct message *message, uint8_t *bits)
{
    if (message->older)
        for (uint64_t i = 0; i < message->size_bytes / WORD_BYTES; i++)
            memcpy(bits + i * WORD_BYTES, bytes + message->offset + i * TAGGED_BYTES + 1,
                   WORD_BYTES);
    else
        memcpy(bits, bytes + message->offset, (size_t)message->size_bytes);
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct message message;
    petal_status status = parse(bytes, size_bytes, &message, error);
    if (status != PETAL_OK) return status;
    *decoded_bytes = PLAIN_HEADER_BYTES + message.size_bytes;
    *decoded = petal_alloc(allocator, *decoded_bytes);
    if (!*decoded) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    store32le(*decoded, message.hashes);
    store32le(*decoded + 4, message.older ? OLDER_FORM : 0);
    gather_bits(bytes, &message, *decoded + PLAIN_HEADER_BYTES);
    return PETAL_OK;
}

/* Reads a plain image, which decode() has checked. */
static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    (void)error;
    struct shape shape = {self->scheme, load32le(bytes), 0, (size_bytes - PLAIN_HEADER_BYTES) * 8};
    petal_format_single(about, &shape, PLAIN_HEADER_BYTES);
    about->origin.near[0] = (uint8_t)load32le(bytes + 4);
    about->origin.size_bytes = about->origin.near[0] != 0;
    return PETAL_OK;
}

/* ---- making and writing ---------------------------------------------------------------------- */

/* ORC uses nb = (int)(-n ln p / (ln 2)^2) and m = nb + (64 - nb % 64), which adds 64 to a multiple
 * of 64; k = round(m / n * ln 2). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = keys ? (double)keys : 1;
    uint64_t bits;
    petal_status status = petal_size_bits(petal_model_optimal_bits(n, rate),
                                          petal_scheme_orc.max_bits - 1, &bits, error);
    if (status != PETAL_OK) return status;
    shape->bits = bits + (64 - bits % 64);
    uint64_t hashes = petal_model_round((double)shape->bits / n * PETAL_LN2);
    if (hashes > petal_scheme_orc.max_hashes)
        return petal_fail(error, PETAL_ERR_LIMIT, "more than %u hashes; use a higher rate",
                          petal_scheme_orc.max_hashes);
    shape->hashes = hashes ? (uint32_t)hashes : 1;
    return PETAL_OK;
}

static uint32_t put_varint(uint8_t *to, uint32_t value)
{
    uint32_t size = 0;
    for (; value >= 0x80; value >>= 7) to[size++] = (uint8_t)(value | 0x80);
    to[size++] = (uint8_t)value;
    return size;
}

static petal_status write_older(const struct bit_array *array, const struct sink *sink,
                                petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; status == PETAL_OK && i < array->size_bytes; i += WORD_BYTES) {
        uint8_t tagged[TAGGED_BYTES] = {TAG_WORD};
        memcpy(tagged + 1, array->bytes + i, WORD_BYTES);
        status = petal_put(sink, tagged, sizeof tagged, error);
    }
    return status;
}

static bool came_in_older_form(const petal_filter *filter)
{
    const struct origin *origin = &filter->origin;
    bool is_orc =
        origin->format == petal_format_orc.id || origin->format == petal_format_orc_long.id;
    return is_orc && origin->size_bytes == 1 && origin->near[0] == OLDER_FORM;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[12] = {TAG_HASHES};
    const struct bit_array *array = &filter->layers->array;
    bool older = came_in_older_form(filter);
    uint32_t size = 1 + put_varint(header + 1, array->shape.hashes);
    if (!older) {
        header[size++] = TAG_BITS;
        size += put_varint(header + size, (uint32_t)array->size_bytes);
    }
    petal_status status = petal_put(sink, header, size, error);
    if (status != PETAL_OK) return status;
    return older ? write_older(array, sink, error)
                 : petal_put(sink, array->bytes, array->size_bytes, error);
}

#define ROW(NAME, name_, keys_) \
    { \
        .id = PETAL_FORMAT_##NAME, .name = (name_), .keys = (keys_), .scheme = PETAL_SCHEME_ORC, \
        .hash = PETAL_HASH_##NAME, .fits = fits, .decode = decode, .read = read, \
        .size = UNLESS_READ_ONLY(size), .expect = petal_format_expect_hashed, .write = write \
    }

const struct format_def petal_format_orc = ROW(ORC, "orc", "bytes");
const struct format_def petal_format_orc_long = ROW(ORC_LONG, "orc-long", "i64 or i32");

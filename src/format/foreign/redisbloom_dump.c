/* redisbloom_dump.c - reads and writes a RedisBloom filter as Redis itself stores it: the payload
 * of DUMP and RESTORE, or the bare value that follows the key in an RDB file.
 *
 *     +---+-------------------------------------------------------+---+-------------+-----------+
 *     | 7 | 81 id (64, big-endian) | fields | fields of links ... | 0 | version LE16 | CRC LE64 |
 *     +---+-------------------------------------------------------+---+-------------+-----------+
 *         |<------------------- the bare value ------------------>----|
 *
 * The id contains the module type "MBbloom--" at 6 bits per character, and the encoding version, 0
 * to 4, in the low 10 bits. Each field starts with a byte that specifies its kind. Kind 2 is a
 * number, stored as an RDB length; kind 4 is a double, 8 bytes; kind 5 is an RDB string. Redis may
 * compress a string with LZF. A string that looks like a decimal number is stored as that number.
 * The fields are: size, links, options (since encoding 2), growth (since encoding 4). For each
 * link, they are: entries, error, hashes, bits per entry, bits and n2 (both since encoding 1), the
 * link's bits as a string, size.
 *
 * decode() converts the value to a struct redis_chain, followed by the bits of the links. It
 * allocates at most 88 times the size of the input, which is LZF's maximum expansion. See
 * docs/formats/redisbloom.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/crc64.h"
#include "base/error.h"
#include "base/lzf.h"
#include "base/memory.h"
#include "format/foreign/redis_chain.h"

#include <string.h>

#define TYPE_MODULE 7u
#define TYPE_NAME "MBbloom--"
#define FOOTER_BYTES 10u
#define MIN_RDB_VERSION 8u

enum { FIELD_END = 0, FIELD_NUMBER = 2, FIELD_DOUBLE = 4, FIELD_STRING = 5 };

/* The first byte of an RDB length. In LENGTH_6 and LENGTH_14, the low six bits of this byte are
 * part of the length. */
enum { LENGTH_6 = 0x00, LENGTH_14 = 0x40, LENGTH_32 = 0x80, LENGTH_64 = 0x81, ENCODED = 0xc0 };

enum text_form { TEXT_INT8 = 0, TEXT_INT16 = 1, TEXT_INT32 = 2, TEXT_LZF = 3, TEXT_PLAIN = 4 };

/* A string in its stored form. */
struct text {
    enum text_form form;
    const uint8_t *stored;
    uint64_t stored_bytes, size_bytes;
};

struct dump {
    struct redis_chain chain;
    struct text texts[PETAL_MAX_LAYERS];
};

/* ---- reading --------------------------------------------------------------------------------- */

/* After the first failure, nothing more is read, and all results are 0. */
struct reader {
    const uint8_t *bytes;
    uint64_t size_bytes, at;
    petal_status status;
    petal_error *error;
};

static void spoiled(struct reader *from, uint64_t at, const char *what)
{
    if (from->status == PETAL_OK) from->status = petal_format_damaged(from->error, at, what);
}

/* Returns the next bytes, or NULL after a failure. */
static const uint8_t *take(struct reader *from, uint64_t count)
{
    if (from->status != PETAL_OK) return NULL;
    if (count > from->size_bytes - from->at) {
        from->status = petal_fail_at(
            from->error, PETAL_ERR_TRUNCATED, from->size_bytes,
            "truncated (byte %llu promises %llu more, and there are %llu); copy it again",
            (unsigned long long)from->at, (unsigned long long)count,
            (unsigned long long)(from->size_bytes - from->at));
        return NULL;
    }
    from->at += count;
    return from->bytes + from->at - count;
}

static uint64_t take_big_endian(struct reader *from, unsigned count)
{
    const uint8_t *bytes = take(from, count);
    uint64_t number = 0;
    for (unsigned i = 0; bytes && i < count; i++) number = number << 8 | bytes[i];
    return number;
}

/* Reads an RDB length. If it sets *encoded to true, the result is a string encoding instead of a
 * length. */
static uint64_t take_length(struct reader *from, bool *encoded)
{
    uint64_t at = from->at, first = take_big_endian(from, 1);
    *encoded = (first & 0xc0) == ENCODED;
    if (*encoded || (first & 0xc0) == LENGTH_6) return first & 0x3f;
    if ((first & 0xc0) == LENGTH_14) return (first & 0x3f) << 8 | take_big_endian(from, 1);
    if (first == LENGTH_32) return take_big_endian(from, 4);
    if (first == LENGTH_64) return take_big_endian(from, 8);
    spoiled(from, at, "no such length");
    return 0;
}

static uint64_t take_plain_length(struct reader *from)
{
    bool encoded;
    uint64_t at = from->at, length = take_length(from, &encoded);
    if (encoded) spoiled(from, at, "a string in place of a number");
    return length;
}

static void take_kind(struct reader *from, uint64_t kind)
{
    uint64_t at = from->at;
    if (take_plain_length(from) != kind) spoiled(from, at, "a field of another kind");
}

static uint64_t take_number(struct reader *from)
{
    take_kind(from, FIELD_NUMBER);
    return take_plain_length(from);
}

static double take_double(struct reader *from)
{
    take_kind(from, FIELD_DOUBLE);
    const uint8_t *bytes = take(from, 8);
    return bytes ? double_from_bits(load64le(bytes)) : 0;
}

static int32_t integer_of(const struct text *text)
{
    uint32_t x = 0;
    for (uint64_t i = text->stored_bytes; i-- > 0;) x = x << 8 | text->stored[i];
    if (text->form == TEXT_INT8) return (int8_t)x;
    return text->form == TEXT_INT16 ? (int16_t)x : (int32_t)x;
}

/* Writes the decimal digits of a string that was stored as a number. Returns the length of the
 * string. */
static uint64_t digits_of(const struct text *text, char digits[16])
{
    return (uint64_t)petal_text(digits, 16, "%ld", (long)integer_of(text));
}

static void take_lzf(struct reader *from, struct text *text)
{
    uint64_t at = from->at;
    text->stored_bytes = take_plain_length(from);
    text->size_bytes = take_plain_length(from);
    text->stored = take(from, text->stored_bytes);
    if (text->size_bytes / PETAL_LZF_MAX_EXPANSION > text->stored_bytes)
        spoiled(from, at, "a compressed string of impossible length");
}

static void take_text(struct reader *from, struct text *text)
{
    bool encoded;
    char digits[16];
    take_kind(from, FIELD_STRING);
    uint64_t at = from->at, length = take_length(from, &encoded);
    if (encoded && length > TEXT_LZF) spoiled(from, at, "no such form of string");
    text->form = encoded ? (enum text_form)length : TEXT_PLAIN;
    if (text->form == TEXT_LZF) {
        take_lzf(from, text);
        return;
    }
    text->stored_bytes = text->size_bytes = encoded ? (uint64_t)1 << length : length;
    text->stored = take(from, text->stored_bytes);
    if (encoded && text->stored) text->size_bytes = digits_of(text, digits);
}

/* ---- the type of a module's value ------------------------------------------------------------ */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static uint64_t id_of(const char *name, uint32_t encver)
{
    uint64_t id = 0;
    for (; *name; name++) id = id << 6 | (uint64_t)(strchr(letters, *name) - letters);
    return id << 10 | encver;
}

static void name_of(uint64_t id, char name[10])
{
    for (int i = 8; i >= 0; i--) name[i] = letters[id >> (10 + 6 * (8 - i)) & 63];
    name[9] = '\0';
}

/* Reads the header of a payload or of a bare value. */
static void take_type(struct reader *from, struct redis_chain *chain)
{
    char name[10];
    const uint8_t *first = from->bytes;
    if (from->size_bytes >= 2 && first[0] == TYPE_MODULE && first[1] == LENGTH_64) {
        chain->rdb_version = MIN_RDB_VERSION; /* provisional: the footer contains the actual
                                               * version */
        from->at = 1;
    } else if (from->size_bytes > 0 && first[0] != LENGTH_64 &&
               !(from->size_bytes == 1 && first[0] == TYPE_MODULE)) {
        from->status = petal_fail_at(
            from->error, PETAL_ERR_NOT_A_FILTER, 0,
            "not a value of a Redis module, as DUMP gives it (that begins with 07 81)");
        return;
    }
    uint64_t id = take_plain_length(from);
    if (from->status != PETAL_OK) return;
    name_of(id, name);
    chain->encver = id & 1023u;
    if (strcmp(name, TYPE_NAME) != 0)
        from->status = petal_fail_at(
            from->error, PETAL_ERR_NOT_A_FILTER, from->at - 8,
            "a value of the Redis module type %s, not of %s, which is RedisBloom's BF", name,
            TYPE_NAME);
    else if (chain->encver > REDIS_ENCVER_NEWEST)
        from->status = petal_fail_at(
            from->error, PETAL_ERR_NEWER, from->at - 2,
            "written by a newer RedisBloom (encoding %u; this petal reads 0 to %u); update petal",
            chain->encver, REDIS_ENCVER_NEWEST);
}

/* ---- the value ------------------------------------------------------------------------------- */

static void take_head(struct reader *from, struct redis_chain *chain)
{
    chain->told_at = from->at;
    chain->size = take_number(from);
    chain->link_count = take_number(from);
    chain->options = chain->encver >= REDIS_ENCVER_OPTIONS ? take_number(from) : 0;
    chain->growth =
        chain->encver >= REDIS_ENCVER_GROWTH ? take_number(from) : petal_redis_new_chain.growth;
}

/* Computes a link's number of bits, which the first encoding version doesn't store. Returns
 * UINT64_MAX, which no string can have, if the number doesn't fit in 63 bits. */
static uint64_t implied_bits(const struct redis_link *link)
{
    double bits = (double)link->entries * link->bpe;
    return bits >= 0 && bits < 0x1p63 ? (uint64_t)bits : UINT64_MAX;
}

static void take_link(struct reader *from, struct redis_chain *chain, struct redis_link *link,
                      struct text *text)
{
    link->told_at = from->at;
    link->entries = take_number(from);
    link->error = take_double(from);
    link->hashes = take_number(from);
    link->bpe = take_double(from);
    link->bits = chain->encver >= REDIS_ENCVER_BITS ? take_number(from) : implied_bits(link);
    link->n2 = chain->encver >= REDIS_ENCVER_BITS ? take_number(from) : 0;
    take_text(from, text);
    link->size = take_number(from);
    link->bytes = text->size_bytes;
    if (text->form == TEXT_LZF) chain->compressed = true;
}

static void take_footer(struct reader *from, struct redis_chain *chain)
{
    struct crc64 crc;
    uint64_t at = from->at;
    const uint8_t *footer = take(from, FOOTER_BYTES);
    if (!footer) return;
    chain->rdb_version = footer[0] | (uint32_t)footer[1] << 8;
    if (chain->rdb_version < MIN_RDB_VERSION)
        spoiled(from, at, "a version of RDB that has no such values");
    crc64_begin(&crc);
    crc64_add(&crc, from->bytes, at + 2);
    if (load64le(footer + 2) != crc.value) spoiled(from, at + 2, "checksum");
}

static petal_status parse(const uint8_t *bytes, uint64_t size_bytes, struct dump *dump,
                          petal_error *error)
{
    struct reader from = {bytes, size_bytes, 0, PETAL_OK, error};
    struct redis_chain *chain = &dump->chain;
    *dump = (struct dump){.chain = {.link_count = 0}};
    take_type(&from, chain);
    if (from.status == PETAL_OK) take_head(&from, chain);
    if (from.status == PETAL_OK) from.status = petal_redis_check_head(chain, error);
    for (uint32_t i = 0; from.status == PETAL_OK && i < chain->link_count; i++)
        take_link(&from, chain, &chain->links[i], &dump->texts[i]);
    take_kind(&from, FIELD_END);
    if (chain->rdb_version) take_footer(&from, chain);
    if (from.at != size_bytes) spoiled(&from, from.at, "bytes after the end");
    return from.status;
}

/* Compares only the module type, so that damaged values are recognized too. */
static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct reader from = {bytes, size_bytes, 0, PETAL_OK, NULL};
    struct redis_chain chain = {.link_count = 0};
    take_type(&from, &chain);
    return from.status == PETAL_OK || from.status == PETAL_ERR_NEWER ? FIT_CERTAIN : FIT_NO;
}

/* ---- the plain image: the chain, then the bits of its links ---------------------------------- */

static bool expand(const struct text *text, uint8_t *to)
{
    char digits[16];
    if (text->form == TEXT_LZF)
        return petal_lzf_expand(text->stored, text->stored_bytes, to, text->size_bytes);
    if (text->form == TEXT_PLAIN)
        memcpy(to, text->stored, (size_t)text->size_bytes);
    else
        memcpy(to, digits, (size_t)digits_of(text, digits));
    return true;
}

static petal_status lay_out(struct dump *dump, uint64_t *image_bytes, petal_error *error)
{
    *image_bytes = sizeof dump->chain;
    for (uint32_t i = 0; i < dump->chain.link_count; i++) {
        dump->chain.links[i].bytes_at = *image_bytes;
        if (!checked_add(*image_bytes, dump->texts[i].size_bytes, image_bytes))
            return petal_fail(error, PETAL_ERR_LIMIT, "more bytes than memory has");
    }
    return PETAL_OK;
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    struct dump dump;
    petal_status status = parse(bytes, size_bytes, &dump, error);
    if (status == PETAL_OK) status = lay_out(&dump, decoded_bytes, error);
    if (status != PETAL_OK) return status;
    uint8_t *image = petal_alloc(allocator, *decoded_bytes);
    if (!image) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    memcpy(image, &dump.chain, sizeof dump.chain);
    for (uint32_t i = 0; i < dump.chain.link_count; i++) {
        if (expand(&dump.texts[i], image + dump.chain.links[i].bytes_at)) continue;
        petal_release(allocator, image, *decoded_bytes);
        return petal_format_damaged(error, (uint64_t)(dump.texts[i].stored - bytes),
                                    "a compressed string");
    }
    *decoded = image;
    return PETAL_OK;
}

static petal_status read(const struct format_def *self, const uint8_t *image, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    struct redis_chain chain;
    (void)self;
    (void)size_bytes; /* decode() created the image, so its size is right */
    memcpy(&chain, image, sizeof chain);
    return petal_redis_describe(&chain, image, about, error);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* After the first failure, nothing more is written. */
struct writer {
    const struct sink *sink;
    const petal_allocator *allocator;
    struct crc64 crc;
    petal_status status;
    petal_error *error;
};

static void put(struct writer *to, const void *bytes, uint64_t size_bytes)
{
    if (to->status != PETAL_OK) return;
    if (!to->sink->only_counts) crc64_add(&to->crc, bytes, size_bytes);
    to->status = petal_put(to->sink, bytes, size_bytes, to->error);
}

static petal_status put_through(void *context, const void *bytes, uint64_t size_bytes,
                                petal_error *error)
{
    struct writer *to = context;
    (void)error; /* the writer records any failure */
    put(to, bytes, size_bytes);
    return to->status;
}

static void put_byte(struct writer *to, unsigned byte)
{
    uint8_t bytes[1] = {(uint8_t)byte};
    put(to, bytes, 1);
}

static void put_length(struct writer *to, uint64_t length)
{
    uint8_t bytes[9];
    store64le(bytes + 1, swap64(length));
    if (length < 1u << 6) {
        put_byte(to, (unsigned)length);
    } else if (length < 1u << 14) {
        bytes[7] |= LENGTH_14;
        put(to, bytes + 7, 2);
    } else {
        bool is_long = length > UINT32_MAX;
        put_byte(to, is_long ? LENGTH_64 : LENGTH_32);
        put(to, is_long ? bytes + 1 : bytes + 5, is_long ? 8 : 4);
    }
}

static void put_number(struct writer *to, uint64_t number)
{
    put_length(to, FIELD_NUMBER);
    put_length(to, number);
}

static void put_double(struct writer *to, double number)
{
    uint8_t bytes[8];
    store64le(bytes, bits_from_double(number));
    put_length(to, FIELD_DOUBLE);
    put(to, bytes, sizeof bytes);
}

/* Redis compresses strings of more than 20 bytes if that saves at least 4 bytes. Returns true if
 * the string was compressed. */
#define MIN_COMPRESSED 21u

static bool put_compressed(struct writer *to, const uint8_t *bytes, uint32_t size_bytes)
{
    uint64_t room = size_bytes - 4u, slots_bytes = PETAL_LZF_SLOTS * sizeof(uint32_t),
             packed_bytes = 0;
    uint32_t *slots = petal_alloc(to->allocator, slots_bytes);
    uint8_t *packed = petal_alloc(to->allocator, room);
    if (slots && packed)
        packed_bytes = petal_lzf_compress(bytes, size_bytes, packed, room, slots);
    else
        to->status = petal_fail(to->error, PETAL_ERR_MEMORY, "out of memory");
    if (packed_bytes) {
        put_byte(to, ENCODED | TEXT_LZF);
        put_length(to, packed_bytes);
        put_length(to, size_bytes);
        put(to, packed, packed_bytes);
    }
    petal_release(to->allocator, packed, room);
    petal_release(to->allocator, slots, slots_bytes);
    return packed_bytes != 0;
}

static void put_text(struct writer *to, const struct layer *layer, const struct redis_link *link,
                     bool compressed)
{
    struct sink through = {put_through, to, false};
    put_length(to, FIELD_STRING);
    if (to->status != PETAL_OK) return;
    if (compressed && link->bytes >= MIN_COMPRESSED && link->bytes <= UINT32_MAX &&
        put_compressed(to, layer->array.bytes,
                       (uint32_t)link->bytes)) /* the size of a layer this large is a multiple of 8
                                                * bytes */
        return;
    put_length(to, link->bytes);
    if (to->status == PETAL_OK) petal_redis_put_bits(layer, link, &through, to->error);
}

static void put_head(struct writer *to, const struct redis_chain *chain)
{
    if (chain->rdb_version) put_byte(to, TYPE_MODULE);
    put_length(to, id_of(TYPE_NAME, chain->encver));
    put_number(to, chain->size);
    put_number(to, chain->link_count);
    if (chain->encver >= REDIS_ENCVER_OPTIONS) put_number(to, chain->options);
    if (chain->encver >= REDIS_ENCVER_GROWTH) put_number(to, chain->growth);
}

static void put_link(struct writer *to, const struct layer *layer, const struct redis_link *link,
                     const struct redis_chain *chain)
{
    put_number(to, link->entries);
    put_double(to, link->error);
    put_number(to, link->hashes);
    put_double(to, link->bpe);
    if (chain->encver >= REDIS_ENCVER_BITS) {
        put_number(to, link->bits);
        put_number(to, link->n2);
    }
    put_text(to, layer, link, chain->compressed);
    put_number(to, link->size);
}

static void put_footer(struct writer *to, const struct redis_chain *chain)
{
    uint8_t sum[8];
    put_byte(to, chain->rdb_version & 255);
    put_byte(to, chain->rdb_version >> 8);
    store64le(sum, to->crc.value);
    put(to, sum, sizeof sum);
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    struct redis_chain chain;
    struct writer to = {.sink = sink, .allocator = &filter->allocator, .error = error};
    to.status = petal_redis_chain_of(filter, self, &chain, error);
    if (to.status != PETAL_OK) return to.status;
    crc64_begin(&to.crc);
    put_head(&to, &chain);
    for (uint32_t i = 0; i < chain.link_count; i++)
        put_link(&to, &filter->layers[i], &chain.links[i], &chain);
    put_length(&to, FIELD_END);
    if (chain.rdb_version) put_footer(&to, &chain);
    return to.status;
}

const struct format_def petal_format_redisbloom_dump = {
    .id = PETAL_FORMAT_REDISBLOOM_DUMP,
    .name = "redisbloom-dump",
    .has_checksum = true,
    .scheme = PETAL_SCHEME_REDISBLOOM,
    .hash = PETAL_HASH_MURMUR64A,
    .fits = fits,
    .decode = decode,
    .read = read,
    .plan = UNLESS_READ_ONLY(petal_redis_plan),
    .expect = petal_format_expect,
    .write = write,
    .grows = petal_redis_grows,
    .grow = petal_redis_grow,
    .is_fixed = petal_redis_is_fixed,
};

/* redisbloom.c - reads and writes the concatenated output of BF.SCANDUMP for a RedisBloom filter: a
 * header, followed by the bits of all links. All numbers are little-endian and unaligned.
 *
 *     0        8        12        16       20
 *     +--------+--------+---------+--------+----------------+----------------+----------------+---
 *     | size   | links  | options | growth | links * 53     | bits of link 0 | bits of link 1 | ...
 *     +--------+--------+---------+--------+----------------+----------------+----------------+---
 *
 *     link: bytes 8, bits 8, size 8, error f64, bits per entry f64, hashes 4, entries 8, n2 1
 *
 * The file has no magic number. redis_chain.c checks the fields. See docs/formats/redisbloom.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/foreign/redis_chain.h"

enum { AT_SIZE = 0, AT_LINKS = 8, AT_OPTIONS = 12, AT_GROWTH = 16, HEAD_BYTES = 20 };

enum {
    LINK_BYTES = 0,
    LINK_BITS = 8,
    LINK_SIZE = 16,
    LINK_ERROR = 24,
    LINK_BPE = 32,
    LINK_HASHES = 40,
    LINK_ENTRIES = 44,
    LINK_N2 = 52,
    LINK_HEADER_BYTES = 53
};

#define MAX_HEADER_BYTES (HEAD_BYTES + PETAL_MAX_LAYERS * LINK_HEADER_BYTES)

static void read_link(const uint8_t *entry, struct redis_link *link)
{
    link->bytes = load64le(entry + LINK_BYTES);
    link->bits = load64le(entry + LINK_BITS);
    link->size = load64le(entry + LINK_SIZE);
    link->error = double_from_bits(load64le(entry + LINK_ERROR));
    link->bpe = double_from_bits(load64le(entry + LINK_BPE));
    link->hashes = load32le(entry + LINK_HASHES);
    link->entries = load64le(entry + LINK_ENTRIES);
    link->n2 = entry[LINK_N2];
}

/* Reads all links, and computes the offset of each link's bits in the file. Returns the end offset
 * of the last link's bits, or UINT64_MAX if it overflows. */
static uint64_t read_links(const uint8_t *bytes, struct redis_chain *chain)
{
    uint64_t end = HEAD_BYTES + chain->link_count * LINK_HEADER_BYTES;
    for (uint32_t i = 0; i < chain->link_count; i++) {
        struct redis_link *link = &chain->links[i];
        link->told_at = HEAD_BYTES + (uint64_t)i * LINK_HEADER_BYTES;
        read_link(bytes + link->told_at, link);
        link->bytes_at = end;
        if (!checked_add(end, link->bytes, &end)) return UINT64_MAX;
    }
    return end;
}

/* Reads everything except the bits. Sets *end to the offset at which the last link's bits must end.
 * If the header is truncated, sets *end to the minimum size of the header. */
static petal_status read_chain(const uint8_t *bytes, uint64_t size_bytes, struct redis_chain *chain,
                               uint64_t *end, petal_error *error)
{
    *end = HEAD_BYTES + LINK_HEADER_BYTES;
    if (size_bytes < HEAD_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has at least 73 bytes); copy it again");
    chain->size = load64le(bytes + AT_SIZE);
    chain->link_count = load32le(bytes + AT_LINKS);
    chain->options = load32le(bytes + AT_OPTIONS);
    chain->growth = load32le(bytes + AT_GROWTH);
    petal_status status = petal_redis_check_head(chain, error);
    if (status != PETAL_OK) return status;
    *end = HEAD_BYTES + chain->link_count * LINK_HEADER_BYTES;
    if (size_bytes < *end)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (within the header of %llu layers); copy it again",
                             (unsigned long long)chain->link_count);
    *end = read_links(bytes, chain);
    return PETAL_OK;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    (void)self;
    struct redis_chain chain = petal_redis_new_chain;
    uint64_t end;
    petal_status status = read_chain(bytes, size_bytes, &chain, &end, error);
    if (status == PETAL_OK) status = petal_format_check_size(end, size_bytes, error);
    return status == PETAL_OK ? petal_redis_describe(&chain, bytes, about, error) : status;
}

static petal_status read_header(const struct format_def *self, const uint8_t *bytes,
                                uint64_t size_bytes, struct description *about, petal_error *error)
{
    (void)self;
    struct redis_chain chain = petal_redis_new_chain;
    uint64_t end;
    petal_status status = read_chain(bytes, size_bytes, &chain, &end, error);
    if (status == PETAL_ERR_TRUNCATED) return petal_format_header_short(error, end, size_bytes);
    return status == PETAL_OK ? petal_redis_describe(&chain, NULL, about, error) : status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_link(const struct redis_link *link, uint8_t *entry)
{
    store64le(entry + LINK_BYTES, link->bytes);
    store64le(entry + LINK_BITS, link->bits);
    store64le(entry + LINK_SIZE, link->size);
    store64le(entry + LINK_ERROR, bits_from_double(link->error));
    store64le(entry + LINK_BPE, bits_from_double(link->bpe));
    store32le(entry + LINK_HASHES, (uint32_t)link->hashes);
    store64le(entry + LINK_ENTRIES, link->entries);
    entry[LINK_N2] = (uint8_t)link->n2;
}

static petal_status put_header(const struct redis_chain *chain, const struct sink *sink,
                               petal_error *error)
{
    uint8_t header[MAX_HEADER_BYTES];
    store64le(header + AT_SIZE, chain->size);
    store32le(header + AT_LINKS, (uint32_t)chain->link_count);
    store32le(header + AT_OPTIONS, (uint32_t)chain->options);
    store32le(header + AT_GROWTH, (uint32_t)chain->growth);
    for (uint32_t i = 0; i < chain->link_count; i++)
        write_link(&chain->links[i], header + HEAD_BYTES + (size_t)i * LINK_HEADER_BYTES);
    return petal_put(sink, header, HEAD_BYTES + chain->link_count * LINK_HEADER_BYTES, error);
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    struct redis_chain chain;
    petal_status status = petal_redis_chain_of(filter, self, &chain, error);
    if (status == PETAL_OK) status = put_header(&chain, sink, error);
    for (uint32_t i = 0; status == PETAL_OK && i < chain.link_count; i++)
        status = petal_redis_put_bits(&filter->layers[i], &chain.links[i], sink, error);
    return status;
}

const struct format_def petal_format_redisbloom = {
    .id = PETAL_FORMAT_REDISBLOOM,
    .name = "redisbloom",
    .scheme = PETAL_SCHEME_REDISBLOOM,
    .hash = PETAL_HASH_MURMUR64A,
    .fit = FIT_POSSIBLE,
    .read = read,
    .read_header = read_header,
    .plan = UNLESS_READ_ONLY(petal_redis_plan),
    .expect = petal_format_expect,
    .write = write,
    .grows = petal_redis_grows,
    .grow = petal_redis_grow,
    .is_fixed = petal_redis_is_fixed,
};

/* redis_chain.h - a RedisBloom filter is a chain of links. Both of its forms, BF.SCANDUMP
 * (redisbloom.c) and DUMP (redisbloom_dump.c), are read into a struct redis_chain. Its fields
 * contain the unchecked values from the file, and petal_redis_describe() checks them. */
#ifndef PETAL_FORMAT_REDIS_CHAIN_H
#define PETAL_FORMAT_REDIS_CHAIN_H

#include "format/format.h"

/* Encoding versions of RedisBloom's values: the newest, and the first ones that store the growth,
 * the options and the number of bits. */
enum {
    REDIS_ENCVER_NEWEST = 4,
    REDIS_ENCVER_GROWTH = 4,
    REDIS_ENCVER_OPTIONS = 2,
    REDIS_ENCVER_BITS = 1
};

struct redis_link {
    uint64_t entries, size; /* number of keys that the link is sized for, and number of keys
                             * added */
    double error, bpe;      /* the error rate, and the bits per entry computed from the rate */
    uint64_t hashes;
    uint64_t bits, bytes, n2; /* positions are modulo 2^n2 if n2 > 0, and modulo `bits` otherwise */
    uint64_t told_at;         /* file offset of the link's fields, for error messages */
    uint64_t bytes_at;        /* offset of the link's bits in the image */
};

struct redis_chain {
    uint64_t size, link_count, options, growth;
    uint64_t told_at; /* file offset of these fields, for error messages */
    /* Only a DUMP contains the following fields. */
    uint32_t encver;
    uint32_t rdb_version; /* 0 for a bare value, which has no type byte and no footer */
    bool compressed;      /* true if strings are compressed with LZF when that makes them shorter */
    struct redis_link links[PETAL_MAX_LAYERS];
};

/* An empty chain with the options that current RedisBloom commands set. The caller adds the
 * links. */
extern const struct redis_chain petal_redis_new_chain;

/* Checks the fields that precede the links. On success there are at most PETAL_MAX_LAYERS links. */
petal_status petal_redis_check_head(const struct redis_chain *chain, petal_error *error);

/* Checks every field of a chain, and converts it to a description. If `image` is not NULL, it
 * contains the links' bits. */
petal_status petal_redis_describe(const struct redis_chain *chain, const uint8_t *image,
                                  struct description *about, petal_error *error);

/* Converts a filter to a chain that can be written in `format`. Returns PETAL_ERR_UNSUPPORTED if
 * RedisBloom can't represent the filter. */
petal_status petal_redis_chain_of(const petal_filter *filter, const struct format_def *format,
                                  struct redis_chain *chain, petal_error *error);

/* Writes a link's bits: the bytes of the layer, padded with zeros to link->bytes. */
petal_status petal_redis_put_bits(const struct layer *layer, const struct redis_link *link,
                                  const struct sink *sink, petal_error *error);

/* Both formats use these functions as plan, grows, is_fixed and grow. */
petal_status petal_redis_plan(const struct format_def *self, const petal_options *options,
                              struct description *about, petal_error *error);
bool petal_redis_grows(const petal_filter *filter);
bool petal_redis_is_fixed(const petal_filter *filter);
petal_status petal_redis_grow(petal_filter *filter, petal_error *error);

#endif

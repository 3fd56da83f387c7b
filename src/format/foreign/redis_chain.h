/* redis_chain.h - a RedisBloom filter is a chain of links. Both of its forms, BF.SCANDUMP
 * (redisbloom.c) and DUMP (redisbloom_dump.c), are read into this chain. The fields have the values
 * from the file. petal_redis_describe() checks them. */
#ifndef PETAL_FORMAT_REDIS_CHAIN_H
#define PETAL_FORMAT_REDIS_CHAIN_H

#include "format/format.h"

/* The newest encoding of the module's values, and the first encodings that store growth, options
 * and sizes. */
enum {
    REDIS_ENCVER_NEWEST = 4,
    REDIS_ENCVER_GROWTH = 4,
    REDIS_ENCVER_OPTIONS = 2,
    REDIS_ENCVER_BITS = 1
};

struct redis_link {
    uint64_t entries, size; /* keys that the link is planned for, and keys added */
    double error, bpe;      /* the rate, and the bits per entry that follow from it */
    uint64_t hashes;
    uint64_t bits, bytes, n2; /* if n2 > 0, positions are modulo 2^n2, otherwise modulo bits */
    uint64_t told_at;         /* offset of the link's fields, for messages */
    uint64_t bytes_at;        /* offset of its bits in the image */
};

struct redis_chain {
    uint64_t size, link_count, options, growth;
    uint64_t told_at; /* offset of these fields, for messages */
    /* These are only in a DUMP. */
    uint32_t encver;
    uint32_t rdb_version; /* 0 for a bare value, without type and footer */
    bool compressed;      /* compress strings with LZF if that makes them shorter */
    struct redis_link links[PETAL_MAX_LAYERS];
};

/* An empty chain with the options of the current commands. Links are then added to it. */
extern const struct redis_chain petal_redis_new_chain;

/* Checks the fields before the links. On success there are at most PETAL_MAX_LAYERS links. */
petal_status petal_redis_check_head(const struct redis_chain *chain, petal_error *error);

/* Checks every field of a chain, and converts it to a description. `image` has the bits of the
 * links, unless it is NULL. */
petal_status petal_redis_describe(const struct redis_chain *chain, const uint8_t *image,
                                  struct description *about, petal_error *error);

/* Converts a filter to a chain, in order to write it in `format`. Returns PETAL_ERR_UNSUPPORTED if
 * RedisBloom has no such filter. */
petal_status petal_redis_chain_of(const petal_filter *filter, const struct format_def *format,
                                  struct redis_chain *chain, petal_error *error);

/* Writes the bytes of a link: its layer's, padded with zeros to link->bytes. */
petal_status petal_redis_put_bits(const struct layer *layer, const struct redis_link *link,
                                  const struct sink *sink, petal_error *error);

/* The functions plan, grows and grow of both formats. */
petal_status petal_redis_plan(const struct format_def *self, const petal_options *options,
                              struct description *about, petal_error *error);
bool petal_redis_grows(const petal_filter *filter);
bool petal_redis_is_fixed(const petal_filter *filter);
petal_status petal_redis_grow(petal_filter *filter, petal_error *error);

#endif

/* redis_chain.h - a RedisBloom filter, a chain of links, as both of its forms tell it: BF.SCANDUMP
 * (redisbloom.c) and DUMP (redisbloom_dump.c). Fields are as those forms have them, unchecked,
 * until petal_redis_describe() has been through. */
#ifndef PETAL_FORMAT_REDIS_CHAIN_H
#define PETAL_FORMAT_REDIS_CHAIN_H

#include "format/format.h"

/* Newest encoding of the module's values, and the first with a growth of its own, with options,
 * with sizes. */
enum {
    REDIS_ENCVER_NEWEST = 4,
    REDIS_ENCVER_GROWTH = 4,
    REDIS_ENCVER_OPTIONS = 2,
    REDIS_ENCVER_BITS = 1
};

struct redis_link {
    uint64_t entries, size; /* keys it is made for, and has */
    double error, bpe;      /* its rate, and bits per entry that follow from it */
    uint64_t hashes;
    uint64_t bits, bytes, n2; /* n2 > 0: positions are mod 2^n2, otherwise mod bits */
    uint64_t told_at;         /* the byte where the link's fields begin, for messages */
    uint64_t bytes_at;        /* where its bits stand in the image */
};

struct redis_chain {
    uint64_t size, link_count, options, growth;
    uint64_t told_at; /* the byte where these fields begin */
    /* Of DUMP only. */
    uint32_t encver;
    uint32_t rdb_version; /* 0: the bare value, without type and footer */
    bool compressed;      /* strings are LZF if that is shorter */
    struct redis_link links[PETAL_MAX_LAYERS];
};

/* A chain without links as the commands of today make it: to begin from. */
extern const struct redis_chain petal_redis_new_chain;

/* The fields before the links, whose number is then at most PETAL_MAX_LAYERS. */
petal_status petal_redis_check_head(const struct redis_chain *chain, petal_error *error);

/* Chain -> description, every field checked; `image` has the links' bits, unless it is NULL. */
petal_status petal_redis_describe(const struct redis_chain *chain, const uint8_t *image,
                                  struct description *about, petal_error *error);

/* Filter -> chain, for writing in `format`. PETAL_ERR_UNSUPPORTED if RedisBloom has no such
 * filter. */
petal_status petal_redis_chain_of(const petal_filter *filter, const struct format_def *format,
                                  struct redis_chain *chain, petal_error *error);

/* The bytes of a link: its layer's, and zeros up to link->bytes. */
petal_status petal_redis_put_bits(const struct layer *layer, const struct redis_link *link,
                                  const struct sink *sink, petal_error *error);

/* plan, grows and grow of both formats. */
petal_status petal_redis_plan(const struct format_def *self, const petal_options *options,
                              struct description *about, petal_error *error);
bool petal_redis_grows(const petal_filter *filter);
bool petal_redis_is_fixed(const petal_filter *filter);
petal_status petal_redis_grow(petal_filter *filter, petal_error *error);

#endif

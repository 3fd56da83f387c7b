/* value.h - what a key of the server holds: a filter, whose memory is the server's.
 *
 * Three types of values have the same form. Classic ones are RedisBloom's (type MBbloom--) and
 * valkey-bloom's (bloomfltr; see valkey.h), both with the commands BF.*; the others are Petal's own
 * kinds (commands PETAL.*). */
#ifndef PETAL_REDIS_VALUE_H
#define PETAL_REDIS_VALUE_H

#include "handle.h"

/* RedisBloom's options of a filter. */
enum {
    BLOOM_NO_ROUND = 1,  /* as big as needed; without it, 2^n2 bits: old filters */
    BLOOM_BY_BITS = 2,   /* asked for by bits; no command does that */
    BLOOM_FORCE64 = 4,   /* MurmurHash64A; without it, MurmurHash2: old filters */
    BLOOM_NO_SCALING = 8 /* one layer, and then it is full */
};

/* What RedisBloom itself makes ends where the error rate, halved for each layer, becomes 0: before
 * layer 1,100, and with as many hashes. */
#define BLOOM_MAX_LAYERS 8192u
#define BLOOM_MAX_HASHES 1088
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u

/* What a header says of a layer, beside what the library must know. */
struct layer_note {
    double bits_per_entry;
    uint8_t n2;      /* not 0: it was made for 2^n2 bits; old filters */
    uint8_t padding; /* bytes that are stored after the bits; old filters */
};

/* How a filter takes items; all of BF.* grow, or say themselves when they are full. */
enum value_kind {
    KIND_UNKNOWN, /* nobody has asked yet */
    KIND_GROWING,
    KIND_FIXED,    /* one size, and items that are new are counted */
    KIND_COUNTING, /* one size, and each adding is counted, until it is removed */
    KIND_WINDOW,
    KIND_WINDOW_OF_TIME
};

enum { CLASSIC_REDISBLOOM = 1, CLASSIC_VALKEY = 2 };

struct value {
    union {
        struct handle *handle; /* of Petal's own kinds */
        /* Classic: `layer_count` of them, and in the same block as many notes. */
        petal_lent_layer *layers;
    };
    uint32_t layer_count, options, growth; /* classic: as in the header */
    /* Takes what memory it needs: a replica, or a server that is loading, must not refuse what its
     * master had. */
    uint8_t unlimited;
    uint8_t refused; /* the limit was the reason of the last PETAL_ERR_MEMORY */
    uint8_t classic; /* CLASSIC_, or 0: one of Petal's own kinds */
    uint8_t kind;    /* value_kind() */
};

/* One of valkey-bloom's has more: what its layers come from. Growth 0 is NONSCALING. */
struct valkey_value {
    struct value value;
    double rate, ratio;
    uint8_t seed[32], random;
};

/* Its filter, until another value's is asked for. Of a classic one the bits may be changed through
 * it; keys are added by value_add(), and after any other change of counts comes value_settle(). */
static inline petal_filter *value_filter(const struct value *value)
{
    struct value *own = (struct value *)(uintptr_t)value;
    return value->classic ? handle_lend(own) : value->handle->filter;
}
void value_settle(struct value *value);

/* petal_add_batch() of keys in pointers or behind 32-bit offsets. A classic filter grows by
 * RedisBloom's rules; whatever must be obeyed has no memory limit. And petal_add(): where that
 * fails, value_add_batch() may still do it, or say why not. */
petal_status value_add_batch(RedisModuleCtx *ctx, struct value *value, const petal_batch *batch,
                             uint8_t *results, petal_batch_outcome *outcome, petal_error *error);
petal_status value_add(struct value *value, const void *key, size_t key_bytes);

/* What the server has given for it. */
uint64_t value_bytes(const struct value *value);

/* The library's filter, without bits, of the header of one of RedisBloom's. */
petal_status header_open(const void *header, size_t size_bytes, petal_filter **filter,
                         petal_error *error);

/* What all values have together, for INFO. */
struct totals {
    _Atomic uint64_t filters, bytes, moved, stayed;
    _Atomic uint64_t layers, items, capacity; /* of classic ones */
};
extern struct totals totals;

/* Why something failed, as a line for the client: "ERR petal: " and the core's words, or one of
 * RedisBloom's texts. */
struct failure {
    petal_error error;
    char line[280];
};
const char *failure_line(struct failure *failure);

/* A classic filter as BF.RESERVE makes it; NULL if memory or its size forbid that. A rate is above
 * 0 and below 1. */
struct bloom_plan {
    double rate;
    long long capacity, expansion;
    int no_scaling;
    int is_valkey; /* then valkey_create() makes it, of the following, too */
    double ratio;  /* of the rates of a layer and the one before */
    int random;    /* is the seed? */
    uint8_t seed[32];
};
struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure);

/* A classic one of empty layers, still without bits. NULL without memory. */
struct value *value_new_layers(int classic, uint32_t layers, int unlimited);

/* What such a layer is; its bits belong to the value afterwards. */
void value_set_layer(struct value *value, uint32_t number, const petal_lent_layer *layer);

/* From the header of one of RedisBloom's filters, with all its bits 0. */
struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure);

/* From any header that petal_load() takes, without bits: of Petal's own kinds, or classic (format
 * redisbloom), whose bits are set by value_adopt() before anything else is done with it. */
struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure);

/* The secret, if it is the header of a keyed petal file; for others one must not be given. */
const void *value_secret(const void *header, size_t size_bytes);

/* One of Petal's own kinds, by the options of petal_create(). */
struct value *value_create(petal_options *options, int unlimited, struct failure *failure);

/* Gives a layer of a classic one, still without bits, this buffer of the server's, which belongs to
 * the value afterwards. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error);

/* Bytes of a classic header, in which layers of this filter are; or of the header of a petal file.
 * The buffer is the server's, to be freed; NULL without memory. */
uint8_t *value_header(const struct value *value, size_t *size_bytes);

uint32_t value_layers(const struct value *value);
enum value_kind value_kind(struct value *value);
struct layer_note *value_notes(const struct value *value); /* of classic ones: one per layer */
const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes);
petal_info value_info(const struct value *value, uint32_t layer);

struct value *value_copy(const struct value *value);
void value_free(void *value);

/* Of Petal's own kinds, without a filter as yet: its handle waits for one. */
struct value *value_new(int unlimited);

/* Would it be above bf.memory-limit with that much more? */
int value_over_limit(const struct value *value, uint64_t more_bytes);
void value_fail_limit(struct failure *failure, uint64_t bytes);

#endif

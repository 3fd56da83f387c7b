/* value.h - what a key of the server holds: a filter, whose memory is the server's.
 *
 * Two types of values have the same form. Classic ones are RedisBloom's (type MBbloom--, commands
 * BF.*); the others are Petal's own kinds (commands PETAL.*). */
#ifndef PETAL_REDIS_VALUE_H
#define PETAL_REDIS_VALUE_H

#include "handle.h"

/* RedisBloom's options of a filter. */
enum {
    BLOOM_NO_ROUND = 1,  /* as big as needed; without it, 2^n2 bits: old filters */
    BLOOM_FORCE64 = 4,   /* MurmurHash64A; without it, MurmurHash2: old filters */
    BLOOM_NO_SCALING = 8 /* one layer, and then it is full */
};

#define BLOOM_MAX_LAYERS 64u
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u
#define BLOOM_MAX_HEADER_BYTES (BLOOM_HEAD_BYTES + BLOOM_MAX_LAYERS * BLOOM_LAYER_BYTES)

/* How a filter takes items; all of BF.* grow, or say themselves when they are full. */
enum value_kind {
    KIND_UNKNOWN, /* nobody has asked yet */
    KIND_GROWING,
    KIND_FIXED,    /* one size, and items that are new are counted */
    KIND_COUNTING, /* one size, and each adding is counted, until it is removed */
    KIND_WINDOW,
    KIND_WINDOW_OF_TIME
};

struct value {
    struct handle *handle; /* classic: shared with others; otherwise its own */
    /* Classic: per layer its bits and how many items are in; or, while it is current in the handle,
     * where they go when another value is. */
    petal_layer_state *states;
    uint64_t bytes; /* classic: of its bits */
    /* Takes what memory it needs: a replica, or a server that is loading, must not refuse what its
     * master had. */
    uint8_t unlimited;
    uint8_t refused; /* the limit was the reason of the last PETAL_ERR_MEMORY */
    uint8_t classic;
    uint8_t kind; /* value_kind() */
};

static inline int value_is_current(const struct value *value)
{
    return atomic_load_explicit(&value->handle->current, memory_order_acquire) == value;
}

/* Its filter, until another value's is asked for. */
static inline petal_filter *value_filter(const struct value *value)
{
    if (!value_is_current(value)) handle_attach(value->handle, (struct value *)(uintptr_t)value);
    return value->handle->filter;
}

/* After any call that may add a layer. */
void value_settle(struct value *value);

/* What the server has given for it. */
uint64_t value_bytes(const struct value *value);

/* Of a classic one, as in its header. */
uint32_t value_options(const struct value *value);
uint32_t value_growth(const struct value *value);

/* Sets the counts in a header of that many layers to 0. */
void header_clear_counts(uint8_t *header, uint32_t layers);

/* What all values have together, for INFO. */
struct totals {
    _Atomic uint64_t filters, bytes, moved, stayed;
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
};
struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure);

/* From the header of a classic filter, with all its bits 0. */
struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure);

/* From any header that petal_load() takes, without bits: classic (format redisbloom) or Petal's. */
struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure);

/* The secret, if it is the header of a keyed petal file; for others one must not be given. */
const void *value_secret(const void *header, size_t size_bytes);

/* One of Petal's own kinds, by the options of petal_create(). */
struct value *value_create(petal_options *options, int unlimited, struct failure *failure);

/* Gives a layer without bits this buffer of the server's, which belongs to the value afterwards. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error);

/* Bytes of a classic header, in which layers of this filter are; or of the header of a petal file.
 * The buffer is the server's, to be freed; NULL without memory. */
uint8_t *value_header(const struct value *value, size_t *size_bytes);

uint32_t value_layers(const struct value *value);
enum value_kind value_kind(struct value *value);
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

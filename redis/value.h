/* value.h - values (form.h): creating, reading and writing them. */
#ifndef PETAL_REDIS_VALUE_H
#define PETAL_REDIS_VALUE_H

#include "handle.h"

/* A value's filter, valid until another value's is requested. A classic filter's bits may be
 * changed through it. Add keys with value_add() (adding.h), and call value_settle() after any other
 * change of counts. */
static inline petal_filter *value_filter(const struct value *value)
{
    struct value *own = (struct value *)(uintptr_t)value;
    return value->classic ? handle_lend(own) : value->handle->filter;
}
void value_settle(struct value *value);

/* Bytes allocated for it from the server. */
uint64_t value_bytes(const struct value *value);

/* Why something failed, as a line for the client: "ERR petal: " and the core's message, or one of
 * RedisBloom's texts. */
struct failure {
    petal_error error;
    char line[280];
};
const char *failure_line(struct failure *failure);

/* What BF.RESERVE creates. The rate is above 0 and below 1. */
struct bloom_plan {
    double rate;
    long long capacity, expansion;
    int no_scaling;
    int is_valkey; /* true: for valkey_create(), with the following fields */
    double ratio;  /* ratio of a layer's rate to that of the one before */
    int random;    /* is the seed random? */
    uint8_t seed[32];
};

/* NULL: it is too big, or there is no memory. */
struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure);

/* Creates a classic value of empty layers, which have no bits yet. NULL if there is no memory. */
struct value *value_new_layers(int classic, uint32_t layers, int unlimited);

/* Sets a layer's parameters. The value takes over the bits. */
void value_set_layer(struct value *value, uint32_t number, const petal_lent_layer *layer);

/* Creates a value from the header of one of RedisBloom's filters, with all its bits 0. */
struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure);

/* Creates a value from any header that petal_load() accepts, without bits: one of Petal's own
 * kinds, or a classic one (format redisbloom), whose bits value_adopt() must set before anything
 * else is done. */
struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure);

/* The secret, if this is the header of a keyed petal file; otherwise NULL, since other files reject
 * a secret. */
const void *value_secret(const void *header, size_t size_bytes);

/* Creates one of Petal's own kinds, with the options of petal_create(). */
struct value *value_create(petal_options *options, int unlimited, struct failure *failure);

/* Gives a layer of a classic value this buffer of the server's as its bits; the value then owns
 * it. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error);

/* The bytes of a classic header that describe this filter's layers, or the header of a petal file.
 * The caller frees the server's buffer; NULL if there is no memory. */
uint8_t *value_header(const struct value *value, size_t *size_bytes);

uint32_t value_layers(const struct value *value);
enum value_kind value_kind(struct value *value);
struct layer_note *value_notes(const struct value *value); /* for classic ones: one per layer */
const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes);
petal_info value_info(const struct value *value, uint32_t layer);
petal_layers_info value_layers_info(const struct value *value, uint32_t layer);

struct value *value_copy(const struct value *value);
void value_free(void *value);

/* Gives a value of Petal's own kinds this filter, which the library made from the value's own.
 * False: it has the same number of bits, so the old one is kept. Frees the other of the two. */
int value_replace(struct value *value, petal_filter *filter);

/* Creates one of Petal's own kinds whose handle has no filter yet. */
struct value *value_new(int unlimited);

/* Plans the next layer of one of RedisBloom's. */
petal_status value_plan_next(const struct value *value, petal_lent_layer *next,
                             struct layer_note *note, petal_error *error);

/* Appends this layer, which already has its bits, to a classic value. False if there is no
 * memory. */
int value_append_layer(struct value *value, const petal_lent_layer *layer,
                       const struct layer_note *note);

/* Called once, before all others: creates the handles for classic values. False if there is no
 * memory. */
int value_make_handles(void);

/* Would it exceed bf.memory-limit with this many more bytes? */
int value_over_limit(const struct value *value, uint64_t more_bytes);
void value_fail_limit(struct failure *failure, uint64_t bytes);

#endif

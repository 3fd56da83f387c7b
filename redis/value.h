/* value.h - values (form.h): creating, reading and writing them. */
#ifndef PETAL_REDIS_VALUE_H
#define PETAL_REDIS_VALUE_H

#include "handle.h"

/* Returns a value's filter, which is valid until another value's filter is requested. A classic
 * filter's bits may be changed through it. Add keys with value_add() (adding.h), and call
 * value_settle() after anything else that changes the counts. */
static inline petal_filter *value_filter(const struct value *value)
{
    struct value *own = (struct value *)(uintptr_t)value;
    return value->classic ? handle_lend(own) : value->handle->filter;
}
void value_settle(struct value *value);

/* The number of bytes allocated for the value from the server. */
uint64_t value_bytes(const struct value *value);

/* Returns the reason for a failure as an error message for the client: "ERR petal: " and the
 * library's message, or one of RedisBloom's messages. */
struct failure {
    petal_error error;
    char line[280];
};
const char *failure_line(struct failure *failure);

/* The filter that BF.RESERVE creates. The rate is above 0 and below 1. */
struct bloom_plan {
    double rate;
    long long capacity, expansion;
    int no_scaling;
    int is_valkey; /* if so, valkey_create() uses the following fields */
    double ratio;  /* ratio of a layer's rate to the previous layer's */
    int random;    /* whether the seed is random */
    uint8_t seed[32];
};

/* Creates a RedisBloom filter. Returns NULL if it is too big or memory runs out. */
struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure);

/* Creates a classic value whose layers have no bits yet. Returns NULL if memory runs out. */
struct value *value_new_layers(int classic, uint32_t layers, int unlimited);

/* Sets a layer's parameters. The value takes ownership of the bits. */
void value_set_layer(struct value *value, uint32_t number, const petal_lent_layer *layer);

/* Creates a value from the header of a RedisBloom filter, with all bits 0. */
struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure);

/* Creates a value without bits from any header that petal_load() accepts. It is one of Petal's own
 * kinds, or a classic value (format redisbloom), whose bits must be set with value_adopt() before
 * any other use. */
struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure);

/* Returns the configured secret if this is the header of a keyed petal file; otherwise NULL, since
 * other files reject a secret. */
const void *value_secret(const void *header, size_t size_bytes);

/* Creates a value of one of Petal's own kinds, with petal_create()'s options. */
struct value *value_create(petal_options *options, int unlimited, struct failure *failure);

/* Makes this buffer, allocated by the server, the bits of one layer of a classic value. The value
 * then owns it. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error);

/* Returns the classic header that describes the filter's layers, or the header of a petal file, in
 * a buffer that the caller frees with server.Free(). Returns NULL if memory runs out. */
uint8_t *value_header(const struct value *value, size_t *size_bytes);

uint32_t value_layers(const struct value *value);
enum value_kind value_kind(struct value *value);
struct layer_note *value_notes(const struct value *value); /* only for classic filters: one per
                                                            * layer */
const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes);
petal_info value_info(const struct value *value, uint32_t layer);
petal_layers_info value_layers_info(const struct value *value, uint32_t layer);

struct value *value_copy(const struct value *value);
void value_free(void *value);

/* Replaces the filter in a value of Petal's own kinds with `filter`, which the library made from
 * it, and frees the old one. If both have the same number of bits, frees `filter` instead and
 * returns false. */
int value_replace(struct value *value, petal_filter *filter);

/* Creates a value of Petal's own kinds whose handle has no filter yet. */
struct value *value_new(int unlimited);

/* Plans the next layer of a RedisBloom value. */
petal_status value_plan_next(const struct value *value, petal_lent_layer *next,
                             struct layer_note *note, petal_error *error);

/* Appends this layer, which already has its bits, to a classic value. Returns false if memory runs
 * out. */
int value_append_layer(struct value *value, const petal_lent_layer *layer,
                       const struct layer_note *note);

/* Called once, before all other functions: creates the handles for classic values. Returns false if
 * memory runs out. */
int value_make_handles(void);

/* True if `more_bytes` would make the value exceed bf.memory-limit. */
int value_over_limit(const struct value *value, uint64_t more_bytes);
void value_fail_limit(struct failure *failure, uint64_t bytes);

#endif

/* value.h - values (form.h): how they are made, read and written. */
#ifndef PETAL_REDIS_VALUE_H
#define PETAL_REDIS_VALUE_H

#include "handle.h"

/* Its filter, until another value's is asked for. Of a classic one the bits may be changed through
 * it; keys are added by value_add() (adding.h), and after any other change of counts comes
 * value_settle(). */
static inline petal_filter *value_filter(const struct value *value)
{
    struct value *own = (struct value *)(uintptr_t)value;
    return value->classic ? handle_lend(own) : value->handle->filter;
}
void value_settle(struct value *value);

/* What the server has given for it. */
uint64_t value_bytes(const struct value *value);

/* Why something failed, as a line for the client: "ERR petal: " and the core's words, or one of
 * RedisBloom's texts. */
struct failure {
    petal_error error;
    char line[280];
};
const char *failure_line(struct failure *failure);

/* A filter of RedisBloom's as BF.RESERVE makes it; NULL if memory or its size forbid that. A rate
 * is above 0 and below 1. */
struct bloom_plan {
    double rate;
    long long capacity, expansion;
    int no_scaling;
    int is_valkey; /* then it is for valkey_create(), with the following, too */
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
petal_layers_info value_layers_info(const struct value *value, uint32_t layer);

struct value *value_copy(const struct value *value);
void value_free(void *value);

/* One of Petal's own kinds gets this filter, which the library made of its own. False: it has as
 * many bits as before, so the old one stays. The other of the two is freed. */
int value_replace(struct value *value, petal_filter *filter);

/* Of Petal's own kinds, without a filter as yet: its handle waits for one. */
struct value *value_new(int unlimited);

/* What the next layer of one of RedisBloom's is to be. */
petal_status value_plan_next(const struct value *value, petal_lent_layer *next,
                             struct layer_note *note, petal_error *error);

/* A classic one gets this layer, which has its bits already. False without memory. */
int value_append_layer(struct value *value, const petal_lent_layer *layer,
                       const struct layer_note *note);

/* Once, before all others: the handles of classic ones. False without memory. */
int value_make_handles(void);

/* Would it be above bf.memory-limit with that much more? */
int value_over_limit(const struct value *value, uint64_t more_bytes);
void value_fail_limit(struct failure *failure, uint64_t bytes);

#endif

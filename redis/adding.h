/* adding.h - adds items to values, and grows classic ones. */
#ifndef PETAL_REDIS_ADDING_H
#define PETAL_REDIS_ADDING_H

#include "value.h"

/* petal_add_batch() for keys with pointers or 32-bit offsets. A classic filter grows by
 * RedisBloom's rules. Commands that must be obeyed ignore the memory limit. And petal_add(): if
 * that fails, value_add_batch() may still succeed, or give the reason. */
petal_status value_add_batch(RedisModuleCtx *ctx, struct value *value, const petal_batch *batch,
                             uint8_t *results, petal_batch_outcome *outcome, petal_error *error);
petal_status value_add(struct value *value, const void *key, size_t key_bytes);

/* What a command adds, and its result. */
struct change {
    petal_batch batch;
    uint8_t *results;
    petal_batch_outcome outcome;
    petal_status status;
    struct failure failure;
    int changed; /* must be replicated */
};

/* Adds the batch. A growing filter accepts all of it; a filter of fixed size accepts as many new
 * items as it was created for, unless the command must be obeyed. */
void add_change(RedisModuleCtx *ctx, struct value *value, struct change *change);

/* Replies with the results of the processed items, then with the error line for the rest, if
 * any. */
void reply_change(RedisModuleCtx *ctx, const struct change *change, const char *line);

#endif

/* adding.h - how items go into values, and classic ones grow. */
#ifndef PETAL_REDIS_ADDING_H
#define PETAL_REDIS_ADDING_H

#include "value.h"

/* petal_add_batch() of keys in pointers or behind 32-bit offsets. A classic filter grows by
 * RedisBloom's rules; whatever must be obeyed has no memory limit. And petal_add(): where that
 * fails, value_add_batch() may still do it, or say why not. */
petal_status value_add_batch(RedisModuleCtx *ctx, struct value *value, const petal_batch *batch,
                             uint8_t *results, petal_batch_outcome *outcome, petal_error *error);
petal_status value_add(struct value *value, const void *key, size_t key_bytes);

/* What a command adds, and what came of it. */
struct change {
    petal_batch batch;
    uint8_t *results;
    petal_batch_outcome outcome;
    petal_status status;
    struct failure failure;
    int changed; /* by which replicas would differ */
};

/* Adds the batch: to what grows as it is; to a filter of one size as many new items as it was made
 * for, unless this must be obeyed. */
void add_change(RedisModuleCtx *ctx, struct value *value, struct change *change);

/* The results of what is done, and the line for what is not, if there is one. */
void reply_change(RedisModuleCtx *ctx, const struct change *change, const char *line);

#endif

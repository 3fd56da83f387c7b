/* adding.h - adds items to values, and grows classic ones. */
#ifndef PETAL_REDIS_ADDING_H
#define PETAL_REDIS_ADDING_H

#include "value.h"

/* value_add_batch() is petal_add_batch() for keys with pointers or 32-bit offsets, except that a
 * classic filter grows by RedisBloom's rules, and that commands which must be obeyed ignore the
 * memory limit. value_add() is petal_add(); if it fails, value_add_batch() may still succeed, and
 * otherwise gives the reason. */
petal_status value_add_batch(RedisModuleCtx *ctx, struct value *value, const petal_batch *batch,
                             uint8_t *results, petal_batch_outcome *outcome, petal_error *error);
petal_status value_add(struct value *value, const void *key, size_t key_bytes);

/* The items that a command adds, and its results. */
struct change {
    petal_batch batch;
    uint8_t *results;
    petal_batch_outcome outcome;
    petal_status status;
    struct failure failure;
    int changed; /* must be replicated */
};

/* Adds the batch. A growing filter accepts all of it. A fixed-size filter accepts as many new items
 * as it was created for, or all of them if the command must be obeyed. */
void add_change(RedisModuleCtx *ctx, struct value *value, struct change *change);

/* Replies with the results of the processed items, then with the error line for the rest, if
 * any. */
void reply_change(RedisModuleCtx *ctx, const struct change *change, const char *line);

#endif

/* common.h - what the commands BF.* and PETAL.* share. */
#ifndef PETAL_REDIS_COMMON_H
#define PETAL_REDIS_COMMON_H

#include "command.h"
#include "types.h"

enum found { FOUND, MISSING, OTHER_TYPE };

/* Announces that the key has changed: for WATCH and client-side caching, and as an event. */
void note_change(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);

/* Ignores case. */
int is_word(RedisModuleString *argument, const char *word);

/* The error line if the memory limit is exceeded: "with its next layer", ... */
const char *above_limit(const char *how);

int reply_not_found(RedisModuleCtx *ctx, enum found found);

/* The reply of BF.SCANDUMP and PETAL.DUMP. */
int reply_dump(RedisModuleCtx *ctx, const struct value *value, long long iterator);

/* Is `room` of a suitable size for `count` things? If a huge command allocated it, the next command
 * of normal size frees it. */
static inline int is_good_room(size_t room, size_t count)
{
    return count < room && (room <= 65536 || count > room / 8);
}

/* Room for one command's results, and for its keys. The count must be the same in all calls of a
 * command. Commands run one at a time. */
uint8_t *scratch_results(size_t count);
petal_batch scratch_batch(RedisModuleString **items, size_t count);

/* Room for the results of a second batch of the same command. */
uint8_t *scratch_more_results(size_t count);

/* Does the filter contain the item? NULL is an empty key, which contains nothing. In a time window,
 * generations that have expired by the server's clock are ignored. The value doesn't change, so
 * replicas can be queried too and stay equal to their master. */
int query_one(struct value *value, RedisModuleString *item);
void query_batch(struct value *value, const petal_batch *batch, uint8_t *results);

/* Registers the commands BF.* and PETAL.*. */
int bf_register(RedisModuleCtx *ctx);
int petal_register(RedisModuleCtx *ctx);

#endif

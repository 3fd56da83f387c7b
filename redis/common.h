/* common.h - what the commands BF.* and PETAL.* share. */
#ifndef PETAL_REDIS_COMMON_H
#define PETAL_REDIS_COMMON_H

#include "command.h"
#include "types.h"

enum found { FOUND, MISSING, OTHER_TYPE };

/* The key was changed: for WATCH and client-side caching, and as an event. */
void note_change(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);

/* Upper and lower case are the same. */
int is_word(RedisModuleString *argument, const char *word);

/* A line for what would be above the memory limit: "with its next layer", ... */
const char *above_limit(const char *how);

int reply_not_found(RedisModuleCtx *ctx, enum found found);

/* What BF.SCANDUMP and PETAL.DUMP answer. */
int reply_dump(RedisModuleCtx *ctx, const struct value *value, long long iterator);

/* Is room for `room` things right for `count` of them? What a huge command took is given back by
 * the next one of a usual size. */
static inline int is_good_room(size_t room, size_t count)
{
    return count < room && (room <= 65536 || count > room / 8);
}

/* Room for the results of one command, and for its keys; within it the count is the same in all
 * calls. Commands run one at a time. */
uint8_t *scratch_results(size_t count);
petal_batch scratch_batch(RedisModuleString **items, size_t count);

/* Room for the results of a second batch of the same command. */
uint8_t *scratch_more_results(size_t count);

/* Is it in the filter? NULL is an empty key, which contains nothing. Of a window of time the
 * generations that are over by the server's clock are left out; the value does not change by that,
 * so a replica can be queried, too, and stays equal to its master. */
int query_one(struct value *value, RedisModuleString *item);
void query_batch(struct value *value, const petal_batch *batch, uint8_t *results);

/* Registers the commands BF.* and PETAL.*. */
int bf_register(RedisModuleCtx *ctx);
int petal_register(RedisModuleCtx *ctx);

#endif

/* common.h - functions that the BF.* and PETAL.* commands share. */
#ifndef PETAL_REDIS_COMMON_H
#define PETAL_REDIS_COMMON_H

#include "command.h"
#include "types.h"

enum found { FOUND, MISSING, OTHER_TYPE };

/* Announces that the key has changed, for WATCH and client-side caching, and as a keyspace
 * event. */
void note_change(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);

/* Ignores case. */
int is_word(RedisModuleString *argument, const char *word);

/* Returns the error line for a filter that would exceed the memory limit; `how` completes it, as in
 * "with its next layer". */
const char *above_limit(const char *how);

int reply_not_found(RedisModuleCtx *ctx, enum found found);

/* Replies to BF.SCANDUMP or PETAL.DUMP. */
int reply_dump(RedisModuleCtx *ctx, const struct value *value, long long iterator);

/* True if `room` is a suitable size for `count` elements. A buffer that a huge command allocated is
 * too large for the next normal command, which therefore frees it. */
static inline int is_good_room(size_t room, size_t count)
{
    return count < room && (room <= 65536 || count > room / 8);
}

/* Scratch memory for one command's results, and for its keys. All calls within one command must
 * pass the same count. Commands run one at a time, so the memory is shared. */
uint8_t *scratch_results(size_t count);
petal_batch scratch_batch(RedisModuleString **items, size_t count);

/* Scratch memory for the results of a second batch within the same command. */
uint8_t *scratch_more_results(size_t count);

/* True if the filter contains the item. A NULL value is a key that doesn't exist, and contains
 * nothing. In a time window, generations that have expired by the server's clock are ignored. A
 * query doesn't change the value, so a replica can be queried and stays identical to its master. */
int query_one(struct value *value, RedisModuleString *item);
void query_batch(struct value *value, const petal_batch *batch, uint8_t *results);

/* Register the BF.* and the PETAL.* commands. */
int bf_register(RedisModuleCtx *ctx);
int petal_register(RedisModuleCtx *ctx);

#endif

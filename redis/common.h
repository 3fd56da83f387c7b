/* common.h - what the commands BF.* and PETAL.* share. */
#ifndef PETAL_REDIS_COMMON_H
#define PETAL_REDIS_COMMON_H

#include "types.h"

enum found { FOUND, MISSING, OTHER_TYPE };

/* A command must not fail that succeeded where it comes from: a master, or the AOF. */
int must_obey(RedisModuleCtx *ctx);

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

/* Lists of commands, each ending with a nameless one. */
struct command {
    const char *name;
    module_command function;
    const char *flags, *categories;
    uint64_t key_flags;
    int last_key; /* counted from the first; negative: from the end */
    int arity;
    const char *since, *summary, *complexity;
    struct module_argument *arguments; /* the key first; ends with a nameless one */
};
int command_register(RedisModuleCtx *ctx, const struct command *commands);

#define ARGUMENT(named, kind) \
    { \
        .name = (named), .type = (kind), .key_spec_index = -1 \
    }
#define ARGUMENT_WITH(named, kind, ...) \
    { \
        .name = (named), .type = (kind), .key_spec_index = -1, __VA_ARGS__ \
    }
#define KEY_ARGUMENT \
    { \
        .name = "key", .type = ARG_KEY \
    }
#define END_OF_ARGUMENTS \
    { \
        .name = NULL \
    }

#define COMMAND_WRITES "write deny-oom"
#define COMMAND_READS "readonly fast"
#define KEYS_CHANGED (KEY_SPEC_RW | KEY_SPEC_ACCESS | KEY_SPEC_UPDATE)
#define KEYS_READ (KEY_SPEC_RO | KEY_SPEC_ACCESS)

int bf_register(RedisModuleCtx *ctx);
int petal_register(RedisModuleCtx *ctx);

#endif

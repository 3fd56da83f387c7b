/* bf.h - the commands BF.* of RedisBloom. */
#ifndef PETAL_REDIS_BF_H
#define PETAL_REDIS_BF_H

#include "server.h"

int bf_register(RedisModuleCtx *ctx);

/* A command as it is registered and documented. */
struct command {
    const char *name;
    module_command function;
    const char *flags, *categories;
    uint64_t key_flags;
    int arity;
    const char *since, *summary, *complexity;
    struct module_argument *arguments; /* the key first; ends with a nameless one */
};

int command_register(RedisModuleCtx *ctx, const struct command *commands);

#endif

/* command.h - tables of commands, as the server registers and documents them. */
#ifndef PETAL_REDIS_COMMAND_H
#define PETAL_REDIS_COMMAND_H

#include "server.h"

/* A table of commands ends with an unnamed entry. */
struct command {
    const char *name;
    module_command function;
    const char *flags, *categories;
    uint64_t key_flags;
    int last_key; /* relative to the first; if negative, relative to the last argument */
    int arity;
    const char *since, *summary, *complexity;
    struct module_argument *arguments; /* the key is first; the list ends with an unnamed entry */
};

/* Registers all commands. If that fails, logs the reason. */
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

#endif

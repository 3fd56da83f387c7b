/* command.c - see command.h. */
#include "command.h"

#include "config.h"

#include <ctype.h>

static int describe(RedisModuleCtx *ctx, const struct command *command, const char *name)
{
    static const struct module_info_version version = {1, sizeof(struct module_history),
                                                       sizeof(struct module_key_spec),
                                                       sizeof(struct module_argument)};
    struct module_key_spec keys[2] = {{.flags = command->key_flags,
                                       .begin_search = KEY_SPEC_INDEX,
                                       .begin = {.index = 1},
                                       .find_keys = KEY_SPEC_RANGE,
                                       .find = {.range = {command->last_key, 1, 0}}}};
    const struct module_command_info info = {.version = &version,
                                             .summary = command->summary,
                                             .complexity = command->complexity,
                                             .since = command->since,
                                             .arity = command->arity,
                                             .key_specs = keys,
                                             .args = command->arguments};
    RedisModuleCommand *registered = server.GetCommand(ctx, name);
    if (!registered || server.SetCommandInfo(registered, &info) != MODULE_OK) return MODULE_ERR;
    return server.SetCommandACLCategories
               ? server.SetCommandACLCategories(registered, command->categories)
               : MODULE_OK;
}

/* Spells the name as statistics and errors show it: lower case for RedisBloom's commands, upper
 * case for valkey-bloom's. */
static void spell(const char *name, char *to, size_t room)
{
    size_t i = 0;
    for (; name[i] && i < room - 1; i++)
        to[i] = config.compat == COMPAT_VALKEY ? name[i] : (char)tolower((unsigned char)name[i]);
    to[i] = 0;
}

int command_register(RedisModuleCtx *ctx, const struct command *commands)
{
    for (const struct command *command = commands; command->name; command++) {
        char name[32];
        spell(command->name, name, sizeof name);
        int last = command->last_key < 0 ? command->last_key : 1 + command->last_key;
        if (server.CreateCommand(ctx, name, command->function, command->flags, 1, last, 1) !=
            MODULE_OK) {
            server.Log(
                ctx, "warning",
                "the command %s is there already: is another module with such commands loaded?",
                name);
            return MODULE_ERR;
        }
        if (describe(ctx, command, name) != MODULE_OK) {
            server.Log(ctx, "warning", "the server refused the description of %s", name);
            return MODULE_ERR;
        }
    }
    return MODULE_OK;
}

/* server.c - see server.h. */
#include "server.h"

struct server server;
static int is_valkey;

/* Finds the API without the server's header: a context starts with a pointer to the function that
 * looks up calls by name. */
typedef int (*get_api)(const char *name, void *function);

static int has(get_api look_up, const char *name)
{
    void *found;
    return look_up(name, &found) == MODULE_OK;
}

const char *server_find_calls(RedisModuleCtx *ctx)
{
    get_api look_up = *(get_api *)(void *)ctx;
    const char *missing = NULL;
#define MODULE_CALL(result, name, arguments) \
    if (look_up("RedisModule_" #name, &server.name) != MODULE_OK) missing = "RedisModule_" #name;
    MODULE_OPTIONAL(MODULE_CALL)
    is_valkey = has(look_up, "ValkeyModule_SetModuleOptions");
    missing = NULL;
    MODULE_REQUIRED(MODULE_CALL)
#undef MODULE_CALL
    return missing;
}

int server_moves_slots(void)
{
    return is_valkey && server.GetModuleOptionsAll &&
           (server.GetModuleOptionsAll() & OPTION_HANDLE_SLOT_MIGRATION) != 0;
}

int must_obey(RedisModuleCtx *ctx)
{
    return (server.GetContextFlags(ctx) & (CTX_LOADING | CTX_REPLICATED)) != 0;
}

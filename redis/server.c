/* server.c - see server.h. */
#include "server.h"

struct server server;

/* How a module finds the API without the server's header: a context begins with the function that
 * looks a call up by its name. */
typedef int (*get_api)(const char *name, void *function);

const char *server_find_calls(RedisModuleCtx *ctx)
{
    get_api look_up = *(get_api *)(void *)ctx;
    const char *missing = NULL;
#define MODULE_CALL(result, name, arguments) \
    if (look_up("RedisModule_" #name, &server.name) != MODULE_OK) missing = "RedisModule_" #name;
    MODULE_OPTIONAL(MODULE_CALL)
    missing = NULL;
    MODULE_REQUIRED(MODULE_CALL)
#undef MODULE_CALL
    return missing;
}

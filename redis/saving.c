/* saving.c - see saving.h. */
#include "saving.h"

#include <string.h>

/* To compress a string, the server allocates the same amount of memory again. A filter's bits don't
 * compress, so saving would need twice the memory of the largest filter. So a child process, which
 * has its own copy of the server's options, turns compression off for large strings. */
static int compresses(RedisModuleCtx *ctx)
{
    RedisModuleCallReply *reply = server.Call(ctx, "CONFIG", "cc", "GET", "rdbcompression"), *value;
    size_t size = 0;
    const char *text = reply && (value = server.CallReplyArrayElement(reply, 1))
                           ? server.CallReplyStringPtr(value, &size)
                           : NULL;
    int yes = text && size == 3 && !memcmp(text, "yes", 3);
    if (reply) server.FreeCallReply(reply);
    return yes;
}

static void set_compression(RedisModuleCtx *ctx, const char *yes_or_no)
{
    RedisModuleCallReply *reply =
        server.Call(ctx, "CONFIG", "ccc", "SET", "rdbcompression", yes_or_no);
    if (reply) server.FreeCallReply(reply);
}

void save_string(RedisModuleIO *io, const uint8_t *bits, uint64_t bytes)
{
    int in_child = bytes > MAX_CHUNK_BYTES && server.GetContextFlags(NULL) & CTX_IS_CHILD;
    RedisModuleCtx *ctx = in_child ? server.GetThreadSafeContext(NULL) : NULL;
    int off = ctx && compresses(ctx);
    if (off) set_compression(ctx, "no");
    server.SaveStringBuffer(io, (const char *)bits, bytes);
    if (off) set_compression(ctx, "yes");
    if (ctx) server.FreeThreadSafeContext(ctx);
}

int is_loading(void)
{
    return (server.GetContextFlags(NULL) & (CTX_LOADING | CTX_REPLICA)) != 0;
}

/* common.c - see common.h. */
#include "common.h"

#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void note_change(RedisModuleCtx *ctx, RedisModuleString *name, const char *event)
{
    server.SignalModifiedKey(ctx, name);
    server.NotifyKeyspaceEvent(ctx, NOTIFY_GENERIC, event, name);
}

int is_word(RedisModuleString *argument, const char *word)
{
    size_t size;
    const char *text = server.StringPtrLen(argument, &size);
    return size == strlen(word) && !strncasecmp(text, word, size);
}

const char *above_limit(const char *how)
{
    static char line[120];
    snprintf(line, sizeof line, "ERR petal: %s the filter would be above %s.memory-limit", how,
             config.module);
    return line;
}

int reply_not_found(RedisModuleCtx *ctx, enum found found)
{
    return server.ReplyWithError(ctx, found == MISSING ? "ERR not found" : TEXT_WRONG_TYPE);
}

int reply_dump(RedisModuleCtx *ctx, const struct value *value, long long iterator)
{
    if (iterator == 0) {
        size_t size_bytes;
        uint8_t *header = value_header(value, &size_bytes);
        if (!header) return server.ReplyWithError(ctx, "ERR petal: no memory for the header");
        server.ReplyWithArray(ctx, 2);
        server.ReplyWithLongLong(ctx, 1);
        server.ReplyWithStringBuffer(ctx, (const char *)header, size_bytes);
        server.Free(header);
        return MODULE_OK;
    }
    uint64_t size_bytes = 0;
    const uint8_t *chunk =
        iterator > 0 ? value_chunk(value, (uint64_t)iterator - 1, &size_bytes) : NULL;
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithLongLong(ctx, chunk ? iterator + (long long)size_bytes : 0);
    return server.ReplyWithStringBuffer(ctx, chunk ? (const char *)chunk : "", (size_t)size_bytes);
}

static struct {
    petal_key *keys;
    uint8_t *results, *more_results;
    size_t room;
} scratch;

static void make_room(size_t count)
{
    if (is_good_room(scratch.room, count)) return;
    scratch.room = count + count / 2 + 1024;
    server.Free(scratch.keys);
    server.Free(scratch.results);
    server.Free(scratch.more_results);
    scratch.keys = server.Alloc(scratch.room * sizeof *scratch.keys);
    scratch.results = server.Alloc(scratch.room);
    scratch.more_results = server.Alloc(scratch.room);
}

uint8_t *scratch_results(size_t count)
{
    make_room(count);
    return scratch.results;
}

uint8_t *scratch_more_results(size_t count)
{
    make_room(count);
    return scratch.more_results;
}

petal_batch scratch_batch(RedisModuleString **items, size_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    make_room(count);
    for (size_t i = 0; i < count; i++)
        scratch.keys[i].data = server.StringPtrLen(items[i], &scratch.keys[i].size_bytes);
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = scratch.keys;
    batch.count = count;
    return batch;
}

/* ---- querying -------------------------------------------------------------------------------- */

static petal_filter *filter_now(struct value *value)
{
    if (value_kind(value) == KIND_WINDOW_OF_TIME)
        petal_set_query_clock(value_filter(value), (uint64_t)server.Milliseconds(), NULL);
    return value_filter(value);
}

int query_one(struct value *value, RedisModuleString *item)
{
    size_t size;
    const char *key = server.StringPtrLen(item, &size);
    return value && petal_contains(filter_now(value), key, size);
}

void query_batch(struct value *value, const petal_batch *batch, uint8_t *results)
{
    if (!value || petal_contains_batch(filter_now(value), batch, results, NULL, NULL) != PETAL_OK)
        memset(results, value != NULL, (size_t)batch->count);
}

/* parts.c - see parts.h.
 *
 * petal-prt, encoding 0: total u, pieces u, and the pieces s. */
#include "parts.h"

#include "config.h"

#include <string.h>

RedisModuleType *part_type;

struct piece {
    struct piece *next;
    size_t size_bytes;
    char bytes[];
};

struct part {
    uint64_t total, size;
    struct piece *first, **end;
    uint64_t pieces;
};

struct part *part_new(uint64_t total_bytes)
{
    struct part *part = server.Alloc(sizeof *part);
    *part = (struct part){.total = total_bytes};
    part->end = &part->first;
    return part;
}

static void drop_first(struct part *part)
{
    struct piece *piece = part->first;
    part->first = piece->next;
    server.Free(piece);
}

void part_free(void *memory)
{
    struct part *part = memory;
    while (part->first) drop_first(part);
    server.Free(part);
}

uint64_t part_size(const struct part *part)
{
    return part->size;
}

uint64_t part_total(const struct part *part)
{
    return part->total;
}

int part_append(struct part *part, const char *bytes, size_t size_bytes)
{
    struct piece *piece = server.TryAlloc ? server.TryAlloc(sizeof *piece + size_bytes)
                                          : server.Alloc(sizeof *piece + size_bytes);
    if (!piece) return 0;
    piece->next = NULL;
    piece->size_bytes = size_bytes;
    memcpy(piece->bytes, bytes, size_bytes);
    *part->end = piece;
    part->end = &piece->next;
    part->size += size_bytes;
    part->pieces++;
    return 1;
}

/* Returns the secret if the file needs one. Its header may span several pieces. */
static const void *secret_for(const struct part *part)
{
    char header[16384];
    size_t size = 0;
    for (const struct piece *piece = part->first; piece && size < sizeof header;
         piece = piece->next) {
        size_t room = sizeof header - size;
        size_t taken = piece->size_bytes < room ? piece->size_bytes : room;
        memcpy(header + size, piece->bytes, taken);
        size += taken;
    }
    return value_secret(header, size);
}

struct value *part_finish(struct part *part, int unlimited, struct failure *failure)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_reader *reader = NULL;
    struct value *value = value_new(unlimited);
    petal_status status = value ? PETAL_OK : PETAL_ERR_MEMORY;
    failure->line[0] = 0;
    if (value) {
        petal_allocator allocator = handle_allocator(value->handle);
        options.allocator = &allocator;
        options.secret = secret_for(part);
        options.memory_limit =
            config.memory_limit && !unlimited ? (uint64_t)config.memory_limit : UINT64_MAX;
        status = petal_reader_create(&options, part->total, &reader, &failure->error);
    }
    for (; part->first; drop_first(part))
        if (status == PETAL_OK)
            status = petal_reader_feed(reader, part->first->bytes, part->first->size_bytes,
                                       &failure->error);
    part->end = &part->first;
    if (status == PETAL_OK)
        status = petal_reader_finish(reader, &value->handle->filter, &failure->error);
    petal_reader_free(reader);
    if (status == PETAL_OK) return value;
    value_free(value);
    return NULL;
}

/* ---- as a value of the server ---------------------------------------------------------------- */

static void save(RedisModuleIO *io, void *memory)
{
    const struct part *part = memory;
    server.SaveUnsigned(io, part->total);
    server.SaveUnsigned(io, part->pieces);
    for (const struct piece *piece = part->first; piece; piece = piece->next)
        server.SaveStringBuffer(io, piece->bytes, piece->size_bytes);
}

static void *load(RedisModuleIO *io, int encver)
{
    if (encver != 0) return NULL;
    struct part *part = part_new(server.LoadUnsigned(io));
    uint64_t pieces = server.LoadUnsigned(io);
    while (!server.IsIOError(io) && part->pieces < pieces) {
        size_t size_bytes = 0;
        char *bytes = server.LoadStringBuffer(io, &size_bytes);
        int added = !server.IsIOError(io) && bytes && size_bytes <= part->total - part->size &&
                    part_append(part, bytes, size_bytes);
        if (bytes) server.Free(bytes);
        if (!added) break;
    }
    if (!server.IsIOError(io) && part->pieces == pieces) return part;
    part_free(part);
    return NULL;
}

static void rewrite(RedisModuleIO *io, RedisModuleString *key, void *memory)
{
    const struct part *part = memory;
    uint64_t at = 0;
    for (const struct piece *piece = part->first; piece; piece = piece->next) {
        /* The last piece, which has not arrived yet, will give the filter's name. */
        server.EmitAOF(io, "PETAL.LOAD", "ssllb", key, key, (long long)at, (long long)part->total,
                       piece->bytes, piece->size_bytes);
        at += piece->size_bytes;
    }
}

static size_t memory_usage(const void *memory)
{
    const struct part *part = memory;
    return sizeof *part + part->pieces * sizeof(struct piece) + part->size;
}

static void digest(RedisModuleDigest *digest, void *memory)
{
    const struct part *part = memory;
    server.DigestAddLongLong(digest, (long long)part->total);
    for (const struct piece *piece = part->first; piece; piece = piece->next)
        server.DigestAddStringBuffer(digest, piece->bytes, piece->size_bytes);
    server.DigestEndSequence(digest);
}

static size_t free_effort(RedisModuleString *key, const void *memory)
{
    (void)key;
    return 1 + (size_t)(((const struct part *)memory)->size >> 12);
}

int parts_register(RedisModuleCtx *ctx)
{
    struct module_type_methods methods = {.version = 4,
                                          .rdb_load = load,
                                          .rdb_save = save,
                                          .aof_rewrite = rewrite,
                                          .mem_usage = memory_usage,
                                          .digest = digest,
                                          .free = part_free,
                                          .free_effort = free_effort};
    part_type = server.CreateDataType(ctx, "petal-prt", 0, &methods);
    return part_type ? MODULE_OK : MODULE_ERR;
}

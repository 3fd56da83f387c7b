/* types.c - how values are stored: RDB files, DUMP and RESTORE, AOF files; and DEBUG DIGEST, MEMORY
 * USAGE, COPY, lazy freeing and defragmentation.
 *
 * MBbloom--, encoding 4 (docs/formats/redisbloom.md), is RedisBloom's; older encodings can be read:
 *
 *     keys u, layers u, options u (from 2), growth u (from 4), and per layer
 *     capacity u, error d, hashes u, bits per entry d, bits u, n2 u (both from 1), bits s, keys u
 *
 * bloomfltr, encoding 1, is valkey-bloom's: see valkey.c.
 *
 * petal-flt, encoding 0: header s, then per layer size u and its bits in strings of up to 16 MiB,
 * so that the saving process needs no copy of a layer to compress it. */
#include "types.h"

#include "bloom_header.h"
#include "bytes.h"
#include "config.h"
#include "parts.h"
#include "valkey.h"

#include <stdatomic.h>
#include <string.h>

RedisModuleType *bloom_type;
RedisModuleType *valkey_type;
RedisModuleType *petal_type;

enum { BLOOM_ENCVER = 4, PETAL_ENCVER = 0 };
enum { ENCVER_BITS = 1, ENCVER_OPTIONS = 2, ENCVER_GROWTH = 4 };

const uint8_t *value_chunk(const struct value *value, uint64_t at, uint64_t *size_bytes)
{
    uint32_t layers = value_layers(value);
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t layer_bytes;
        const uint8_t *bits = value_bits(value, i, &layer_bytes);
        if (at < layer_bytes) {
            *size_bytes = layer_bytes - at < MAX_CHUNK_BYTES ? layer_bytes - at : MAX_CHUNK_BYTES;
            return bits + at;
        }
        at -= layer_bytes;
    }
    *size_bytes = 0;
    return NULL;
}

/* ---- MBbloom-- ------------------------------------------------------------------------------- */

/* Saves a layer's bits in the number of bytes that the header states. */
static void save_bits(RedisModuleIO *io, const struct value *value, uint32_t layer, uint64_t bytes)
{
    static const char padding[8];
    uint64_t layer_bytes;
    const uint8_t *bits = value_bits(value, layer, &layer_bytes);
    char whole[16];
    if (bytes > layer_bytes && layer_bytes < 8) { /* an old filter of 2^n bits, n below 6 */
        memcpy(whole, bits, layer_bytes);
        memcpy(whole + layer_bytes, padding, 8 - layer_bytes);
        server.SaveStringBuffer(io, whole, 8);
        return;
    }
    save_string(io, bits, layer_bytes);
}

static void save_bloom(RedisModuleIO *io, void *memory)
{
    const struct value *value = memory;
    size_t size_bytes;
    uint8_t *header = value_header(value, &size_bytes);
    if (!header) {
        /* No error can be returned here, but loading rejects a value without layers. */
        server.LogIOError(io, "warning", "petal: no memory for the header of a filter");
        for (int i = 0; i < 4; i++) server.SaveUnsigned(io, 0);
        return;
    }
    uint32_t layers = (uint32_t)load_little(header + AT_LAYERS, 4);
    server.SaveUnsigned(io, load_little(header + AT_KEYS, 8));
    server.SaveUnsigned(io, layers);
    server.SaveUnsigned(io, load_little(header + AT_OPTIONS, 4));
    server.SaveUnsigned(io, load_little(header + AT_GROWTH, 4));
    for (uint32_t i = 0; i < layers; i++) {
        const uint8_t *at = header + BLOOM_HEAD_BYTES + (size_t)i * BLOOM_LAYER_BYTES;
        server.SaveUnsigned(io, load_little(at + LAYER_CAPACITY, 8));
        server.SaveDouble(io, load_double(at + LAYER_ERROR));
        server.SaveUnsigned(io, load_little(at + LAYER_HASHES, 4));
        server.SaveDouble(io, load_double(at + LAYER_BPE));
        server.SaveUnsigned(io, load_little(at + LAYER_BITS, 8));
        server.SaveUnsigned(io, at[LAYER_N2]);
        save_bits(io, value, i, load_little(at + LAYER_BYTES, 8));
        server.SaveUnsigned(io, load_little(at + LAYER_KEYS, 8));
    }
    server.Free(header);
}

/* A value that is being read: the header that BF.SCANDUMP would give, and the bits. Room is
 * allocated for at most twice as many layers as have arrived, however many the input claims. */
struct loading {
    uint8_t *header;
    struct string {
        char *bytes;
        size_t size_bytes;
    } * bits;
    uint32_t layers, room;
    uint64_t bytes_left; /* bytes that it may still allocate */
};

/* True if the next string, whose size is determined by the fields before it, may still be
 * allocated. Deducts its size from the limit. */
static int has_room(RedisModuleIO *io, struct loading *loading, uint64_t bytes)
{
    if (bytes <= loading->bytes_left) {
        loading->bytes_left -= bytes;
        return 1;
    }
    server.LogIOError(io, "warning", "petal: a filter above bf.memory-limit; raise it");
    return 0;
}

/* Reads a number and stores it in the header, where it occupies only `bytes` bytes. */
static int load_small(RedisModuleIO *io, uint8_t *to, int bytes)
{
    uint64_t value = server.LoadUnsigned(io);
    store_little(to, value, bytes);
    return !server.IsIOError(io) && (bytes == 8 || value >> 8 * bytes == 0);
}

static int load_layer(RedisModuleIO *io, int encver, struct loading *loading, uint32_t i)
{
    uint8_t *at = loading->header + BLOOM_HEAD_BYTES + (size_t)i * BLOOM_LAYER_BYTES;
    if (!load_small(io, at + LAYER_CAPACITY, 8)) return 0;
    store_double(at + LAYER_ERROR, server.LoadDouble(io));
    if (!load_small(io, at + LAYER_HASHES, 4)) return 0;
    store_double(at + LAYER_BPE, server.LoadDouble(io));
    at[LAYER_N2] = 0;
    store_little(at + LAYER_BITS, 0, 8);
    if (encver >= ENCVER_BITS &&
        (!load_small(io, at + LAYER_BITS, 8) || !load_small(io, at + LAYER_N2, 1)))
        return 0;
    if (!has_room(io, loading, load_little(at + LAYER_BITS, 8) / 8)) return 0;
    struct string *bits = &loading->bits[i];
    bits->bytes = server.LoadStringBuffer(io, &bits->size_bytes);
    if (server.IsIOError(io) || !bits->bytes) return 0;
    store_little(at + LAYER_BYTES, bits->size_bytes, 8);
    /* RedisBloom before 2.2 didn't store the bits. */
    if (load_little(at + LAYER_BITS, 8) == 0)
        store_little(at + LAYER_BITS, 8 * (uint64_t)bits->size_bytes, 8);
    return load_small(io, at + LAYER_KEYS, 8);
}

static void make_room(struct loading *loading, uint32_t layers)
{
    if (layers <= loading->room) return;
    loading->room = 2 * layers;
    loading->header = server.Realloc(loading->header,
                                     BLOOM_HEAD_BYTES + (size_t)loading->room * BLOOM_LAYER_BYTES);
    loading->bits = server.Realloc(loading->bits, loading->room * sizeof *loading->bits);
    memset(loading->bits + loading->layers, 0,
           (loading->room - loading->layers) * sizeof *loading->bits);
}

static int load_all(RedisModuleIO *io, int encver, struct loading *loading)
{
    make_room(loading, 1);
    uint8_t *header = loading->header;
    store_little(header + AT_OPTIONS, 0, 4);
    store_little(header + AT_GROWTH, 2, 4);
    if (!load_small(io, header + AT_KEYS, 8) || !load_small(io, header + AT_LAYERS, 4)) return 0;
    if (encver >= ENCVER_OPTIONS && !load_small(io, header + AT_OPTIONS, 4)) return 0;
    if (encver >= ENCVER_GROWTH && !load_small(io, header + AT_GROWTH, 4)) return 0;
    uint64_t layers = load_little(header + AT_LAYERS, 4);
    if (layers == 0 || layers > BLOOM_MAX_LAYERS) {
        server.LogIOError(io, "warning", "petal: a filter of %llu layers; petal reads 1 to %u",
                          (unsigned long long)layers, BLOOM_MAX_LAYERS);
        return 0;
    }
    for (; loading->layers < layers; loading->layers++) {
        make_room(loading, loading->layers + 1);
        if (!load_layer(io, encver, loading, loading->layers)) return 0;
    }
    return 1;
}

/* Creates a value that takes ownership of the loaded data. Returns NULL on failure. */
static struct value *assemble(RedisModuleIO *io, struct loading *loading)
{
    struct failure failure;
    struct value *value =
        value_open(loading->header, BLOOM_HEAD_BYTES + (size_t)loading->layers * BLOOM_LAYER_BYTES,
                   1, 1, &failure);
    petal_status status = PETAL_OK;
    for (uint32_t i = 0; value && status == PETAL_OK && i < loading->layers; i++) {
        struct string *bits = &loading->bits[i];
        status = value_adopt(value, i, bits->bytes, bits->size_bytes, &failure.error);
        if (status == PETAL_OK) bits->bytes = NULL;
    }
    if (value && status == PETAL_OK) {
        value->unlimited = 0;
        return value;
    }
    server.LogIOError(io, "warning", "petal: %s", failure_line(&failure));
    value_free(value);
    return NULL;
}

static void *load_bloom(RedisModuleIO *io, int encver)
{
    if (encver < 0 || encver > BLOOM_ENCVER) {
        server.LogIOError(io, "warning", "petal: MBbloom-- of encoding %d; petal reads 0 to %d",
                          encver, BLOOM_ENCVER);
        return NULL;
    }
    struct loading loading = {.bytes_left = config.memory_limit && !is_loading()
                                                ? (uint64_t)config.memory_limit
                                                : UINT64_MAX};
    struct value *value = load_all(io, encver, &loading) ? assemble(io, &loading) : NULL;
    for (uint32_t i = 0; i < loading.room; i++)
        if (loading.bits[i].bytes) server.Free(loading.bits[i].bytes);
    server.Free(loading.bits);
    server.Free(loading.header);
    return value;
}

static void rewrite_bloom(RedisModuleIO *io, RedisModuleString *key, void *memory)
{
    const struct value *value = memory;
    size_t header_bytes;
    uint64_t at = 0, size_bytes;
    uint8_t *header = value_header(value, &header_bytes);
    if (!header) return;
    server.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1LL, header, header_bytes);
    server.Free(header);
    for (const uint8_t *chunk; (chunk = value_chunk(value, at, &size_bytes));) {
        at += size_bytes;
        long long iterator = (long long)at + 1;
        server.EmitAOF(io, "BF.LOADCHUNK", "slb", key, iterator, chunk, (size_t)size_bytes);
    }
}

/* ---- petal-flt ------------------------------------------------------------------------------- */

static void save_petal(RedisModuleIO *io, void *memory)
{
    const struct value *value = memory;
    size_t header_bytes = 0;
    uint8_t *header = value_header(value, &header_bytes);
    if (!header) server.LogIOError(io, "warning", "petal: no header of a filter could be written");
    server.SaveStringBuffer(io, header ? (const char *)header : "", header_bytes);
    server.Free(header);
    for (uint32_t i = 0; i < value_layers(value); i++) {
        uint64_t size_bytes;
        const uint8_t *bits = value_bits(value, i, &size_bytes);
        server.SaveUnsigned(io, size_bytes);
        for (uint64_t at = 0, part; at < size_bytes; at += part) {
            part = size_bytes - at < MAX_CHUNK_BYTES ? size_bytes - at : MAX_CHUNK_BYTES;
            server.SaveStringBuffer(io, (const char *)bits + at, part);
        }
    }
}

/* If a string is missing, `io` records the error. */
static petal_status load_part(RedisModuleIO *io, struct value *value, uint32_t layer, uint64_t at,
                              uint64_t *size_bytes, petal_error *error)
{
    size_t part = 0;
    char *bits = server.LoadStringBuffer(io, &part);
    petal_status status = server.IsIOError(io) || !bits || part == 0
                              ? PETAL_ERR_TRUNCATED
                              : petal_write_bits(value_filter(value), layer, at, bits, part, error);
    if (bits) server.Free(bits);
    *size_bytes = part;
    return status;
}

static petal_status load_bits(RedisModuleIO *io, struct value *value, uint32_t layer,
                              petal_error *error)
{
    uint64_t size_bytes = server.LoadUnsigned(io), part;
    petal_status status = PETAL_OK;
    if (server.IsIOError(io)) return PETAL_ERR_TRUNCATED;
    for (uint64_t at = 0; status == PETAL_OK && at < size_bytes; at += part)
        status = load_part(io, value, layer, at, &part, error);
    return status;
}

static void *load_petal(RedisModuleIO *io, int encver)
{
    struct failure failure = {.error = {.message = "a value of a newer version, or cut off"}};
    size_t size_bytes = 0;
    if (encver != PETAL_ENCVER) return NULL;
    char *header = server.LoadStringBuffer(io, &size_bytes);
    if (server.IsIOError(io) || !header) return NULL;
    struct value *value = value_open(header, size_bytes, 0, is_loading(), &failure);
    server.Free(header);
    petal_status status = value ? PETAL_OK : PETAL_ERR_DAMAGED;
    if (value && value_over_limit(value, value_info(value, PETAL_ALL_LAYERS).bytes)) {
        value_fail_limit(&failure, value_info(value, PETAL_ALL_LAYERS).bytes);
        status = PETAL_ERR_LIMIT;
    }
    for (uint32_t i = 0; status == PETAL_OK && i < value_layers(value); i++) {
        status = load_bits(io, value, i, &failure.error);
        uint64_t layer_bytes;
        if (status == PETAL_OK && !value_bits(value, i, &layer_bytes)) status = PETAL_ERR_TRUNCATED;
    }
    if (status == PETAL_OK) {
        value->unlimited = 0;
        return value;
    }
    server.LogIOError(io, "warning", "%s", failure_line(&failure));
    value_free(value);
    return NULL;
}

/* Writes a petal file in pieces. */
struct rewriting {
    RedisModuleIO *io;
    RedisModuleString *key;
    uint64_t at, total;
    uint8_t *piece;
    size_t filled;
};

static void emit_piece(struct rewriting *to)
{
    server.EmitAOF(to->io, "PETAL.LOAD", "ssllb", to->key, to->key, (long long)to->at,
                   (long long)to->total, to->piece, to->filled);
    to->at += to->filled;
    to->filled = 0;
}

static int32_t emit(void *context, const void *bytes, size_t size_bytes)
{
    struct rewriting *to = context;
    for (size_t at = 0, part; at < size_bytes; at += part) {
        size_t room = MAX_CHUNK_BYTES - to->filled;
        part = size_bytes - at < room ? size_bytes - at : room;
        memcpy(to->piece + to->filled, (const uint8_t *)bytes + at, part);
        to->filled += part;
        if (to->filled == MAX_CHUNK_BYTES) emit_piece(to);
    }
    return 0;
}

static void rewrite_petal(RedisModuleIO *io, RedisModuleString *key, void *memory)
{
    const struct value *value = memory;
    struct rewriting to = {.io = io, .key = key};
    to.total = petal_serialized_bytes(value_filter(value), NULL);
    to.piece = server.Alloc(MAX_CHUNK_BYTES);
    if (petal_write(value_filter(value), NULL, emit, &to, NULL) == PETAL_OK && to.filled)
        emit_piece(&to);
    server.Free(to.piece);
}

/* ---- all types ------------------------------------------------------------------------------- */

/* Memory that the server also allocates for a module's value, but that MEMORY USAGE leaves out: an
 * object, and its pointers to value and type. */
enum { OBJECT_BYTES = 16 + 16 };

static size_t memory_usage(const void *memory)
{
    const struct value *value = memory;
    return (size_t)value_bytes(value) + OBJECT_BYTES;
}

/* The digest is the same for equal filters on any server. It omits the growth factor of a filter
 * that never grows, because that is just the server's default. */
static void digest(RedisModuleDigest *digest, void *memory)
{
    const struct value *value = memory;
    size_t header_bytes;
    uint8_t *header = value_header(value, &header_bytes);
    if (!header) return;
    if (value->classic && value->options & BLOOM_NO_SCALING) store_little(header + AT_GROWTH, 0, 4);
    server.DigestAddStringBuffer(digest, (const char *)header, header_bytes);
    server.Free(header);
    for (uint32_t i = 0; i < value_layers(value); i++) {
        uint64_t size_bytes;
        const uint8_t *bits = value_bits(value, i, &size_bytes);
        server.DigestAddStringBuffer(digest, (const char *)bits, size_bytes);
    }
    server.DigestEndSequence(digest);
}

/* Counts pages and blocks. If this is more than 64, the server frees the value in the
 * background. */
static size_t free_effort(RedisModuleString *key, const void *memory)
{
    (void)key;
    return 1 + value_layers(memory) + (size_t)(value_bytes(memory) >> 12);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *memory)
{
    (void)from;
    (void)to;
    return value_copy(memory);
}

static void *move(void *context, void *memory, size_t size_bytes)
{
    (void)size_bytes;
    void *to = server.DefragAlloc(context, memory);
    atomic_fetch_add(to ? &totals.moved : &totals.stayed, 1);
    return to;
}

static void *moved(RedisModuleDefragCtx *ctx, void *memory)
{
    void *to = memory ? move(ctx, memory, 0) : NULL;
    return to ? to : memory;
}

/* Defragments in one step: the allocator moves only blocks that share pages (up to 14 KiB), and a
 * filter has only a few of those per layer. A handle is not moved, because its filter's allocator
 * points to it; for the same reason, neither is the value that the handle points to. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **memory)
{
    (void)key;
    struct value *value = *memory;
    if (value->classic && !config.bloom_defrag) return 0;
    if (!value->classic) {
        petal_relocate(&value->handle->filter, move, ctx, NULL);
        return 0;
    }
    handle_forget(value);
    *memory = value = moved(ctx, value);
    value->layers = moved(ctx, value->layers);
    for (uint32_t i = 0; i < value->layer_count; i++)
        value->layers[i].bytes = moved(ctx, value->layers[i].bytes);
    return 0;
}

int types_register(RedisModuleCtx *ctx)
{
    struct module_type_methods methods = {.version = 4,
                                          .rdb_load = load_bloom,
                                          .rdb_save = save_bloom,
                                          .aof_rewrite = rewrite_bloom,
                                          .mem_usage = memory_usage,
                                          .digest = digest,
                                          .free = value_free,
                                          .free_effort = free_effort,
                                          .copy = copy,
                                          .defrag = defrag};
    if (!config.petal_only) {
        struct module_type_methods of_valkey = methods;
        of_valkey.rdb_load = valkey_load;
        of_valkey.rdb_save = valkey_save;
        of_valkey.aof_rewrite = valkey_rewrite;
        of_valkey.digest = valkey_digest;
        bloom_type = server.CreateDataType(ctx, "MBbloom--", BLOOM_ENCVER, &methods);
        valkey_type = server.CreateDataType(ctx, "bloomfltr", VALKEY_ENCVER, &of_valkey);
    }
    methods.rdb_load = load_petal;
    methods.rdb_save = save_petal;
    methods.aof_rewrite = rewrite_petal;
    petal_type = server.CreateDataType(ctx, "petal-flt", PETAL_ENCVER, &methods);
    if (value_make_handles() && ((bloom_type && valkey_type) || config.petal_only) && petal_type &&
        parts_register(ctx) == MODULE_OK)
        return MODULE_OK;
    server.Log(ctx, "warning", "the module's types are there already: another copy is loaded");
    return MODULE_ERR;
}

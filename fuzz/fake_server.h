/* fake_server.h - a server for the module redis/petal.so, in the fuzzer's process. It implements
 * the part of the module API that redis/server.h declares, and keeps a few keys. Stored values are
 * bytes from the input.
 *
 * In a stored value, numbers and doubles take 8 bytes, and a string is a 4-byte length followed by
 * its bytes. All numbers are little-endian. */
#ifndef PETAL_FUZZ_FAKE_SERVER_H
#define PETAL_FUZZ_FAKE_SERVER_H

#include "common.h"
#include "config.h"
#include "input.h"

#include <stdarg.h>

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

#define KEYS 4u
#define MAX_REPLIES 64u
#define MAX_TRIED_BYTES ((size_t)1 << 21) /* larger values would only take time */
#define MAX_BLOCK_BYTES ((size_t)1 << 25)

struct RedisModuleString {
    size_t size_bytes;
    char *bytes; /* a zero byte follows, not counted here */
};
struct RedisModuleType {
    int encver;
    struct module_type_methods methods;
};
struct RedisModuleKey {
    RedisModuleType *type;
    void *value;
};
struct RedisModuleIO {
    struct input *from; /* when reading */
    uint8_t *to;        /* when writing */
    size_t size_bytes, room;
    int failed;
};
struct RedisModuleDigest {
    uint64_t sum;
};
struct RedisModuleCtx {
    int (*get_api)(const char *name, void *function);
    int is_error;     /* true if the reply contains an error */
    uint32_t replies; /* number of elements in `numbers` */
    long long numbers[MAX_REPLIES];
    RedisModuleString text; /* the reply's last string */
};

static struct {
    struct RedisModuleKey keys[KEYS];
    RedisModuleType types[4];
    uint32_t types_count;
    struct {
        char name[32];
        module_command function;
    } commands[64];
    uint32_t command_count;
    int context_flags;
    uint64_t blocks; /* number of blocks that the module has allocated */
} fake;

static const char *const key_names[KEYS] = {"a", "b", "c", "d"};

/* ---- memory: blocks know their size ---------------------------------------------------------- */

#define BLOCK_HEAD 16u

static void *head(uint8_t *block, size_t size_bytes)
{
    must(block);
    memcpy(block, &size_bytes, sizeof size_bytes);
    fake.blocks++;
    return block + BLOCK_HEAD;
}

static void *fake_TryCalloc(size_t count, size_t size_bytes)
{
    if (size_bytes > MAX_TRIED_BYTES / (count ? count : 1)) return NULL;
    return head(calloc(1, BLOCK_HEAD + count * size_bytes), count * size_bytes);
}

static void *fake_TryAlloc(size_t size_bytes)
{
    return fake_TryCalloc(1, size_bytes);
}

/* Aborts if memory runs out, as a server does. */
static void *fake_Alloc(size_t size_bytes)
{
    must(size_bytes <= MAX_BLOCK_BYTES);
    return head(malloc(BLOCK_HEAD + size_bytes), size_bytes);
}

static void fake_Free(void *memory)
{
    if (!memory) return;
    fake.blocks--;
    free((uint8_t *)memory - BLOCK_HEAD);
}

static size_t fake_MallocSize(void *memory)
{
    size_t size_bytes = 0;
    if (memory) memcpy(&size_bytes, (uint8_t *)memory - BLOCK_HEAD, sizeof size_bytes);
    return size_bytes;
}

static void *fake_Realloc(void *memory, size_t size_bytes)
{
    size_t old_bytes = fake_MallocSize(memory);
    void *to = fake_Alloc(size_bytes);
    if (old_bytes) memcpy(to, memory, old_bytes < size_bytes ? old_bytes : size_bytes);
    fake_Free(memory);
    return to;
}

static void *fake_DefragAlloc(RedisModuleDefragCtx *ctx, void *memory)
{
    size_t size_bytes;
    (void)ctx;
    memcpy(&size_bytes, (uint8_t *)memory - BLOCK_HEAD, sizeof size_bytes);
    void *to = fake_Alloc(size_bytes);
    memcpy(to, memory, size_bytes);
    fake_Free(memory);
    return to;
}

/* ---- strings, keys --------------------------------------------------------------------------- */

static void set_text(RedisModuleString *to, const char *bytes, size_t size_bytes)
{
    char *copy = malloc(size_bytes + 1);
    must(copy);
    memcpy(copy, bytes, size_bytes);
    copy[size_bytes] = 0;
    free(to->bytes);
    *to = (RedisModuleString){size_bytes, copy};
}

static RedisModuleString *fake_CreateString(RedisModuleCtx *ctx, const char *bytes, size_t size)
{
    RedisModuleString *made = calloc(1, sizeof *made);
    (void)ctx;
    must(made);
    set_text(made, bytes, size);
    return made;
}

static void fake_FreeString(RedisModuleCtx *ctx, RedisModuleString *string)
{
    (void)ctx;
    if (string) free(string->bytes);
    free(string);
}

static const char *fake_StringPtrLen(const RedisModuleString *string, size_t *size)
{
    if (size) *size = string->size_bytes;
    return string->bytes;
}

static int fake_StringToLongLong(const RedisModuleString *string, long long *number)
{
    char *end, again[32];
    *number = strtoll(string->bytes, &end, 10);
    snprintf(again, sizeof again, "%lld", *number);
    return end == string->bytes || strcmp(again, string->bytes) ? MODULE_ERR : MODULE_OK;
}

static int fake_StringToDouble(const RedisModuleString *string, double *number)
{
    char *end;
    *number = strtod(string->bytes, &end);
    return end == string->bytes || *end || *number != *number ? MODULE_ERR : MODULE_OK;
}

static void delete_key(RedisModuleKey *key)
{
    if (key->type) key->type->methods.free(key->value);
    *key = (struct RedisModuleKey){NULL, NULL};
}

static RedisModuleKey *fake_OpenKey(RedisModuleCtx *ctx, RedisModuleString *name, int mode)
{
    (void)ctx;
    (void)mode;
    for (uint32_t i = 0; i < KEYS; i++)
        if (!strcmp(name->bytes, key_names[i])) return &fake.keys[i];
    return &fake.keys[0];
}

static void fake_CloseKey(RedisModuleKey *key)
{
    (void)key;
}

static int fake_KeyType(RedisModuleKey *key)
{
    return key->type ? 6 : KEY_TYPE_EMPTY;
}

static int fake_DeleteKey(RedisModuleKey *key)
{
    delete_key(key);
    return MODULE_OK;
}

static int fake_ModuleTypeSetValue(RedisModuleKey *key, RedisModuleType *type, void *value)
{
    delete_key(key);
    *key = (struct RedisModuleKey){type, value};
    return MODULE_OK;
}

static RedisModuleType *fake_ModuleTypeGetType(RedisModuleKey *key)
{
    return key->type;
}

static void *fake_ModuleTypeGetValue(RedisModuleKey *key)
{
    return key->value;
}

/* ---- replies --------------------------------------------------------------------------------- */

static int fake_ReplyWithError(RedisModuleCtx *ctx, const char *line)
{
    must(line[0] && !strchr(line, '\n'));
    ctx->is_error = 1;
    return MODULE_OK;
}

static int fake_WrongArity(RedisModuleCtx *ctx)
{
    return fake_ReplyWithError(ctx, "wrong number of arguments");
}

static int fake_ReplyWithStringBuffer(RedisModuleCtx *ctx, const char *bytes, size_t size_bytes)
{
    set_text(&ctx->text, bytes, size_bytes);
    return MODULE_OK;
}

static int fake_ReplyWithSimpleString(RedisModuleCtx *ctx, const char *text)
{
    (void)ctx;
    must(text);
    return MODULE_OK;
}

static int fake_ReplyWithLongLong(RedisModuleCtx *ctx, long long number)
{
    if (ctx->replies < MAX_REPLIES) ctx->numbers[ctx->replies++] = number;
    return MODULE_OK;
}

static int fake_ReplyWithBool(RedisModuleCtx *ctx, int yes)
{
    return fake_ReplyWithLongLong(ctx, yes);
}

static int fake_ReplyWithNull(RedisModuleCtx *ctx)
{
    (void)ctx;
    return MODULE_OK;
}

static int fake_ReplyWithDouble(RedisModuleCtx *ctx, double number)
{
    (void)ctx;
    (void)number;
    return MODULE_OK;
}

static int fake_ReplyWithArray(RedisModuleCtx *ctx, long count)
{
    (void)ctx;
    must(count >= 0);
    return MODULE_OK;
}

static int fake_ReplyWithMap(RedisModuleCtx *ctx, long count)
{
    return fake_ReplyWithArray(ctx, count);
}

/* ---- stored values --------------------------------------------------------------------------- */

static uint64_t fake_LoadUnsigned(RedisModuleIO *io)
{
    if (io->from->left < 8) io->failed = 1;
    return io->failed ? 0 : take(io->from, 8);
}

static double fake_LoadDouble(RedisModuleIO *io)
{
    double number;
    uint64_t bits = fake_LoadUnsigned(io);
    memcpy(&number, &bits, sizeof number);
    return number;
}

static char *fake_LoadStringBuffer(RedisModuleIO *io, size_t *size_bytes)
{
    *size_bytes = 0;
    if (io->from->left < 4) io->failed = 1;
    uint64_t size = io->failed ? 0 : take(io->from, 4);
    if (size > io->from->left) io->failed = 1;
    if (io->failed) return NULL;
    char *bytes = fake_Alloc(size ? (size_t)size : 1);
    if (size) memcpy(bytes, io->from->data, (size_t)size);
    io->from->data += size;
    io->from->left -= (size_t)size;
    *size_bytes = (size_t)size;
    return bytes;
}

static void save_bytes(RedisModuleIO *io, const void *bytes, size_t size_bytes)
{
    if (io->room - io->size_bytes < size_bytes) {
        io->room = 2 * io->room + size_bytes;
        io->to = realloc(io->to, io->room);
        must(io->to);
    }
    if (size_bytes) memcpy(io->to + io->size_bytes, bytes, size_bytes);
    io->size_bytes += size_bytes;
}

static void save_little(RedisModuleIO *io, uint64_t number, unsigned bytes)
{
    uint8_t little[8];
    for (unsigned i = 0; i < bytes; i++) little[i] = (uint8_t)(number >> 8 * i);
    save_bytes(io, little, bytes);
}

static void fake_SaveUnsigned(RedisModuleIO *io, uint64_t number)
{
    save_little(io, number, 8);
}

static void fake_SaveDouble(RedisModuleIO *io, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    save_little(io, bits, 8);
}

static void fake_SaveStringBuffer(RedisModuleIO *io, const char *bytes, size_t size_bytes)
{
    save_little(io, size_bytes, 4);
    save_bytes(io, bytes, size_bytes);
}

static int fake_IsIOError(RedisModuleIO *io)
{
    return io->failed;
}

static void fake_DigestAddStringBuffer(RedisModuleDigest *to, const char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        to->sum = (to->sum ^ (uint8_t)bytes[i]) * 0x100000001b3u + size_bytes;
}

static void fake_DigestAddLongLong(RedisModuleDigest *to, long long number)
{
    to->sum = (to->sum ^ (uint64_t)number) * 0x100000001b3u;
}

static void fake_DigestEndSequence(RedisModuleDigest *to)
{
    to->sum *= 31;
}

/* While a value is rewritten as commands, the fake server executes each command immediately, on the
 * key fake_rewritten. */
static RedisModuleString *fake_rewritten;
static module_command find_command(const char *name);

static void fake_EmitAOF(RedisModuleIO *io, const char *command, const char *format, ...)
{
    struct RedisModuleCtx ctx = {.is_error = 0};
    RedisModuleString name = {0, NULL}, *argv[8] = {&name};
    RedisModuleString made[8] = {{0, NULL}};
    char number[32];
    int argc = 1;
    va_list list;
    (void)io;
    va_start(list, format);
    for (const char *kind = format; *kind; kind++, argc++) {
        if (*kind == 's') {
            (void)va_arg(list, RedisModuleString *);
            set_text(&made[argc], fake_rewritten->bytes, fake_rewritten->size_bytes);
        } else if (*kind == 'l') {
            snprintf(number, sizeof number, "%lld", va_arg(list, long long));
            set_text(&made[argc], number, strlen(number));
        } else {
            const char *bytes = va_arg(list, const char *);
            set_text(&made[argc], bytes, va_arg(list, size_t));
        }
        argv[argc] = &made[argc];
    }
    va_end(list);
    find_command(command)(&ctx, argv, argc);
    must(!ctx.is_error);
    free(ctx.text.bytes);
    for (int i = 1; i < argc; i++) free(made[i].bytes);
}

/* ---- functions without an effect ------------------------------------------------------------- */

static void fake_SetModuleAttribs(RedisModuleCtx *ctx, const char *name, int version, int api)
{
    (void)ctx, (void)name, (void)version, (void)api;
}
static int fake_IsModuleNameBusy(const char *name)
{
    return name == NULL;
}
static int fake_GetModuleOptionsAll(void)
{
    return OPTION_HANDLE_REPL_ASYNC_LOAD;
}

static void fake_SetModuleOptions(RedisModuleCtx *ctx, int options)
{
    (void)ctx, (void)options;
}
static void fake_Log(RedisModuleCtx *ctx, const char *level, const char *format, ...)
{
    (void)ctx, (void)level, (void)format;
}
static void fake_LogIOError(RedisModuleIO *io, const char *level, const char *format, ...)
{
    (void)io, (void)level, (void)format;
}
static int fake_GetContextFlags(RedisModuleCtx *ctx)
{
    (void)ctx;
    return fake.context_flags;
}
static int fake_Replicate(RedisModuleCtx *ctx, const char *command, const char *format, ...)
{
    (void)ctx, (void)command, (void)format;
    return MODULE_OK;
}
static int fake_ReplicateVerbatim(RedisModuleCtx *ctx)
{
    (void)ctx;
    return MODULE_OK;
}
static int fake_NotifyKeyspaceEvent(RedisModuleCtx *ctx, int type, const char *event,
                                    RedisModuleString *key)
{
    (void)ctx, (void)type, (void)event, (void)key;
    return MODULE_OK;
}
static int fake_SignalModifiedKey(RedisModuleCtx *ctx, RedisModuleString *key)
{
    (void)ctx, (void)key;
    return MODULE_OK;
}
static RedisModuleCtx *fake_GetThreadSafeContext(void *client)
{
    (void)client;
    return NULL;
}
static void fake_FreeThreadSafeContext(RedisModuleCtx *ctx)
{
    (void)ctx;
}
static RedisModuleCallReply *fake_Call(RedisModuleCtx *ctx, const char *command, const char *format,
                                       ...)
{
    (void)ctx, (void)command, (void)format;
    return NULL;
}
static RedisModuleCallReply *fake_CallReplyArrayElement(RedisModuleCallReply *reply, size_t at)
{
    (void)at;
    return reply;
}
static const char *fake_CallReplyStringPtr(RedisModuleCallReply *reply, size_t *size)
{
    (void)reply;
    *size = 0;
    return NULL;
}
static void fake_FreeCallReply(RedisModuleCallReply *reply)
{
    (void)reply;
}
static int fake_RegisterInfoFunc(RedisModuleCtx *ctx, void (*show)(RedisModuleInfoCtx *, int))
{
    (void)ctx, (void)show;
    return MODULE_OK;
}
static int fake_InfoAddSection(RedisModuleInfoCtx *ctx, const char *name)
{
    (void)ctx, (void)name;
    return MODULE_OK;
}
static int fake_InfoAddFieldCString(RedisModuleInfoCtx *ctx, const char *name, const char *text)
{
    (void)ctx, (void)name, (void)text;
    return MODULE_OK;
}
static int fake_InfoAddFieldULongLong(RedisModuleInfoCtx *ctx, const char *name,
                                      unsigned long long number)
{
    (void)ctx, (void)name, (void)number;
    return MODULE_OK;
}
static int fake_RegisterNumericConfig(RedisModuleCtx *ctx, const char *name, long long value,
                                      unsigned flags, long long min, long long max,
                                      module_get_number get, module_set_number set,
                                      module_apply apply, void *context)
{
    (void)ctx, (void)flags, (void)set, (void)apply;
    must(value >= min && value <= max && get(name, context) == value);
    return MODULE_OK;
}
static int fake_RegisterStringConfig(RedisModuleCtx *ctx, const char *name, const char *value,
                                     unsigned flags, module_get_string get, module_set_string set,
                                     module_apply apply, void *context)
{
    (void)ctx, (void)name, (void)value, (void)flags, (void)get, (void)set, (void)apply;
    (void)context;
    return MODULE_OK;
}
static int fake_RegisterEnumConfig(RedisModuleCtx *ctx, const char *name, int value, unsigned flags,
                                   const char **names, const int *values, int count,
                                   module_get_enum get, module_set_enum set, module_apply apply,
                                   void *context)
{
    (void)ctx, (void)name, (void)value, (void)flags, (void)names, (void)values, (void)count;
    (void)get, (void)set, (void)apply, (void)context;
    return MODULE_OK;
}
static int fake_LoadConfigs(RedisModuleCtx *ctx)
{
    (void)ctx;
    return MODULE_OK;
}
static int fake_GetServerVersion(void)
{
    return 0x070000;
}
static void fake_GetRandomBytes(unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++) bytes[i] = (unsigned char)(17 * i);
}
static long long fake_Milliseconds(void)
{
    return 1000;
}
static int fake_SetCommandInfo(RedisModuleCommand *command, const struct module_command_info *info)
{
    (void)command, (void)info;
    return MODULE_OK;
}
static int fake_AddACLCategory(RedisModuleCtx *ctx, const char *name)
{
    (void)ctx, (void)name;
    return MODULE_OK;
}
static int fake_SetCommandACLCategories(RedisModuleCommand *command, const char *names)
{
    (void)command, (void)names;
    return MODULE_OK;
}

/* ---- loading the module ---------------------------------------------------------------------- */

static RedisModuleType *fake_CreateDataType(RedisModuleCtx *ctx, const char *name, int encver,
                                            struct module_type_methods *methods)
{
    (void)ctx;
    must(strlen(name) == 9 && fake.types_count < sizeof fake.types / sizeof *fake.types);
    fake.types[fake.types_count] = (RedisModuleType){encver, *methods};
    return &fake.types[fake.types_count++];
}

static int fake_CreateCommand(RedisModuleCtx *ctx, const char *name, module_command function,
                              const char *flags, int first, int last, int step)
{
    (void)ctx, (void)flags, (void)first, (void)last, (void)step;
    must(fake.command_count < sizeof fake.commands / sizeof *fake.commands);
    snprintf(fake.commands[fake.command_count].name, 32, "%s", name);
    fake.commands[fake.command_count++].function = function;
    return MODULE_OK;
}

static RedisModuleCommand *fake_GetCommand(RedisModuleCtx *ctx, const char *name)
{
    (void)name;
    return (RedisModuleCommand *)(void *)ctx; /* the fake server only returns this pointer */
}

static module_command find_command(const char *name)
{
    for (uint32_t i = 0; i < fake.command_count; i++) {
        size_t at = 0;
        const char *known = fake.commands[i].name;
        while (known[at] && (known[at] | 32) == (name[at] | 32)) at++;
        if (!known[at] && !name[at]) return fake.commands[i].function;
    }
    must(0);
    return NULL;
}

static int fake_get_api(const char *name, void *function)
{
    typedef void any(void);
#define MODULE_CALL(result, call, arguments) {"RedisModule_" #call, (any *)fake_##call},
    static const struct {
        const char *name;
        any *function;
    } calls[] = {MODULE_REQUIRED(MODULE_CALL) MODULE_OPTIONAL(MODULE_CALL)};
#undef MODULE_CALL
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(name, calls[i].name)) {
            memcpy(function, &calls[i].function, sizeof calls[i].function);
            return MODULE_OK;
        }
    return MODULE_ERR;
}

#endif

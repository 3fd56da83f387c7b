/* server.h - the part of the servers' module API that this module uses (Redis 7.0 and later, Valkey
 * 7.2 and later). The declarations are ours, and the calls are looked up by name when the module is
 * loaded, so one binary works with every server. A call listed under OPTIONAL is NULL if the server
 * lacks it; if any other call is missing, the module is not loaded. */
#ifndef PETAL_REDIS_SERVER_H
#define PETAL_REDIS_SERVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleCallReply RedisModuleCallReply;

enum { MODULE_OK = 0, MODULE_ERR = 1, MODULE_API_VERSION = 1 };

/* OpenKey. */
enum { KEY_READ = 1, KEY_WRITE = 2 };
/* KeyType. */
enum { KEY_TYPE_EMPTY = 0 };

/* GetContextFlags: contexts in which a command must not fail, since it succeeded elsewhere. */
#define CTX_REPLICA (1 << 3)
#define CTX_REPLICATED (1 << 12)
#define CTX_LOADING (1 << 13)
#define CTX_IS_CHILD (1 << 20)
#define CTX_RESP3 (1 << 22)

/* SetModuleOptions. */
#define OPTION_HANDLE_IO_ERRORS (1 << 0)
#define OPTION_NO_IMPLICIT_SIGNAL_MODIFIED (1 << 1)
#define OPTION_HANDLE_REPL_ASYNC_LOAD (1 << 2)
/* In Valkey 9, keys may arrive before their slot does. Until the slot arrives, nobody queries them.
 * A server that receives them as commands executes them as a replica would. */
#define OPTION_HANDLE_SLOT_MIGRATION (1 << 5)

#define NOTIFY_GENERIC (1 << 2)

/* Register*Config. */
#define CONFIG_DEFAULT 0u
#define CONFIG_IMMUTABLE (1u << 0)
#define CONFIG_MEMORY (1u << 7)
#define CONFIG_UNPREFIXED (1u << 9) /* Redis 8.0 and later */

#define TEXT_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef int (*module_command)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

struct module_type_methods {
    uint64_t version; /* 4 includes everything up to copy2; Redis 7.0 has it */
    void *(*rdb_load)(RedisModuleIO *io, int encver);
    void (*rdb_save)(RedisModuleIO *io, void *value);
    void (*aof_rewrite)(RedisModuleIO *io, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *io, int encver, int when);
    void (*aux_save)(RedisModuleIO *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
    size_t (*mem_usage2)(void *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(void *ctx, const void *value);
    void (*unlink2)(void *ctx, const void *value);
    void *(*copy2)(void *ctx, const void *value);
};

/* SetCommandInfo. */
enum { ARG_STRING, ARG_INTEGER, ARG_DOUBLE, ARG_KEY, ARG_PURE_TOKEN = 6, ARG_ONEOF, ARG_BLOCK };
enum { ARG_OPTIONAL = 1, ARG_MULTIPLE = 2 };
enum { KEY_SPEC_INDEX = 2, KEY_SPEC_RANGE = 2 };
#define KEY_SPEC_RO (1u << 0)
#define KEY_SPEC_RW (1u << 1)
#define KEY_SPEC_ACCESS (1u << 4)
#define KEY_SPEC_UPDATE (1u << 5)
#define KEY_SPEC_INSERT (1u << 6)

struct module_argument {
    const char *name;
    int type;
    int key_spec_index;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct module_argument *subargs;
    const char *display_text;
};

struct module_history {
    const char *since, *changes;
};

struct module_key_spec {
    const char *notes;
    uint64_t flags;
    int begin_search;
    union {
        int index;
        struct {
            const char *keyword;
            int start_from;
        } keyword;
    } begin;
    int find_keys;
    union {
        struct {
            int last_key, key_step, limit;
        } range;
        int numbered[3];
    } find;
};

struct module_info_version {
    int version;
    size_t history_bytes, key_spec_bytes, argument_bytes;
};

struct module_command_info {
    const struct module_info_version *version;
    const char *summary, *complexity, *since;
    struct module_history *history;
    const char *tips;
    int arity;
    struct module_key_spec *key_specs;
    struct module_argument *args;
};

typedef RedisModuleString *(*module_get_string)(const char *name, void *context);
typedef int (*module_set_string)(const char *name, RedisModuleString *value, void *context,
                                 RedisModuleString **error);
typedef long long (*module_get_number)(const char *name, void *context);
typedef int (*module_set_number)(const char *name, long long value, void *context,
                                 RedisModuleString **error);
typedef int (*module_get_enum)(const char *name, void *context);
typedef int (*module_set_enum)(const char *name, int value, void *context,
                               RedisModuleString **error);
typedef int (*module_apply)(RedisModuleCtx *ctx, void *context, RedisModuleString **error);

/* CALL(result, name, arguments): the function that the server calls RedisModule_NAME. */
#define MODULE_REQUIRED(CALL) \
    CALL(void, SetModuleAttribs, (RedisModuleCtx *, const char *name, int version, int api)) \
    CALL(int, IsModuleNameBusy, (const char *name)) \
    CALL(int, CreateCommand, \
         (RedisModuleCtx *, const char *name, module_command, const char *flags, int first, \
          int last, int step)) \
    CALL(void, SetModuleOptions, (RedisModuleCtx *, int options)) \
    CALL(void, Log, (RedisModuleCtx *, const char *level, const char *format, ...)) \
    CALL(int, GetContextFlags, (RedisModuleCtx *)) \
    CALL(void *, Alloc, (size_t)) \
    CALL(void *, Realloc, (void *, size_t)) \
    CALL(void, Free, (void *)) \
    CALL(size_t, MallocSize, (void *)) \
    CALL(int, WrongArity, (RedisModuleCtx *)) \
    CALL(int, ReplyWithError, (RedisModuleCtx *, const char *)) \
    CALL(int, ReplyWithSimpleString, (RedisModuleCtx *, const char *)) \
    CALL(int, ReplyWithStringBuffer, (RedisModuleCtx *, const char *, size_t)) \
    CALL(int, ReplyWithLongLong, (RedisModuleCtx *, long long)) \
    CALL(int, ReplyWithBool, (RedisModuleCtx *, int)) \
    CALL(int, ReplyWithNull, (RedisModuleCtx *)) \
    CALL(int, ReplyWithDouble, (RedisModuleCtx *, double)) \
    CALL(int, ReplyWithArray, (RedisModuleCtx *, long)) \
    CALL(int, ReplyWithMap, (RedisModuleCtx *, long)) \
    CALL(int, Replicate, (RedisModuleCtx *, const char *command, const char *format, ...)) \
    CALL(int, ReplicateVerbatim, (RedisModuleCtx *)) \
    CALL(int, NotifyKeyspaceEvent, \
         (RedisModuleCtx *, int type, const char *event, RedisModuleString *key)) \
    CALL(int, SignalModifiedKey, (RedisModuleCtx *, RedisModuleString * key)) \
    CALL(const char *, StringPtrLen, (const RedisModuleString *, size_t *)) \
    CALL(int, StringToLongLong, (const RedisModuleString *, long long *)) \
    CALL(int, StringToDouble, (const RedisModuleString *, double *)) \
    CALL(RedisModuleString *, CreateString, (RedisModuleCtx *, const char *, size_t)) \
    CALL(void, FreeString, (RedisModuleCtx *, RedisModuleString *)) \
    CALL(RedisModuleKey *, OpenKey, (RedisModuleCtx *, RedisModuleString *, int mode)) \
    CALL(void, CloseKey, (RedisModuleKey *)) \
    CALL(int, KeyType, (RedisModuleKey *)) \
    CALL(int, DeleteKey, (RedisModuleKey *)) \
    CALL(RedisModuleType *, CreateDataType, \
         (RedisModuleCtx *, const char *name, int encver, struct module_type_methods *)) \
    CALL(int, ModuleTypeSetValue, (RedisModuleKey *, RedisModuleType *, void *)) \
    CALL(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *)) \
    CALL(void *, ModuleTypeGetValue, (RedisModuleKey *)) \
    CALL(int, IsIOError, (RedisModuleIO *)) \
    CALL(void, LogIOError, (RedisModuleIO *, const char *level, const char *format, ...)) \
    CALL(void, SaveUnsigned, (RedisModuleIO *, uint64_t)) \
    CALL(uint64_t, LoadUnsigned, (RedisModuleIO *)) \
    CALL(void, SaveDouble, (RedisModuleIO *, double)) \
    CALL(double, LoadDouble, (RedisModuleIO *)) \
    CALL(void, SaveStringBuffer, (RedisModuleIO *, const char *, size_t)) \
    CALL(char *, LoadStringBuffer, (RedisModuleIO *, size_t *)) \
    CALL(RedisModuleCtx *, GetThreadSafeContext, (void *blocked_client)) \
    CALL(void, FreeThreadSafeContext, (RedisModuleCtx *)) \
    CALL(RedisModuleCallReply *, Call, \
         (RedisModuleCtx *, const char *command, const char *format, ...)) \
    CALL(RedisModuleCallReply *, CallReplyArrayElement, (RedisModuleCallReply *, size_t)) \
    CALL(const char *, CallReplyStringPtr, (RedisModuleCallReply *, size_t *)) \
    CALL(void, FreeCallReply, (RedisModuleCallReply *)) \
    CALL(void, EmitAOF, (RedisModuleIO *, const char *command, const char *format, ...)) \
    CALL(void, DigestAddStringBuffer, (RedisModuleDigest *, const char *, size_t)) \
    CALL(void, DigestAddLongLong, (RedisModuleDigest *, long long)) \
    CALL(void, DigestEndSequence, (RedisModuleDigest *)) \
    CALL(int, RegisterInfoFunc, \
         (RedisModuleCtx *, void (*)(RedisModuleInfoCtx *, int for_crash_report))) \
    CALL(int, InfoAddSection, (RedisModuleInfoCtx *, const char *)) \
    CALL(int, InfoAddFieldCString, (RedisModuleInfoCtx *, const char *, const char *)) \
    CALL(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *, const char *, unsigned long long)) \
    CALL(void *, DefragAlloc, (RedisModuleDefragCtx *, void *)) \
    CALL(int, RegisterNumericConfig, \
         (RedisModuleCtx *, const char *name, long long value, unsigned flags, long long min, \
          long long max, module_get_number, module_set_number, module_apply, void *context)) \
    CALL(int, RegisterStringConfig, \
         (RedisModuleCtx *, const char *name, const char *value, unsigned flags, \
          module_get_string, module_set_string, module_apply, void *context)) \
    CALL(int, RegisterEnumConfig, \
         (RedisModuleCtx *, const char *name, int value, unsigned flags, const char **names, \
          const int *values, int count, module_get_enum, module_set_enum, module_apply, \
          void *context)) \
    CALL(int, LoadConfigs, (RedisModuleCtx *)) \
    CALL(int, GetServerVersion, (void)) \
    CALL(void, GetRandomBytes, (unsigned char *, size_t)) \
    CALL(long long, Milliseconds, (void)) \
    CALL(RedisModuleCommand *, GetCommand, (RedisModuleCtx *, const char *)) \
    CALL(int, SetCommandInfo, (RedisModuleCommand *, const struct module_command_info *))

#define MODULE_OPTIONAL(CALL) \
    CALL(void *, TryAlloc, (size_t)) \
    CALL(void *, TryCalloc, (size_t, size_t)) \
    CALL(int, AddACLCategory, (RedisModuleCtx *, const char *)) \
    CALL(int, SetCommandACLCategories, (RedisModuleCommand *, const char *)) \
    CALL(int, GetModuleOptionsAll, (void))

struct server {
#define MODULE_CALL(result, name, arguments) result(*name) arguments;
    MODULE_REQUIRED(MODULE_CALL)
    MODULE_OPTIONAL(MODULE_CALL)
#undef MODULE_CALL
};

/* Filled in once, before anything else, and never changed. */
extern struct server server;

/* Looks up all calls. Returns NULL, or the name of a required call that is missing. */
const char *server_find_calls(RedisModuleCtx *ctx);

/* True if this server can move slots by itself (CLUSTER MIGRATESLOTS), as Valkey 9 and later
 * can. */
int server_moves_slots(void);

/* True if the command must succeed because it already succeeded elsewhere: on the master, or on the
 * server that wrote the AOF. */
int must_obey(RedisModuleCtx *ctx);

#endif

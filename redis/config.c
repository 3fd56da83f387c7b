/* config.c - see config.h.
 *
 * RedisBloom's three options have no prefix if the server allows that (Redis 8); otherwise the
 * server prepends "bf.", as it does for RedisBloom. If the module serves only PETAL.*, only the
 * options that apply to all filters exist, as petal.NAME. */
#include "config.h"

#include "valkey.h"

#include <petal/petal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct config config = {.error_rate = 0.01,
                        .initial_size = 100,
                        .expansion = 2,
                        .max_capacity = BLOOM_MAX_CAPACITY,
                        .memory_limit = 8LL << 30,
                        .compat = COMPAT_REDISBLOOM,
                        .bloom_rate = 0.01,
                        .bloom_ratio = 0.5,
                        .bloom_capacity = 100,
                        .bloom_expansion = 2,
                        .bloom_memory_limit = 128LL << 20,
                        .bloom_random = 1,
                        .bloom_defrag = 1,
                        .module = "bf"};

static long long get_number(const char *name, void *context)
{
    (void)name;
    return *(long long *)context;
}

static int set_number(const char *name, long long value, void *context, RedisModuleString **error)
{
    (void)name;
    (void)error;
    *(long long *)context = value;
    return MODULE_OK;
}

static int get_choice(const char *name, void *context)
{
    (void)name;
    return *(int *)context;
}

static int set_choice(const char *name, int value, void *context, RedisModuleString **error)
{
    (void)name;
    (void)error;
    *(int *)context = value;
    return MODULE_OK;
}

static int is_rate(const char *text, double *rate)
{
    char *end;
    *rate = strtod(text, &end);
    return end != text && !*end && *rate > 0 && *rate < 1;
}

/* An option that is a rate. */
static struct rate {
    double *number, max; /* a higher rate is lowered to `max` */
    const char *refusal;
    RedisModuleString *text; /* reply to CONFIG GET; the server does not free it */
} error_rate = {&config.error_rate, BLOOM_MAX_RATE, "the error rate must be above 0 and below 1",
                NULL},
  bloom_rate = {&config.bloom_rate, 1, VALKEY_RATE_RANGE, NULL},
  bloom_ratio = {&config.bloom_ratio, 1, VALKEY_RATIO_RANGE, NULL};

static int set_rate(const char *name, RedisModuleString *value, void *context,
                    RedisModuleString **error)
{
    const struct rate *of = context;
    double rate;
    (void)name;
    if (!is_rate(server.StringPtrLen(value, NULL), &rate)) {
        *error = server.CreateString(NULL, of->refusal, strlen(of->refusal));
        return MODULE_ERR;
    }
    *of->number = rate < of->max ? rate : of->max;
    return MODULE_OK;
}

static RedisModuleString *get_rate(const char *name, void *context)
{
    struct rate *of = context;
    char text[32];
    (void)name;
    if (of->text) server.FreeString(NULL, of->text);
    int length = snprintf(text, sizeof text, "%.15g", *of->number);
    return of->text = server.CreateString(NULL, text, (size_t)length);
}

/* ---- bf.secret-file ------------------------------------------------------------------------- */

static struct {
    RedisModuleString *path;
    uint8_t bytes[PETAL_SECRET_BYTES];
    int is_set;
} secret;

const void *config_secret(void)
{
    return secret.is_set ? secret.bytes : NULL;
}

/* 16 bytes, or 32 hex digits with an optional line ending. */
static int read_secret(const char *path)
{
    char text[2 * PETAL_SECRET_BYTES + 3]; /* digits, a line ending, and one more byte, to detect a
                                            * file that is too long */
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file) fclose(file);
    if (size == PETAL_SECRET_BYTES) memcpy(secret.bytes, text, size);
    if (size == PETAL_SECRET_BYTES) return 1;
    while (size && (text[size - 1] == '\n' || text[size - 1] == '\r')) size--;
    if (size != sizeof text - 3) return 0;
    for (size_t i = 0; i < PETAL_SECRET_BYTES; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0}, *end;
        secret.bytes[i] = (uint8_t)strtoul(pair, &end, 16);
        if (end != pair + 2) return 0;
    }
    return 1;
}

static int set_secret(const char *name, RedisModuleString *value, void *context,
                      RedisModuleString **error)
{
    static const char refusal[] = "not a secret: expected a file of 16 bytes or 32 hex digits";
    const char *path = server.StringPtrLen(value, NULL);
    (void)name;
    (void)context;
    secret.is_set = *path && read_secret(path);
    if (*path && !secret.is_set) {
        *error = server.CreateString(NULL, refusal, sizeof refusal - 1);
        return MODULE_ERR;
    }
    if (secret.path) server.FreeString(NULL, secret.path);
    secret.path = server.CreateString(NULL, path, strlen(path));
    return MODULE_OK;
}

static RedisModuleString *get_secret(const char *name, void *context)
{
    (void)name;
    (void)context;
    return secret.path;
}

/* ---- arguments and registration -------------------------------------------------------------- */

/* RedisBloom's old arguments, ERROR_RATE and INITIAL_SIZE; and COMMANDS. */
static int read_argument(RedisModuleCtx *ctx, const char *name, RedisModuleString *value)
{
    const char *text = server.StringPtrLen(value, NULL);
    if (!strcasecmp(name, "ERROR_RATE")) {
        if (is_rate(text, &config.error_rate)) return MODULE_OK;
        server.Log(ctx, "warning", "ERROR_RATE %s: must be above 0 and below 1", text);
    } else if (!strcasecmp(name, "INITIAL_SIZE")) {
        if (server.StringToLongLong(value, &config.initial_size) == MODULE_OK &&
            config.initial_size >= BLOOM_MIN_CAPACITY && config.initial_size <= BLOOM_MAX_CAPACITY)
            return MODULE_OK;
        server.Log(ctx, "warning", "INITIAL_SIZE %s: must be in the range [%lld, %lld]", text,
                   BLOOM_MIN_CAPACITY, BLOOM_MAX_CAPACITY);
    } else if (!strcasecmp(name, "COMMANDS")) {
        config.petal_only = !strcasecmp(text, "petal");
        config.module = config.petal_only ? "petal" : "bf";
        if (config.petal_only || !strcasecmp(text, "all")) return MODULE_OK;
        server.Log(ctx, "warning", "COMMANDS %s: must be all, or petal (PETAL.* without BF.*)",
                   text);
    } else {
        server.Log(ctx, "warning",
                   "unknown argument %s; the module takes ERROR_RATE rate, INITIAL_SIZE keys and "
                   "COMMANDS all|petal",
                   name);
    }
    return MODULE_ERR;
}

int config_read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    for (int i = 0; i < argc; i += 2) {
        const char *name = server.StringPtrLen(argv[i], NULL);
        if (i + 1 == argc) {
            server.Log(ctx, "warning", "argument %s lacks its value", name);
            return MODULE_ERR;
        }
        if (read_argument(ctx, name, argv[i + 1]) != MODULE_OK) return MODULE_ERR;
    }
    return MODULE_OK;
}

static int register_rate(RedisModuleCtx *ctx, const char *name, unsigned flags, struct rate *rate)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", *rate->number);
    return server.RegisterStringConfig(ctx, name, text, flags, get_rate, set_rate, NULL, rate);
}

static int register_choice(RedisModuleCtx *ctx, const char *name, unsigned flags, int *choice)
{
    static const char *no_yes[] = {"no", "yes"};
    static const int zero_one[] = {0, 1};
    return server.RegisterEnumConfig(ctx, name, *choice, flags, no_yes, zero_one, 2, get_choice,
                                     set_choice, NULL, choice);
}

static int register_number(RedisModuleCtx *ctx, const char *name, unsigned flags, long long min,
                           long long max, long long *number)
{
    return server.RegisterNumericConfig(ctx, name, *number, flags, min, max, get_number, set_number,
                                        NULL, number);
}

/* Only for BF.*. */
static int register_bloom(RedisModuleCtx *ctx)
{
    static const char *names[] = {"redisbloom", "valkey"};
    static const int values[] = {COMPAT_REDISBLOOM, COMPAT_VALKEY};
    unsigned bare = server.GetServerVersion() >= 0x080000 ? CONFIG_UNPREFIXED : CONFIG_DEFAULT;
    return register_rate(ctx, "bf-error-rate", bare, &error_rate) ||
           register_number(ctx, "bf-initial-size", bare, BLOOM_MIN_CAPACITY, BLOOM_MAX_CAPACITY,
                           &config.initial_size) ||
           register_number(ctx, "bf-expansion-factor", bare, 0, BLOOM_MAX_EXPANSION,
                           &config.expansion) ||
           register_number(ctx, "max-capacity", CONFIG_DEFAULT, 1, PETAL_MAX_CAPACITY,
                           &config.max_capacity) ||
           server.RegisterEnumConfig(ctx, "compat", config.compat, CONFIG_DEFAULT, names, values, 2,
                                     get_choice, set_choice, NULL, &config.compat);
}

/* valkey-bloom's options, with its names, defaults and limits. */
static int register_valkey(RedisModuleCtx *ctx)
{
    return register_rate(ctx, "bloom-fp-rate", CONFIG_DEFAULT, &bloom_rate) ||
           register_rate(ctx, "bloom-tightening-ratio", CONFIG_DEFAULT, &bloom_ratio) ||
           register_number(ctx, "bloom-capacity", CONFIG_DEFAULT, 1, INT64_MAX,
                           &config.bloom_capacity) ||
           register_number(ctx, "bloom-expansion", CONFIG_DEFAULT, 0, UINT32_MAX,
                           &config.bloom_expansion) ||
           register_number(ctx, "bloom-memory-usage-limit", CONFIG_MEMORY, 0, INT64_MAX,
                           &config.bloom_memory_limit) ||
           register_choice(ctx, "bloom-use-random-seed", CONFIG_DEFAULT, &config.bloom_random) ||
           register_choice(ctx, "bloom-defrag-enabled", CONFIG_DEFAULT, &config.bloom_defrag);
}

int config_register(RedisModuleCtx *ctx)
{
    int failed =
        (!config.petal_only && (register_bloom(ctx) || register_valkey(ctx))) ||
        register_number(ctx, "memory-limit", CONFIG_MEMORY, 0, INT64_MAX, &config.memory_limit) ||
        register_choice(ctx, "huge-pages", CONFIG_IMMUTABLE, &config.huge_pages) ||
        server.RegisterStringConfig(ctx, "secret-file", "", CONFIG_IMMUTABLE, get_secret,
                                    set_secret, NULL, NULL) ||
        server.LoadConfigs(ctx);
    if (failed) server.Log(ctx, "warning", "the module's options could not be registered or set");
    return failed ? MODULE_ERR : MODULE_OK;
}

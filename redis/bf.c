/* bf.c - the BF.* commands. They match RedisBloom's, or valkey-bloom's if bf.compat says so or the
 * command contains a word that only valkey-bloom knows: the same replies, errors, defaults and
 * limits, and the same order in which arguments are checked. There are two deliberate differences:
 * a command that changes nothing is not replicated; and if adding an item creates a filter, the
 * filter's parameters are replicated, so that a replica with different defaults creates the same
 * filter. */
#include "adding.h"
#include "common.h"
#include "config.h"
#include "valkey_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EVENT_RESERVE "bloom.reserve"
#define EVENT_ADD "bloom.add"
#define EVENT_LOAD "bloom.load"

/* ---- keys ------------------------------------------------------------------------------------ */

static enum found look_up(RedisModuleKey *key, struct value **value)
{
    RedisModuleType *type = server.ModuleTypeGetType(key);
    *value = NULL;
    if (type && (type == bloom_type || type == valkey_type)) {
        *value = server.ModuleTypeGetValue(key);
        return FOUND;
    }
    return server.KeyType(key) == KEY_TYPE_EMPTY ? MISSING : OTHER_TYPE;
}

/* Opens a key's value for reading. Returns NULL after an error reply. */
static struct value *open_to_read(RedisModuleCtx *ctx, RedisModuleString *name)
{
    struct value *value;
    RedisModuleKey *key = server.OpenKey(ctx, name, KEY_READ);
    enum found found = look_up(key, &value);
    server.CloseKey(key);
    if (found != FOUND) reply_not_found(ctx, found);
    return value;
}

/* For commands that only RedisBloom has. */
static enum found look_up_redisbloom(RedisModuleKey *key, struct value **value)
{
    enum found found = look_up(key, value);
    if (found != FOUND || (*value)->classic == CLASSIC_REDISBLOOM) return found;
    *value = NULL;
    return OTHER_TYPE;
}

/* True if this command creates a valkey-bloom filter. bf.compat decides, except for a command that
 * must be obeyed: such a command states what it creates, because the server that sent it, or that
 * wrote the AOF, may have a different bf.compat. */
static int makes_valkey(RedisModuleCtx *ctx)
{
    return config.compat == COMPAT_VALKEY && !must_obey(ctx);
}

/* ---- BF.RESERVE ------------------------------------------------------------------------------ */

static int in_range(long long number, long long min, long long max)
{
    return number >= min && number <= max;
}

static int find_word(RedisModuleString **argv, int argc, const char *word)
{
    for (int i = 4; i < argc; i++)
        if (is_word(argv[i], word)) return i;
    return -1;
}

static const char *read_expansion(RedisModuleString **argv, int argc, struct bloom_plan *plan)
{
    int at = find_word(argv, argc, "EXPANSION");
    plan->expansion = config.expansion;
    plan->no_scaling = plan->expansion == 0 || find_word(argv, argc, "NONSCALING") > 0;
    if (at < 0) return NULL;
    if (at + 1 == argc) return "ERR no expansion";
    if (server.StringToLongLong(argv[at + 1], &plan->expansion) != MODULE_OK)
        return "ERR bad expansion";
    if (plan->expansion == 0)
        plan->no_scaling = 1;
    else if (plan->no_scaling)
        return "Nonscaling filters cannot expand";
    return in_range(plan->expansion, 0, BLOOM_MAX_EXPANSION)
               ? NULL
               : "ERR expansion must be in the range [0, 32768]";
}

/* Returns the error, or NULL. */
static const char *read_plan(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                             struct bloom_plan *plan)
{
    static char refusal[80];
    long long max = must_obey(ctx) ? PETAL_MAX_CAPACITY : config.max_capacity;
    if (server.StringToDouble(argv[2], &plan->rate) != MODULE_OK) return "ERR bad error rate";
    if (!(plan->rate > 0 && plan->rate < 1))
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    if (plan->rate > BLOOM_MAX_RATE) {
        plan->rate = BLOOM_MAX_RATE;
        server.Log(ctx, "warning", "Error rate is capped at %f", BLOOM_MAX_RATE);
    }
    if (server.StringToLongLong(argv[3], &plan->capacity) != MODULE_OK) return "ERR bad capacity";
    if (!in_range(plan->capacity, BLOOM_MIN_CAPACITY, max)) {
        snprintf(refusal, sizeof refusal, "ERR capacity must be in the range [%lld, %lld]",
                 BLOOM_MIN_CAPACITY, max);
        return refusal;
    }
    return read_expansion(argv, argc, plan);
}

/* Creates a filter at an empty key. Returns NULL after an error reply. */
static struct value *create(RedisModuleCtx *ctx, RedisModuleKey *key, const struct bloom_plan *plan)
{
    struct failure failure;
    struct value *value = plan->is_valkey ? valkey_create(plan, must_obey(ctx), &failure)
                                          : value_create_bloom(plan, must_obey(ctx), &failure);
    if (value)
        server.ModuleTypeSetValue(key, plan->is_valkey ? valkey_type : bloom_type, value);
    else
        server.ReplyWithError(ctx, failure_line(&failure));
    return value;
}

/* Prints a double so that reading it back gives the same double. */
static const char *exact(double value, char text[32])
{
    snprintf(text, 32, "%.17g", value);
    return text;
}

/* Replicates as valkey-bloom does, with all of the filter's parameters. */
static void replicate_valkey(RedisModuleCtx *ctx, RedisModuleString *name,
                             const struct bloom_plan *plan, RedisModuleString **items, size_t count)
{
    char rate[PLAIN_BYTES], ratio[PLAIN_BYTES];
    const char *seed = (const char *)plan->seed;
    valkey_plain(plan->rate, rate);
    valkey_plain(plan->ratio, ratio);
    if (plan->no_scaling && count)
        server.Replicate(ctx, "BF.INSERT", "sclcccccbccv", name, "CAPACITY", plan->capacity,
                         "ERROR", rate, "TIGHTENING", ratio, "SEED", seed, sizeof plan->seed,
                         "NONSCALING", "ITEMS", items, count);
    else if (plan->no_scaling)
        server.Replicate(ctx, "BF.INSERT", "sclcccccbc", name, "CAPACITY", plan->capacity, "ERROR",
                         rate, "TIGHTENING", ratio, "SEED", seed, sizeof plan->seed, "NONSCALING");
    else if (count)
        server.Replicate(ctx, "BF.INSERT", "sclcccccbclcv", name, "CAPACITY", plan->capacity,
                         "ERROR", rate, "TIGHTENING", ratio, "SEED", seed, sizeof plan->seed,
                         "EXPANSION", plan->expansion, "ITEMS", items, count);
    else
        server.Replicate(ctx, "BF.INSERT", "sclcccccbcl", name, "CAPACITY", plan->capacity, "ERROR",
                         rate, "TIGHTENING", ratio, "SEED", seed, sizeof plan->seed, "EXPANSION",
                         plan->expansion);
}

static void replicate_reserve(RedisModuleCtx *ctx, RedisModuleString *name,
                              const struct bloom_plan *plan)
{
    char rate[32];
    if (plan->is_valkey) {
        replicate_valkey(ctx, name, plan, NULL, 0);
        return;
    }
    exact(plan->rate, rate);
    if (plan->no_scaling)
        server.Replicate(ctx, "BF.RESERVE", "sclc", name, rate, plan->capacity, "NONSCALING");
    else
        server.Replicate(ctx, "BF.RESERVE", "sclcl", name, rate, plan->capacity, "EXPANSION",
                         plan->expansion);
}

static int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct bloom_plan plan = {0};
    struct value *value;
    int is_valkey = makes_valkey(ctx);
    if (argc < 4 || argc > (is_valkey ? 6 : 7)) return server.WrongArity(ctx);
    const char *refusal =
        is_valkey ? valkey_read_reserve(argv, argc, &plan) : read_plan(ctx, argv, argc, &plan);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ | KEY_WRITE);
    enum found found = look_up(key, &value);
    if (found == MISSING) value = create(ctx, key, &plan);
    server.CloseKey(key);
    if (found != MISSING)
        return server.ReplyWithError(ctx, found == FOUND ? "ERR item exists" : TEXT_WRONG_TYPE);
    if (!value) return MODULE_OK;
    replicate_reserve(ctx, argv[1], &plan);
    note_change(ctx, argv[1], EVENT_RESERVE);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- BF.ADD, BF.MADD, BF.INSERT -------------------------------------------------------------- */

struct adding {
    RedisModuleString *name, **items;
    size_t count;
    struct bloom_plan plan;
    int no_create, is_multiple, created, has_plan;
    struct change change;
};

/* Returns the error, in RedisBloom's words if RedisBloom has such a message, or NULL. */
static const char *adding_line(const struct value *value, struct adding *adding)
{
    struct failure *failure = &adding->change.failure;
    failure->line[0] = 0;
    if (adding->change.status == PETAL_OK) return NULL;
    if (failure->error.status == PETAL_ERR_FULL && value->options & BLOOM_NO_SCALING)
        return "ERR non scaling filter is full";
    if (failure->error.status == PETAL_ERR_FULL && value->classic == CLASSIC_VALKEY)
        return failure->error.message;
    if (failure->error.status == PETAL_ERR_MEMORY && value->refused)
        snprintf(failure->line, sizeof failure->line,
                 "ERR petal: the filter is full, and with its next layer it would be above "
                 "bf.memory-limit, %lld bytes",
                 config.memory_limit);
    else if (failure->error.status == PETAL_ERR_MEMORY)
        return "ERR problem inserting into filter";
    return failure_line(failure);
}

/* A single key needs no batch, unless the filter must grow or refuses the key. */
static void add(RedisModuleCtx *ctx, struct value *value, struct adding *adding)
{
    struct change *change = &adding->change;
    if (!adding->is_multiple) {
        size_t size;
        const char *key = server.StringPtrLen(adding->items[0], &size);
        petal_status status = value_add(value, key, size);
        change->outcome.done = 1;
        change->outcome.positive = status == PETAL_OK;
        if (status >= 0) return;
    }
    change->batch = scratch_batch(adding->items, adding->count);
    add_change(ctx, value, change);
}

/* Replicates in a form that has the same effect on a server with different defaults, or with
 * RedisBloom. */
static void replicate_adding(RedisModuleCtx *ctx, const struct adding *adding)
{
    const struct bloom_plan *plan = &adding->plan;
    size_t done = (size_t)adding->change.outcome.done;
    char rate[32];
    if (!adding->created && done == adding->count) {
        server.ReplicateVerbatim(ctx);
    } else if (!adding->created) {
        server.Replicate(ctx, "BF.MADD", "sv", adding->name, adding->items, done);
    } else if (done == 0) {
        replicate_reserve(ctx, adding->name, plan);
    } else if (plan->is_valkey) {
        replicate_valkey(ctx, adding->name, plan, adding->items, done);
    } else if (plan->no_scaling && plan->expansion == 0) {
        server.Replicate(ctx, "BF.INSERT", "sclccccv", adding->name, "CAPACITY", plan->capacity,
                         "ERROR", exact(plan->rate, rate), "NONSCALING", "ITEMS", adding->items,
                         done);
    } else if (plan->no_scaling) {
        server.Replicate(ctx, "BF.INSERT", "sclccclccv", adding->name, "CAPACITY", plan->capacity,
                         "ERROR", exact(plan->rate, rate), "EXPANSION", plan->expansion,
                         "NONSCALING", "ITEMS", adding->items, done);
    } else {
        server.Replicate(ctx, "BF.INSERT", "sclccclcv", adding->name, "CAPACITY", plan->capacity,
                         "ERROR", exact(plan->rate, rate), "EXPANSION", plan->expansion, "ITEMS",
                         adding->items, done);
    }
}

static void reply_adding(RedisModuleCtx *ctx, const struct value *value, struct adding *adding)
{
    const char *line = adding_line(value, adding);
    if (adding->is_multiple)
        reply_change(ctx, &adding->change, line);
    else if (line)
        server.ReplyWithError(ctx, line);
    else
        server.ReplyWithBool(ctx, adding->change.outcome.positive > 0);
}

/* As in valkey-bloom: if a filter doesn't have room for all the new items, it accepts none, and the
 * reply is a single error. A repeated item counts twice here. */
static int refuses_whole(RedisModuleCtx *ctx, const struct value *value, struct adding *adding)
{
    if (config.compat != COMPAT_VALKEY || !(value->options & BLOOM_NO_SCALING) ||
        !adding->is_multiple || must_obey(ctx))
        return 0;
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    if (info.items + adding->count <= info.capacity) return 0;
    petal_batch batch = scratch_batch(adding->items, adding->count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_contains_batch(value_filter(value), &batch, NULL, &outcome, NULL);
    return info.items + (adding->count - outcome.positive) > info.capacity;
}

static void add_and_reply(RedisModuleCtx *ctx, struct value *value, struct adding *adding)
{
    if (refuses_whole(ctx, value, adding)) {
        server.ReplyWithError(ctx, "ERR non scaling filter is full");
        if (adding->created) replicate_reserve(ctx, adding->name, &adding->plan);
        return;
    }
    add(ctx, value, adding);
    reply_adding(ctx, value, adding);
    uint64_t added = adding->change.outcome.positive;
    if (added || adding->created) replicate_adding(ctx, adding);
    if (added) note_change(ctx, adding->name, EVENT_ADD);
}

static void default_plan(RedisModuleCtx *ctx, struct adding *adding)
{
    if (makes_valkey(ctx)) {
        valkey_default_plan(&adding->plan);
        return;
    }
    adding->plan = (struct bloom_plan){.rate = config.error_rate,
                                       .capacity = config.initial_size,
                                       .expansion = config.expansion,
                                       .no_scaling = config.expansion == 0};
}

static int insert(RedisModuleCtx *ctx, struct adding *adding)
{
    struct value *value;
    RedisModuleKey *key = server.OpenKey(ctx, adding->name, KEY_READ | KEY_WRITE);
    enum found found = look_up(key, &value);
    if (found == MISSING && !adding->no_create) {
        if (!adding->has_plan) default_plan(ctx, adding);
        value = create(ctx, key, &adding->plan);
        adding->created = value != NULL;
    } else if (found != FOUND) {
        reply_not_found(ctx, found);
    }
    server.CloseKey(key);
    if (adding->created) note_change(ctx, adding->name, EVENT_RESERVE);
    if (value) add_and_reply(ctx, value, adding);
    return MODULE_OK;
}

static int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding = {0};
    if (argc != 3) return server.WrongArity(ctx);
    adding.name = argv[1];
    adding.items = argv + 2;
    adding.count = 1;
    return insert(ctx, &adding);
}

static int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding = {.is_multiple = 1};
    if (argc < 3) return server.WrongArity(ctx);
    adding.name = argv[1];
    adding.items = argv + 2;
    adding.count = (size_t)argc - 2;
    return insert(ctx, &adding);
}

/* Reads the option at argv[*at] and its value, and advances *at. Like RedisBloom, this compares
 * only the first letters. Returns the error, or NULL; sets *arity if a value is missing. */
static const char *read_option(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *at,
                               struct adding *adding, int *arity)
{
    size_t size;
    const char *word = server.StringPtrLen(argv[*at], &size);
    int first = tolower((unsigned char)word[0]),
        second = tolower((unsigned char)(size ? word[1] : 0));
    struct bloom_plan *plan = &adding->plan;
    if (first == 'n') {
        int third = size > 1 ? tolower((unsigned char)word[2]) : 0;
        *(third == 'c' ? &adding->no_create : &plan->no_scaling) = 1;
        ++*at;
        return NULL;
    }
    if (first != 'e' && first != 'c') return "Unknown argument received";
    if (++*at == argc) {
        *arity = 1;
        return NULL;
    }
    RedisModuleString *value = argv[(*at)++];
    if (first == 'c') {
        long long max = must_obey(ctx) ? PETAL_MAX_CAPACITY : config.max_capacity;
        return server.StringToLongLong(value, &plan->capacity) == MODULE_OK &&
                       in_range(plan->capacity, BLOOM_MIN_CAPACITY, max)
                   ? NULL
                   : "Bad capacity";
    }
    if (second != 'r')
        return server.StringToLongLong(value, &plan->expansion) == MODULE_OK &&
                       in_range(plan->expansion, 0, BLOOM_MAX_EXPANSION)
                   ? NULL
                   : "Bad expansion";
    if (server.StringToDouble(value, &plan->rate) != MODULE_OK ||
        !(plan->rate > 0 && plan->rate < 1))
        return "Bad error rate";
    if (plan->rate > BLOOM_MAX_RATE) {
        plan->rate = BLOOM_MAX_RATE;
        server.Log(ctx, "warning", "Error rate is capped at %f", BLOOM_MAX_RATE);
    }
    return NULL;
}

/* Reads all options, and finds the index of the first item. Returns the error, or NULL; sets *arity
 * if the number of arguments is wrong. */
static const char *read_options(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *at,
                                struct adding *adding, int *arity)
{
    *at = 2;
    *arity = argc < 4;
    default_plan(ctx, adding);
    while (!*arity && *at < argc) {
        size_t size;
        const char *word = server.StringPtrLen(argv[*at], &size);
        if (tolower((unsigned char)word[0]) == 'i') break;
        const char *refusal = read_option(ctx, argv, argc, at, adding, arity);
        if (refusal) return refusal;
    }
    if (++*at >= argc) *arity = 1;
    if (adding->plan.expansion == 0) adding->plan.no_scaling = 1;
    return NULL;
}

static const char *read_valkey_options(RedisModuleString **argv, int argc, int *at,
                                       struct adding *adding, int *arity)
{
    struct valkey_insert read;
    const char *refusal = valkey_read_insert(argv, argc, &read);
    adding->plan = read.plan;
    adding->no_create = read.no_create;
    *at = read.first_item;
    *arity = read.wrong_arity;
    return refusal;
}

static int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding = {.is_multiple = 1, .has_plan = 1};
    int at, wrong_arity, is_valkey = makes_valkey(ctx) || valkey_has_words(argv, argc);
    const char *refusal = is_valkey ? read_valkey_options(argv, argc, &at, &adding, &wrong_arity)
                                    : read_options(ctx, argv, argc, &at, &adding, &wrong_arity);
    /* The command was valid on the server that sent it, perhaps under valkey-bloom's limits, and
     * the filter exists. A command that creates a valkey-bloom filter is recognized by its
     * arguments. */
    if ((refusal || wrong_arity) && !is_valkey && must_obey(ctx))
        refusal = read_valkey_options(argv, argc, &at, &adding, &wrong_arity);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    if (wrong_arity) return server.WrongArity(ctx);
    adding.name = argv[1];
    adding.items = argv + at;
    adding.count = (size_t)(argc - at);
    return insert(ctx, &adding);
}

/* ---- BF.EXISTS, BF.MEXISTS ------------------------------------------------------------------- */

/* PETAL.* filters can be queried too. If the key holds another type, RedisBloom replies that the
 * item is absent, and valkey-bloom replies with an error. */
static int has_no_answer(RedisModuleCtx *ctx, RedisModuleKey *key, struct value **value)
{
    enum found found = look_up(key, value);
    if (found == OTHER_TYPE && server.ModuleTypeGetType(key) == petal_type) {
        *value = server.ModuleTypeGetValue(key);
        return 0;
    }
    if (found != OTHER_TYPE || config.compat != COMPAT_VALKEY) return 0;
    server.ReplyWithError(ctx, TEXT_WRONG_TYPE);
    return 1;
}

static int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 3) return server.WrongArity(ctx);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ);
    int is_wrong = has_no_answer(ctx, key, &value);
    server.CloseKey(key);
    if (is_wrong) return MODULE_OK;
    return server.ReplyWithBool(ctx, query_one(value, argv[2]));
}

static int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc < 3) return server.WrongArity(ctx);
    size_t count = (size_t)argc - 2;
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ);
    int is_wrong = has_no_answer(ctx, key, &value);
    server.CloseKey(key);
    if (is_wrong) return MODULE_OK;
    petal_batch batch = scratch_batch(argv + 2, count);
    uint8_t *results = scratch_results(count);
    query_batch(value, &batch, results);
    server.ReplyWithArray(ctx, (long)count);
    for (size_t i = 0; i < count; i++) server.ReplyWithBool(ctx, results[i]);
    return MODULE_OK;
}

/* ---- BF.INFO, BF.CARD, BF.DEBUG -------------------------------------------------------------- */

enum field {
    FIELD_CAPACITY,
    FIELD_SIZE,
    FIELD_FILTERS,
    FIELD_ITEMS,
    FIELD_ERROR,
    FIELD_EXPANSION,
    FIELD_TIGHTENING,
    FIELD_REACH,
    FIELD_COUNT
};

static const struct {
    const char *word, *label;
} fields[FIELD_COUNT] = {{"CAPACITY", "Capacity"},
                         {"SIZE", "Size"},
                         {"FILTERS", "Number of filters"},
                         {"ITEMS", "Number of items inserted"},
                         {"ERROR", "Error rate"},
                         {"EXPANSION", "Expansion rate"},
                         {"TIGHTENING", "Tightening ratio"},
                         {"MAXSCALEDCAPACITY", "Max scaled capacity"}};

/* valkey-bloom filters have more fields than RedisBloom's, and growing valkey-bloom filters have
 * the most. */
static int has_field(const struct value *value, int field)
{
    if (field == FIELD_TIGHTENING || field == FIELD_REACH)
        return value->classic == CLASSIC_VALKEY && !(value->options & BLOOM_NO_SCALING);
    return field != FIELD_ERROR || value->classic == CLASSIC_VALKEY;
}

/* The size that RedisBloom or valkey-bloom would report on a 64-bit machine: its structs and the
 * bits. */
static long long size_of(const struct value *value, const petal_info *info)
{
    if (value->classic == CLASSIC_VALKEY) return (long long)valkey_size(value);
    uint64_t bytes = 32 + 64ull * info->layers;
    for (uint32_t i = 0; i < info->layers; i++) {
        uint64_t layer_bytes;
        value_bits(value, i, &layer_bytes);
        bytes += layer_bytes;
    }
    return (long long)bytes;
}

static void reply_rate(RedisModuleCtx *ctx, double rate)
{
    char text[PLAIN_BYTES];
    valkey_plain(rate, text);
    server.ReplyWithStringBuffer(ctx, text, strlen(text));
}

/* Replies with a field that only valkey-bloom filters have. */
static void reply_valkey_field(RedisModuleCtx *ctx, const struct value *value, int field)
{
    const struct bloom_plan plan = valkey_plan_of(value);
    const char *refusal;
    if (field == FIELD_REACH)
        server.ReplyWithLongLong(ctx, valkey_reach(&plan, 0, &refusal));
    else
        reply_rate(ctx, field == FIELD_ERROR ? plan.rate : plan.ratio);
}

static void reply_field(RedisModuleCtx *ctx, const struct value *value, const petal_info *info,
                        int field)
{
    if (field == FIELD_EXPANSION && value->options & BLOOM_NO_SCALING) {
        server.ReplyWithNull(ctx);
        return;
    }
    if (field == FIELD_ERROR || field == FIELD_TIGHTENING || field == FIELD_REACH) {
        reply_valkey_field(ctx, value, field);
        return;
    }
    server.ReplyWithLongLong(ctx, field == FIELD_CAPACITY  ? (long long)info->capacity
                                  : field == FIELD_SIZE    ? size_of(value, info)
                                  : field == FIELD_FILTERS ? (long long)info->layers
                                  : field == FIELD_ITEMS   ? (long long)info->items
                                                           : (long long)value->growth);
}

static int reply_one_field(RedisModuleCtx *ctx, const struct value *value, const petal_info *info,
                           RedisModuleString *word)
{
    int field = 0;
    while (field < FIELD_COUNT && !is_word(word, fields[field].word)) field++;
    if (field == FIELD_COUNT || !has_field(value, field))
        return server.ReplyWithError(ctx, config.compat == COMPAT_VALKEY
                                              ? "ERR invalid information value"
                                              : "Invalid information value");
    if (config.compat == COMPAT_REDISBLOOM) {
        /* In RESP3, a map with the label; otherwise an array with only the value. */
        if (server.GetContextFlags(ctx) & CTX_RESP3) {
            server.ReplyWithMap(ctx, 1);
            server.ReplyWithSimpleString(ctx, fields[field].label);
        } else {
            server.ReplyWithArray(ctx, 1);
        }
    }
    reply_field(ctx, value, info, field);
    return MODULE_OK;
}

static int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 2 && argc != 3) return server.WrongArity(ctx);
    struct value *value = open_to_read(ctx, argv[1]);
    if (!value) return MODULE_OK;
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    if (argc == 3) return reply_one_field(ctx, value, &info, argv[2]);
    long count = 0;
    for (int field = 0; field < FIELD_COUNT; field++) count += has_field(value, field);
    if (config.compat == COMPAT_VALKEY)
        server.ReplyWithArray(ctx, 2 * count);
    else
        server.ReplyWithMap(ctx, count);
    for (int field = 0; field < FIELD_COUNT; field++) {
        if (!has_field(value, field)) continue;
        server.ReplyWithSimpleString(ctx, fields[field].label);
        reply_field(ctx, value, &info, field);
    }
    return MODULE_OK;
}

static int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 2) return server.WrongArity(ctx);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ);
    enum found found = look_up(key, &value);
    server.CloseKey(key);
    if (found == OTHER_TYPE) return server.ReplyWithError(ctx, TEXT_WRONG_TYPE);
    return server.ReplyWithLongLong(
        ctx, value ? (long long)value_info(value, PETAL_ALL_LAYERS).items : 0);
}

static int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    char line[200];
    if (argc != 2) return server.WrongArity(ctx);
    struct value *value = open_to_read(ctx, argv[1]);
    if (!value) return MODULE_OK;
    petal_info all = value_info(value, PETAL_ALL_LAYERS);
    server.ReplyWithArray(ctx, 1 + (long)all.layers);
    int length = snprintf(line, sizeof line, "size:%llu", (unsigned long long)all.items);
    server.ReplyWithStringBuffer(ctx, line, (size_t)length);
    for (uint32_t i = 0; i < all.layers; i++) {
        petal_info layer = value_info(value, i);
        uint64_t bytes;
        value_bits(value, i, &bytes);
        length =
            snprintf(line, sizeof line,
                     "bytes:%llu bits:%llu hashes:%u hashwidth:%u capacity:%llu size:%llu "
                     "ratio:%g",
                     (unsigned long long)bytes, 8 * (unsigned long long)bytes, layer.hashes,
                     value->options & BLOOM_FORCE64 ? 64 : 32, (unsigned long long)layer.capacity,
                     (unsigned long long)layer.items, layer.target_rate);
        server.ReplyWithStringBuffer(ctx, line, (size_t)length);
    }
    return MODULE_OK;
}

/* ---- BF.SCANDUMP, BF.LOADCHUNK --------------------------------------------------------------- */

static int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long iterator;
    if (argc != 3) return server.WrongArity(ctx);
    struct value *value;
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ);
    enum found found = look_up_redisbloom(key, &value);
    server.CloseKey(key);
    if (found != FOUND) return reply_not_found(ctx, found);
    if (server.StringToLongLong(argv[2], &iterator) != MODULE_OK)
        return server.ReplyWithError(ctx, "Second argument must be numeric");
    return reply_dump(ctx, value, iterator);
}

/* True if this is exactly the header of a filter. A header that is one byte longer or shorter is
 * rejected. */
static int is_header(const char *data, size_t size)
{
    if (size < BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES) return 0;
    const uint8_t *layers = (const uint8_t *)data + 8;
    uint32_t count = layers[0] | (uint32_t)layers[1] << 8 | (uint32_t)layers[2] << 16 |
                     (uint32_t)layers[3] << 24;
    return count <= BLOOM_MAX_LAYERS &&
           size == BLOOM_HEAD_BYTES + (size_t)count * BLOOM_LAYER_BYTES;
}

/* Returns the error, or NULL. */
static const char *load_header(RedisModuleCtx *ctx, RedisModuleKey *key, const char *data,
                               size_t size)
{
    static struct failure failure;
    if (!is_header(data, size)) return "ERR received bad data";
    struct value *value = value_from_header(data, size, must_obey(ctx), &failure);
    if (!value) return failure.line[0] ? failure.line : "ERR received bad data";
    server.ModuleTypeSetValue(key, bloom_type, value);
    return NULL;
}

static const char *load_chunk(struct value *value, long long iterator, const char *data,
                              size_t size)
{
    if (iterator <= 0 || (unsigned long long)iterator < size) return "ERR received bad data";
    uint64_t at = (uint64_t)iterator - size, layer_bytes;
    if (at-- == 0) return "ERR invalid offset - no link found";
    for (uint32_t i = 0; i < value_layers(value); at -= layer_bytes, i++) {
        value_bits(value, i, &layer_bytes);
        if (at >= layer_bytes) continue;
        if (size > layer_bytes - at) return "ERR invalid chunk - Too big for current filter";
        petal_status status = petal_write_bits(value_filter(value), i, at, data, size, NULL);
        return status == PETAL_OK ? NULL : "ERR received bad data";
    }
    return "ERR invalid offset - no link found";
}

static int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    long long iterator;
    size_t size;
    if (argc != 4) return server.WrongArity(ctx);
    if (server.StringToLongLong(argv[2], &iterator) != MODULE_OK)
        return server.ReplyWithError(ctx, "ERR Second argument must be numeric");
    const char *data = server.StringPtrLen(argv[3], &size);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ | KEY_WRITE);
    enum found found = look_up_redisbloom(key, &value);
    const char *refusal = NULL;
    if (found == MISSING && iterator == 1)
        refusal = load_header(ctx, key, data, size);
    else if (found == FOUND)
        refusal = load_chunk(value, iterator, data, size);
    else
        refusal = found == MISSING ? "ERR not found" : TEXT_WRONG_TYPE;
    server.CloseKey(key);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_LOAD);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- BF.LOAD --------------------------------------------------------------------------------- */

static int bf_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    const char *refusal = NULL;
    size_t size;
    if (argc != 3) return server.WrongArity(ctx);
    const char *bytes = server.StringPtrLen(argv[2], &size);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ | KEY_WRITE);
    enum found found = look_up(key, &value);
    if (found == MISSING)
        value = valkey_decode((const uint8_t *)bytes, size, must_obey(ctx), &refusal);
    else
        refusal = found == FOUND ? "BUSYKEY Target key name already exists." : TEXT_WRONG_TYPE;
    if (!refusal) server.ModuleTypeSetValue(key, valkey_type, value);
    server.CloseKey(key);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_RESERVE);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- registration ---------------------------------------------------------------------------- */

static struct module_argument key_only[] = {KEY_ARGUMENT, END_OF_ARGUMENTS};
static struct module_argument key_item[] = {KEY_ARGUMENT, ARGUMENT("item", ARG_STRING),
                                            END_OF_ARGUMENTS};
static struct module_argument key_items[] = {
    KEY_ARGUMENT, ARGUMENT_WITH("item", ARG_STRING, .flags = ARG_MULTIPLE), END_OF_ARGUMENTS};
static struct module_argument reserve_arguments[] = {
    KEY_ARGUMENT,
    ARGUMENT("error_rate", ARG_DOUBLE),
    ARGUMENT("capacity", ARG_INTEGER),
    ARGUMENT_WITH("expansion", ARG_INTEGER, .token = "EXPANSION", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("nonscaling", ARG_PURE_TOKEN, .token = "NONSCALING", .flags = ARG_OPTIONAL),
    END_OF_ARGUMENTS};
static struct module_argument insert_items[] = {
    ARGUMENT_WITH("items", ARG_PURE_TOKEN, .token = "ITEMS"),
    ARGUMENT_WITH("item", ARG_STRING, .flags = ARG_MULTIPLE), END_OF_ARGUMENTS};
static struct module_argument insert_arguments[] = {
    KEY_ARGUMENT,
    ARGUMENT_WITH("capacity", ARG_INTEGER, .token = "CAPACITY", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("error", ARG_DOUBLE, .token = "ERROR", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("expansion", ARG_INTEGER, .token = "EXPANSION", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("nocreate", ARG_PURE_TOKEN, .token = "NOCREATE", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("nonscaling", ARG_PURE_TOKEN, .token = "NONSCALING", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("tightening", ARG_DOUBLE, .token = "TIGHTENING", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("seed", ARG_STRING, .token = "SEED", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("scale_to", ARG_INTEGER, .token = "VALIDATESCALETO", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("items", ARG_BLOCK, .flags = ARG_OPTIONAL, .subargs = insert_items),
    END_OF_ARGUMENTS};
static struct module_argument info_words[] = {
    ARGUMENT_WITH("capacity", ARG_PURE_TOKEN, .token = "CAPACITY"),
    ARGUMENT_WITH("size", ARG_PURE_TOKEN, .token = "SIZE"),
    ARGUMENT_WITH("filters", ARG_PURE_TOKEN, .token = "FILTERS"),
    ARGUMENT_WITH("items", ARG_PURE_TOKEN, .token = "ITEMS"),
    ARGUMENT_WITH("expansion", ARG_PURE_TOKEN, .token = "EXPANSION"),
    ARGUMENT_WITH("error", ARG_PURE_TOKEN, .token = "ERROR"),
    ARGUMENT_WITH("tightening", ARG_PURE_TOKEN, .token = "TIGHTENING"),
    ARGUMENT_WITH("max_capacity", ARG_PURE_TOKEN, .token = "MAXSCALEDCAPACITY"),
    END_OF_ARGUMENTS};
static struct module_argument info_arguments[] = {
    KEY_ARGUMENT,
    ARGUMENT_WITH("single_value", ARG_ONEOF, .flags = ARG_OPTIONAL, .subargs = info_words),
    END_OF_ARGUMENTS};
static struct module_argument scandump_arguments[] = {
    KEY_ARGUMENT, ARGUMENT("iterator", ARG_INTEGER), END_OF_ARGUMENTS};
static struct module_argument loadchunk_arguments[] = {
    KEY_ARGUMENT, ARGUMENT("iterator", ARG_INTEGER), ARGUMENT("data", ARG_STRING),
    END_OF_ARGUMENTS};

static struct module_argument load_arguments[] = {KEY_ARGUMENT, ARGUMENT("data", ARG_STRING),
                                                  END_OF_ARGUMENTS};

static const struct command commands[] = {
    {"BF.RESERVE", bf_reserve, COMMAND_WRITES, "write fast bloom", KEY_SPEC_RW | KEY_SPEC_INSERT, 0,
     -4, "1.0.0", "Creates a new Bloom filter", "O(1)", reserve_arguments},
    {"BF.ADD", bf_add, COMMAND_WRITES, "write bloom", KEYS_CHANGED, 0, 3, "1.0.0",
     "Adds an item to a Bloom filter, which is created if there is none",
     "O(k), where k is the number of hash functions", key_item},
    {"BF.MADD", bf_madd, COMMAND_WRITES, "write bloom", KEYS_CHANGED, 0, -3, "1.0.0",
     "Adds items to a Bloom filter, which is created if there is none",
     "O(k * n), where k is the number of hash functions and n the number of items", key_items},
    {"BF.INSERT", bf_insert, COMMAND_WRITES, "write bloom", KEYS_CHANGED, 0, -2, "1.0.0",
     "Adds items to a Bloom filter, which is created with these parameters if there is none",
     "O(k * n), where k is the number of hash functions and n the number of items",
     insert_arguments},
    {"BF.EXISTS", bf_exists, COMMAND_READS, "read bloom", KEYS_READ, 0, 3, "1.0.0",
     "Says whether an item is probably in a Bloom filter",
     "O(k), where k is the number of hash functions", key_item},
    {"BF.MEXISTS", bf_mexists, COMMAND_READS, "read bloom", KEYS_READ, 0, -3, "1.0.0",
     "Says which items are probably in a Bloom filter",
     "O(k * n), where k is the number of hash functions and n the number of items", key_items},
    {"BF.INFO", bf_info, COMMAND_READS, "read fast bloom", KEYS_READ, 0, -2, "1.0.0",
     "Returns information about a Bloom filter", "O(1)", info_arguments},
    {"BF.CARD", bf_card, COMMAND_READS, "read fast bloom", KEYS_READ, 0, 2, "2.4.4",
     "Returns how many items were added to a Bloom filter", "O(1)", key_only},
    {"BF.SCANDUMP", bf_scandump, COMMAND_READS, "read bloom", KEYS_READ, 0, 3, "1.0.0",
     "Begins or continues saving a Bloom filter in chunks",
     "O(n), where n is the size of the chunk", scandump_arguments},
    {"BF.LOADCHUNK", bf_loadchunk, COMMAND_WRITES, "write bloom", KEYS_CHANGED, 0, 4, "1.0.0",
     "Restores a Bloom filter from a chunk of BF.SCANDUMP",
     "O(n), where n is the size of the chunk", loadchunk_arguments},
    {"BF.LOAD", bf_load, COMMAND_WRITES, "write bloom", KEY_SPEC_RW | KEY_SPEC_INSERT, 0, 3,
     "1.0.0", "Restores a Bloom filter of valkey-bloom's, as its AOF files have it",
     "O(n), where n is the size of the filter", load_arguments},
    {"BF.DEBUG", bf_debug, COMMAND_READS, "read bloom", KEYS_READ, 0, 2, NULL, NULL, NULL, NULL},
    {.name = NULL}};

int bf_register(RedisModuleCtx *ctx)
{
    return command_register(ctx, commands);
}

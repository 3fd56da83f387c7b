/* petal.c - the PETAL.* commands: filters of Petal's own kinds, and batches packed into one
 * argument. Commands that add or query also accept RedisBloom filters, but not valkey-bloom
 * filters.
 *
 * A packed batch is the number of items (u32), the length of each item (u32), and the items' bytes
 * end to end, all little-endian. The reply is a bitmap: the result of item i is bit i mod 8 (0 is
 * the lowest) of byte i / 8.
 *
 *     02000000 03000000 01000000 666f6f 78     "foo" and "x"
 *     01                                       the reply, if only "foo" has the result 1 */
#include "adding.h"
#include "common.h"
#include "config.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_RESERVE "petal.reserve"
#define EVENT_ADD "petal.add"
#define EVENT_REMOVE "petal.remove"
#define EVENT_MERGE "petal.merge"
#define EVENT_PATCH "petal.patch"
#define EVENT_FOLD "petal.fold"
#define EVENT_LOAD "petal.load"

static enum found look_up(RedisModuleKey *key, struct value **value)
{
    RedisModuleType *type = server.ModuleTypeGetType(key);
    *value = NULL;
    if (type && (type == petal_type || type == bloom_type)) {
        *value = server.ModuleTypeGetValue(key);
        return FOUND;
    }
    return server.KeyType(key) == KEY_TYPE_EMPTY ? MISSING : OTHER_TYPE;
}

static enum found find(RedisModuleCtx *ctx, RedisModuleString *name, struct value **value)
{
    RedisModuleKey *key = server.OpenKey(ctx, name, KEY_READ);
    enum found found = look_up(key, value);
    server.CloseKey(key);
    return found;
}

/* Returns the value of a key, or NULL after an error reply. */
static struct value *need(RedisModuleCtx *ctx, RedisModuleString *name)
{
    struct value *value;
    enum found found = find(ctx, name, &value);
    if (found != FOUND) reply_not_found(ctx, found);
    return value;
}

static void set_value(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleType *type,
                      void *value)
{
    RedisModuleKey *key = server.OpenKey(ctx, name, KEY_READ | KEY_WRITE);
    if (value)
        server.ModuleTypeSetValue(key, type, value);
    else
        server.DeleteKey(key);
    server.CloseKey(key);
    server.SignalModifiedKey(ctx, name);
}

static int reply_petal_error(RedisModuleCtx *ctx, const petal_error *error)
{
    struct failure failure = {.error = *error};
    return server.ReplyWithError(ctx, failure_line(&failure));
}

/* ---- PETAL.RESERVE --------------------------------------------------------------------------- */

static int read_scheme(RedisModuleString *word, uint32_t *scheme)
{
    static const struct {
        const char *word;
        uint32_t scheme;
    } schemes[] = {{"BLOCKED", PETAL_SCHEME_BLOCKED},
                   {"CLASSIC", PETAL_SCHEME_CLASSIC},
                   {"COUNTING", PETAL_SCHEME_COUNTING},
                   {"STATIC", PETAL_SCHEME_STATIC}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (is_word(word, schemes[i].word)) {
            *scheme = schemes[i].scheme;
            return 1;
        }
    return 0;
}

static int read_number(RedisModuleString *word, uint64_t *number)
{
    long long value;
    if (server.StringToLongLong(word, &value) != MODULE_OK || value < 0) return 0;
    *number = (uint64_t)value;
    return 1;
}

struct reserving {
    petal_options options;
    int no_scaling, expands;
};

static int read_window(petal_options *options)
{
    options->window_keys = options->capacity;
    options->capacity = 0;
    return options->window_keys > 0; /* 0: a second window */
}

/* Reads the option at argv[at], and its value if it has one. Returns the number of words, or 0 if
 * it is invalid. */
static int read_option(RedisModuleString **argv, int argc, int at, struct reserving *reserving)
{
    petal_options *options = &reserving->options;
    int has_value = at + 1 < argc;
    uint64_t number;
    if (is_word(argv[at], "NONSCALING")) return reserving->no_scaling = 1;
    if (is_word(argv[at], "FOLDABLE")) return options->foldable = 1;
    if (is_word(argv[at], "WINDOW")) return read_window(options);
    if (is_word(argv[at], "KEYED")) {
        options->secret = config_secret();
        return options->secret ? 1 : 0;
    }
    if (!has_value) return 0;
    if (is_word(argv[at], "SCHEME")) return read_scheme(argv[at + 1], &options->scheme) ? 2 : 0;
    if (!read_number(argv[at + 1], &number)) return 0;
    if (is_word(argv[at], "SEED")) {
        options->seed = number;
    } else if (is_word(argv[at], "EXPANSION") && number <= UINT32_MAX) {
        options->growth_step = (uint32_t)number;
        *(number ? &reserving->expands : &reserving->no_scaling) = 1; /* 0: as in BF.RESERVE */
    } else if (is_word(argv[at], "WINDOWMS")) {
        options->window_ms = number;
        return read_window(options) ? 2 : 0;
    } else if (is_word(argv[at], "GENERATIONS") && number <= UINT32_MAX) {
        options->generations = (uint32_t)number;
    } else {
        return 0;
    }
    return 2;
}

static const char *refuse_option(RedisModuleString *word)
{
    static char refusal[220];
    snprintf(
        refusal, sizeof refusal,
        is_word(word, "KEYED")
            ? "ERR petal: a keyed filter needs a secret; start the server with %.40s.secret-file"
            : "ERR petal: PETAL.RESERVE does not understand %.40s; it takes SCHEME, "
              "NONSCALING, EXPANSION, FOLDABLE, WINDOW, WINDOWMS, GENERATIONS, SEED and KEYED",
        is_word(word, "KEYED") ? config.module : server.StringPtrLen(word, NULL));
    for (char *byte = refusal; *byte; byte++) /* a newline would end the reply */
        if ((unsigned char)*byte < ' ') *byte = '?';
    return refusal;
}

/* The filter grows unless the command forbids it or its kind can't: a window forgets keys instead,
 * and a counting filter would have to know which layer holds a key. */
static const char *read_options(RedisModuleString **argv, int argc, struct reserving *reserving)
{
    petal_options *options = &reserving->options;
    if (server.StringToDouble(argv[2], &options->rate) != MODULE_OK) return "ERR bad error rate";
    if (!read_number(argv[3], &options->capacity)) return "ERR bad capacity";
    for (int at = 4, used; at < argc; at += used) {
        used = read_option(argv, argc, at, reserving);
        if (!used) return refuse_option(argv[at]);
    }
    if (options->scheme == PETAL_SCHEME_STATIC)
        return "ERR petal: a static filter is built from all its keys at once: build it with petal "
               "build --scheme static, and load it with petal-redis push";
    options->growth =
        !reserving->no_scaling && !options->window_keys && options->scheme != PETAL_SCHEME_COUNTING;
    return reserving->expands && !options->growth
               ? "ERR petal: EXPANSION is for filters that grow: without NONSCALING, WINDOW, "
                 "WINDOWMS and SCHEME counting"
               : NULL;
}

static int petal_reserve_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct reserving reserving = {.options = PETAL_OPTIONS_INIT};
    struct failure failure = {.line = ""};
    struct value *value;
    if (argc < 4) return server.WrongArity(ctx);
    const char *refusal = read_options(argv, argc, &reserving);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    RedisModuleKey *key = server.OpenKey(ctx, argv[1], KEY_READ | KEY_WRITE);
    enum found found = look_up(key, &value);
    if (found == MISSING) value = value_create(&reserving.options, must_obey(ctx), &failure);
    if (found == MISSING && value) server.ModuleTypeSetValue(key, petal_type, value);
    server.CloseKey(key);
    if (found != MISSING)
        return server.ReplyWithError(ctx, found == FOUND ? "ERR item exists" : TEXT_WRONG_TYPE);
    if (!value) return server.ReplyWithError(ctx, failure_line(&failure));
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_RESERVE);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- windows of time ------------------------------------------------------------------------- */

static uint64_t clock_of(const struct value *value)
{
    return value_layers_info(value, PETAL_ALL_LAYERS).clock_ms;
}

/* Advances the clock of a time window, but only before a change. The time is replicated as a
 * number, so that replicas forget the same keys. (Queries use the server's clock and change
 * nothing: query_batch().) */
static void advance(RedisModuleCtx *ctx, RedisModuleString *name, struct value *value)
{
    if (value_kind(value) != KIND_WINDOW_OF_TIME || must_obey(ctx)) return;
    long long now = server.Milliseconds();
    if (now <= 0 || (uint64_t)now <= clock_of(value)) return;
    if (petal_set_clock(value_filter(value), (uint64_t)now, NULL) == PETAL_OK)
        server.Replicate(ctx, "PETAL.ADVANCE", "sl", name, now);
}

/* Returns the error, or NULL. If a filter's clock were ahead of the server's, it would stand still
 * until the server's clock caught up, and the filter would forget nothing until then. */
static const char *check_time(const struct value *value, uint64_t to)
{
    static char refusal[160];
    uint64_t now = (uint64_t)server.Milliseconds();
    uint64_t window_ms = value_layers_info(value, PETAL_ALL_LAYERS).window_ms;
    if (!window_ms || to <= now || to - now <= window_ms) return NULL;
    snprintf(refusal, sizeof refusal,
             "ERR petal: %llu is more than the window of %llu ms ahead of the server's clock, %llu",
             (unsigned long long)to, (unsigned long long)window_ms, (unsigned long long)now);
    return refusal;
}

static int petal_advance_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    petal_error error;
    uint64_t to = (uint64_t)server.Milliseconds();
    if (argc != 2 && argc != 3) return server.WrongArity(ctx);
    if (argc == 3 && !read_number(argv[2], &to))
        return server.ReplyWithError(ctx, "ERR petal: the time is a number of milliseconds");
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    uint64_t before = clock_of(value);
    const char *refusal = must_obey(ctx) ? NULL : check_time(value, to);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    if (petal_set_clock(value_filter(value), to, &error) != PETAL_OK)
        return reply_petal_error(ctx, &error);
    uint64_t after = clock_of(value);
    if (after != before) {
        server.Replicate(ctx, "PETAL.ADVANCE", "sl", argv[1], (long long)after);
        note_change(ctx, argv[1], EVENT_ADD);
    }
    return server.ReplyWithLongLong(ctx, (long long)after);
}

/* ---- packed batches -------------------------------------------------------------------------- */

static struct {
    uint32_t *offsets;
    size_t room;
} packing;

static uint32_t load32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Returns false if the lengths don't match the bytes. */
static int unpack(RedisModuleString *argument, petal_batch *batch)
{
    size_t size;
    const uint8_t *data = (const uint8_t *)server.StringPtrLen(argument, &size);
    uint64_t count = size >= 4 ? load32(data) : 0, end = 0;
    if (size < 4 || count > (size - 4) / 4) return 0;
    if (!is_good_room(packing.room, count)) {
        server.Free(packing.offsets);
        packing.room = (size_t)count + 1024;
        packing.offsets = server.Alloc(packing.room * sizeof *packing.offsets);
    }
    uint64_t bytes = size - 4 - 4 * count;
    for (uint64_t i = 0; i < count; i++) {
        packing.offsets[i] = (uint32_t)end;
        end += load32(data + 4 + 4 * i);
        if (end > bytes || end > UINT32_MAX) return 0;
    }
    packing.offsets[count] = (uint32_t)end;
    *batch = PETAL_BATCH_INIT;
    batch->layout = PETAL_LAYOUT_OFFSETS32;
    batch->data = data + 4 + 4 * count;
    batch->offsets = packing.offsets;
    batch->data_bytes = end;
    batch->count = count;
    return end == bytes;
}

static int reply_bad_packing(RedisModuleCtx *ctx)
{
    return server.ReplyWithError(ctx, "ERR petal: a packed batch is a count, as many lengths (32 "
                                      "bits each, little-endian), and the items' bytes");
}

/* Packs the results into a bitmap in place, and replies with it. */
static int reply_bitmap(RedisModuleCtx *ctx, uint8_t *results, uint64_t count)
{
    uint64_t bytes = (count + 7) / 8;
    for (uint64_t i = 0; i < bytes; i++) {
        unsigned bits = 0;
        for (uint64_t j = 8 * i; j < count && j < 8 * i + 8; j++) bits |= results[j] << j % 8;
        results[i] = (uint8_t)bits;
    }
    return server.ReplyWithStringBuffer(ctx, (const char *)results, (size_t)bytes);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Returns the error, or NULL. If the memory limit is the reason, the error says so. */
static const char *change_line(const struct value *value, struct change *change)
{
    change->failure.line[0] = 0;
    if (change->status == PETAL_OK) return NULL;
    if (change->status == PETAL_ERR_MEMORY && value->refused)
        return above_limit("with its next layer");
    return failure_line(&change->failure);
}

static int petal_add_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct change change;
    if (argc != 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    advance(ctx, argv[1], value);
    change.batch = scratch_batch(argv + 2, 1);
    add_change(ctx, value, &change);
    if (change.status != PETAL_OK) return server.ReplyWithError(ctx, change_line(value, &change));
    if (change.changed) {
        server.ReplicateVerbatim(ctx);
        note_change(ctx, argv[1], EVENT_ADD);
    }
    return server.ReplyWithBool(ctx, change.results[0]);
}

static int petal_madd_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct change change;
    if (argc < 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    advance(ctx, argv[1], value);
    change.batch = scratch_batch(argv + 2, (size_t)argc - 2);
    add_change(ctx, value, &change);
    reply_change(ctx, &change, change_line(value, &change));
    if (!change.changed) return MODULE_OK;
    if (change.status == PETAL_OK)
        server.ReplicateVerbatim(ctx);
    else
        server.Replicate(ctx, "PETAL.MADD", "sv", argv[1], argv + 2, (size_t)change.outcome.done);
    note_change(ctx, argv[1], EVENT_ADD);
    return MODULE_OK;
}

/* Replicates the part of a packed batch that was added, as a PETAL.MADD. */
static void replicate_begin(RedisModuleCtx *ctx, RedisModuleString *name,
                            const struct change *change)
{
    size_t count = (size_t)change->outcome.done;
    RedisModuleString **items = server.Alloc(count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = server.CreateString(ctx, (const char *)change->batch.data + packing.offsets[i],
                                       packing.offsets[i + 1] - packing.offsets[i]);
    server.Replicate(ctx, "PETAL.MADD", "sv", name, items, count);
    for (size_t i = 0; i < count; i++) server.FreeString(ctx, items[i]);
    server.Free(items);
}

static int petal_maddb_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct change change;
    char line[360];
    if (argc != 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    if (!unpack(argv[2], &change.batch)) return reply_bad_packing(ctx);
    advance(ctx, argv[1], value);
    add_change(ctx, value, &change);
    if (change.changed && change.status == PETAL_OK) server.ReplicateVerbatim(ctx);
    if (change.changed && change.status != PETAL_OK) replicate_begin(ctx, argv[1], &change);
    if (change.changed) note_change(ctx, argv[1], EVENT_ADD);
    if (change.status == PETAL_OK) return reply_bitmap(ctx, change.results, change.batch.count);
    snprintf(line, sizeof line, "%s (the first %llu of %llu items are in)",
             change_line(value, &change), (unsigned long long)change.outcome.done,
             (unsigned long long)change.batch.count);
    return server.ReplyWithError(ctx, line);
}

/* ---- querying -------------------------------------------------------------------------------- */

/* Opens a value to query it. *value is NULL if the key doesn't exist: it then contains nothing.
 * Returns false after an error reply. */
static int open_to_query(RedisModuleCtx *ctx, RedisModuleString *name, struct value **value)
{
    if (find(ctx, name, value) != OTHER_TYPE) return 1;
    server.ReplyWithError(ctx, TEXT_WRONG_TYPE);
    return 0;
}

static int petal_exists_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 3) return server.WrongArity(ctx);
    if (!open_to_query(ctx, argv[1], &value)) return MODULE_OK;
    return server.ReplyWithBool(ctx, query_one(value, argv[2]));
}

static int petal_mexists_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc < 3) return server.WrongArity(ctx);
    if (!open_to_query(ctx, argv[1], &value)) return MODULE_OK;
    petal_batch batch = scratch_batch(argv + 2, (size_t)argc - 2);
    uint8_t *results = scratch_results((size_t)batch.count);
    query_batch(value, &batch, results);
    server.ReplyWithArray(ctx, (long)batch.count);
    for (uint64_t i = 0; i < batch.count; i++) server.ReplyWithBool(ctx, results[i]);
    return MODULE_OK;
}

static int petal_mexistsb_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    petal_batch batch;
    if (argc != 3) return server.WrongArity(ctx);
    if (!open_to_query(ctx, argv[1], &value)) return MODULE_OK;
    if (!unpack(argv[2], &batch)) return reply_bad_packing(ctx);
    uint8_t *results = scratch_results((size_t)batch.count);
    query_batch(value, &batch, results);
    return reply_bitmap(ctx, results, batch.count);
}

/* ---- removing, merging ----------------------------------------------------------------------- */

static int petal_remove_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct change change = {.outcome = PETAL_BATCH_OUTCOME_INIT};
    if (argc < 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    change.batch = scratch_batch(argv + 2, (size_t)argc - 2);
    change.results = scratch_results((size_t)change.batch.count);
    change.status = petal_remove_batch(value_filter(value), &change.batch, change.results,
                                       &change.outcome, &change.failure.error);
    if (change.status != PETAL_OK && change.outcome.done == 0)
        return reply_petal_error(ctx, &change.failure.error);
    reply_change(ctx, &change, change_line(value, &change));
    if (change.outcome.positive == 0) return MODULE_OK;
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_REMOVE);
    return MODULE_OK;
}

/* Merges all sources into a new filter with the parameters of `to`, so that an invalid source
 * changes nothing. Returns NULL after an error reply. */
static petal_filter *merge_sources(RedisModuleCtx *ctx, const struct value *to,
                                   RedisModuleString **names, int count)
{
    petal_error error;
    petal_filter *sources = NULL;
    petal_status status = petal_create_like(value_filter(to), &sources, &error);
    for (int i = 0; status == PETAL_OK && i < count; i++) {
        const struct value *from = need(ctx, names[i]);
        if (!from) {
            petal_free(sources);
            return NULL;
        }
        status = petal_merge(sources, value_filter(from), &error);
    }
    if (status == PETAL_OK) return sources;
    petal_free(sources);
    reply_petal_error(ctx, &error);
    return NULL;
}

/* Merges all sources into `to`. Returns false after an error reply; in that case nothing has
 * changed. */
static int merge_into(RedisModuleCtx *ctx, struct value *to, RedisModuleString **names, int count)
{
    petal_error error;
    petal_filter *sources = merge_sources(ctx, to, names, count);
    if (!sources) return 0;
    petal_status status = petal_merge(value_filter(to), sources, &error);
    petal_free(sources);
    value_settle(to);
    if (status != PETAL_OK) reply_petal_error(ctx, &error);
    return status == PETAL_OK;
}

/* If the target doesn't exist, copies the first source, and merges the others into the copy.
 * Returns NULL after an error reply. */
static struct value *merge_anew(RedisModuleCtx *ctx, RedisModuleString **names, int count)
{
    struct value *first = need(ctx, names[0]);
    if (!first) return NULL;
    struct value *made = value_copy(first);
    if (!made) {
        server.ReplyWithError(ctx, above_limit("there is no memory, or"));
        return NULL;
    }
    if (count == 1 || merge_into(ctx, made, names + 1, count - 1)) return made;
    value_free(made);
    return NULL;
}

static int petal_merge_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *to;
    if (argc < 3) return server.WrongArity(ctx);
    enum found found = find(ctx, argv[1], &to);
    if (found == OTHER_TYPE) return reply_not_found(ctx, found);
    if (found == FOUND && !merge_into(ctx, to, argv + 2, argc - 2)) return MODULE_OK;
    if (found == MISSING) {
        to = merge_anew(ctx, argv + 2, argc - 2);
        if (!to) return MODULE_OK;
        set_value(ctx, argv[1], to->classic ? bloom_type : petal_type, to);
    }
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_MERGE);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* A patch identifies its base and its result, so if it fails, nothing has changed. */
static int petal_patch_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    petal_error error;
    size_t size;
    if (argc != 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    if (value->classic)
        return server.ReplyWithError(ctx, "ERR petal: a patch is for a filter of PETAL.RESERVE or "
                                          "PETAL.LOAD, not for one of BF.*");
    const char *patch = server.StringPtrLen(argv[2], &size);
    value->unlimited |= (uint8_t)must_obey(ctx); /* the master had enough memory */
    value->refused = 0;
    petal_status status = petal_apply_patch(value_filter(value), patch, size, UINT64_MAX, &error);
    if (status == PETAL_ERR_MEMORY && value->refused)
        return server.ReplyWithError(ctx, above_limit("with this patch"));
    if (status != PETAL_OK) return reply_petal_error(ctx, &error);
    server.ReplicateVerbatim(ctx);
    note_change(ctx, argv[1], EVENT_PATCH);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- PETAL.FOLD ------------------------------------------------------------------------------ */

/* Folding blocks the server, so this limits it to about 0.2 s. Each MB takes 0.7 ms, and in a
 * classic filter each set bit of the result (up to half as many as in the original) takes 3 ns. */
#define MAX_FOLDED_BYTES ((uint64_t)256 << 20)
#define MAX_FOLDED_CLASSIC_BYTES ((uint64_t)16 << 20)

/* Returns the error, or NULL. */
static const char *check_pause(const petal_info *info)
{
    static char refusal[200];
    uint64_t max =
        info->scheme == PETAL_SCHEME_CLASSIC ? MAX_FOLDED_CLASSIC_BYTES : MAX_FOLDED_BYTES;
    if (info->bytes <= max) return NULL;
    snprintf(refusal, sizeof refusal,
             "ERR petal: to fold %llu bytes would stop the server for too long; above %llu use "
             "petal-redis pull, petal fold, and petal-redis push",
             (unsigned long long)info->bytes, (unsigned long long)max);
    return refusal;
}

/* Reads one option and its value. Returns false if the option is unknown or its value is
 * invalid. */
static int read_fold_option(RedisModuleString **words, petal_fold_options *options)
{
    uint64_t number;
    if (is_word(words[0], "RATE"))
        return server.StringToDouble(words[1], &options->rate) == MODULE_OK && options->rate != 0;
    if (!read_number(words[1], &number) || number == 0) return 0;
    if (is_word(words[0], "CAPACITY"))
        options->capacity = number;
    else if (is_word(words[0], "BITS"))
        options->bits = number;
    else
        return 0;
    return 1;
}

/* The result's size depends on logarithms, which another machine may round differently. So the
 * number of bits is replicated, and the master also derives everything else from that number. */
static petal_status fold_alike(const petal_filter *filter, const petal_fold_options *options,
                               petal_filter **folded, petal_error *error)
{
    petal_filter *found = NULL;
    petal_fold_options by_bits = PETAL_FOLD_OPTIONS_INIT;
    petal_info info = PETAL_INFO_INIT;
    petal_status status = petal_fold(filter, options, &found, error);
    if (status == PETAL_OK) status = petal_get_info(found, PETAL_ALL_LAYERS, &info, error);
    by_bits.bits = info.bits;
    by_bits.rate = options->rate;
    if (status == PETAL_OK) status = petal_fold(found, &by_bits, folded, error);
    petal_free(found);
    return status;
}

static void replicate_fold(RedisModuleCtx *ctx, RedisModuleString *name, uint64_t bits, double rate)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", rate);
    if (rate != 0)
        server.Replicate(ctx, "PETAL.FOLD", "sclcc", name, "BITS", (long long)bits, "RATE", text);
    else
        server.Replicate(ctx, "PETAL.FOLD", "scl", name, "BITS", (long long)bits);
}

/* If the size stays the same, the filter is left unchanged. */
static int petal_fold_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded = NULL;
    petal_error error;
    if (argc < 2 || argc % 2 != 0) return server.WrongArity(ctx);
    for (int at = 2; at < argc; at += 2)
        if (!read_fold_option(argv + at, &options))
            return server.ReplyWithError(ctx, "ERR petal: PETAL.FOLD key [RATE rate] [CAPACITY "
                                              "items] [BITS bits], with numbers above 0");
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    if (value->classic)
        return server.ReplyWithError(ctx, "ERR petal: filters of BF.* cannot be folded: their "
                                          "positions are remainders");
    petal_info before = value_info(value, PETAL_ALL_LAYERS);
    const char *refusal = must_obey(ctx) ? NULL : check_pause(&before);
    if (refusal) return server.ReplyWithError(ctx, refusal);
    value->unlimited |= (uint8_t)must_obey(ctx); /* the master had enough memory */
    value->refused = 0;
    petal_status status = fold_alike(value_filter(value), &options, &folded, &error);
    if (status == PETAL_ERR_MEMORY && value->refused)
        return server.ReplyWithError(ctx, above_limit("while it is folded"));
    if (status != PETAL_OK) return reply_petal_error(ctx, &error);
    if (!value_replace(value, folded)) return server.ReplyWithLongLong(ctx, (long long)before.bits);
    uint64_t bits = value_info(value, PETAL_ALL_LAYERS).bits;
    replicate_fold(ctx, argv[1], bits, options.rate);
    note_change(ctx, argv[1], EVENT_FOLD);
    return server.ReplyWithLongLong(ctx, (long long)bits);
}

/* ---- PETAL.CARD, PETAL.INFO ------------------------------------------------------------------ */

/* The number of items, excluding those in expired generations. */
static uint64_t items_now(const struct value *value, const petal_info *info)
{
    uint64_t now = (uint64_t)server.Milliseconds(), items = 0;
    petal_layers_info window = value_layers_info(value, PETAL_ALL_LAYERS);
    if (!window.clock_ms || now <= window.window_ms) return info->items;
    for (uint32_t i = 0; i < info->layers; i++)
        if (value_layers_info(value, i).latest_ms >= now - window.window_ms)
            items += value_info(value, i).items;
    return items;
}

static int petal_card_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 2) return server.WrongArity(ctx);
    if (!open_to_query(ctx, argv[1], &value)) return MODULE_OK;
    if (!value) return server.ReplyWithLongLong(ctx, 0);
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    return server.ReplyWithLongLong(ctx, (long long)items_now(value, &info));
}

static void reply_text(RedisModuleCtx *ctx, const char *label, const char *text)
{
    server.ReplyWithSimpleString(ctx, label);
    server.ReplyWithSimpleString(ctx, text);
}

static void reply_count(RedisModuleCtx *ctx, const char *label, uint64_t number)
{
    server.ReplyWithSimpleString(ctx, label);
    server.ReplyWithLongLong(ctx, (long long)number);
}

static void reply_rate(RedisModuleCtx *ctx, const char *label, double rate)
{
    server.ReplyWithSimpleString(ctx, label);
    if (rate == rate)
        server.ReplyWithDouble(ctx, rate);
    else
        server.ReplyWithNull(ctx);
}

static int petal_info_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const char *policies[] = {"none", "growing", "window of keys", "window of time"};
    if (argc != 2) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    petal_layers_info window = value_layers_info(value, PETAL_ALL_LAYERS);
    server.ReplyWithMap(ctx, 15);
    reply_text(ctx, "scheme", info.scheme_name);
    reply_text(ctx, "hash", info.hash_name);
    reply_text(ctx, "policy", policies[info.policy < 4 ? info.policy : 0]);
    reply_count(ctx, "capacity", info.capacity);
    reply_count(ctx, "items", items_now(value, &info));
    reply_count(ctx, "overfull", petal_is_overfull(value_filter(value)));
    reply_rate(ctx, "rate", info.target_rate);
    reply_count(ctx, "layers", info.layers);
    reply_count(ctx, "hashes", info.hashes);
    reply_count(ctx, "bits", info.bits);
    reply_count(ctx, "bytes", value_bytes(value));
    reply_count(ctx, "window_keys", window.window_keys);
    reply_count(ctx, "window_ms", window.window_ms);
    reply_count(ctx, "clock_ms", window.clock_ms);
    reply_count(ctx, "keyed", info.keyed);
    return MODULE_OK;
}

/* ---- PETAL.DUMP, PETAL.LOAD ------------------------------------------------------------------ */

static int petal_dump_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long iterator;
    if (argc != 3) return server.WrongArity(ctx);
    struct value *value = need(ctx, argv[1]);
    if (!value) return MODULE_OK;
    if (server.StringToLongLong(argv[2], &iterator) != MODULE_OK)
        return server.ReplyWithError(ctx, "ERR Second argument must be numeric");
    return reply_dump(ctx, value, iterator);
}

/* Finds the pieces of a file received so far, or NULL if there are none. Returns false after an
 * error reply. */
static int find_part(RedisModuleCtx *ctx, RedisModuleString *name, int is_target,
                     struct part **part)
{
    RedisModuleKey *key = server.OpenKey(ctx, name, KEY_READ);
    RedisModuleType *type = server.ModuleTypeGetType(key);
    int is_part = type && type == part_type;
    int is_free = server.KeyType(key) == KEY_TYPE_EMPTY ||
                  (is_target && type && (type == petal_type || type == bloom_type));
    *part = is_part ? server.ModuleTypeGetValue(key) : NULL;
    server.CloseKey(key);
    if (is_part || is_free) return 1;
    server.ReplyWithError(ctx, TEXT_WRONG_TYPE);
    return 0;
}

struct loading {
    RedisModuleString *name, *part_name;
    struct part *part;
    uint64_t at, total;
    const char *data;
    size_t size;
};

static const char *check_piece(const struct loading *loading, int unlimited, char *refusal,
                               size_t room)
{
    uint64_t come = loading->part ? part_size(loading->part) : 0;
    uint64_t limit = (uint64_t)config.memory_limit;
    if (limit && !unlimited && loading->total > limit)
        snprintf(refusal, room,
                 "ERR petal: the file has %llu bytes, and %s.memory-limit is %llu; raise it",
                 (unsigned long long)loading->total, config.module, (unsigned long long)limit);
    else if (loading->part && part_total(loading->part) != loading->total)
        snprintf(refusal, room,
                 "ERR petal: another file is being loaded under this name: %llu bytes",
                 (unsigned long long)part_total(loading->part));
    else if (loading->at != come)
        snprintf(refusal, room, "ERR petal: %llu bytes have come; go on there",
                 (unsigned long long)come);
    else if (loading->size > loading->total - come || (loading->size == 0 && loading->total > 0))
        snprintf(refusal, room,
                 "ERR petal: the piece is empty, or ends after the file's %llu bytes",
                 (unsigned long long)loading->total);
    else
        return NULL;
    return refusal;
}

/* The last piece has arrived. The old filter is kept until the new one is complete. */
static int finish_load(RedisModuleCtx *ctx, const struct loading *loading)
{
    struct failure failure;
    struct part *other;
    if (!find_part(ctx, loading->name, 1, &other)) return MODULE_OK;
    struct value *value = part_finish(loading->part, must_obey(ctx), &failure);
    uint64_t total = loading->total;
    set_value(ctx, loading->part_name, part_type, NULL);
    if (value) set_value(ctx, loading->name, petal_type, value);
    server.ReplicateVerbatim(ctx);
    if (!value) return server.ReplyWithError(ctx, failure_line(&failure));
    note_change(ctx, loading->name, EVENT_LOAD);
    return server.ReplyWithLongLong(ctx, (long long)total);
}

static int take_piece(RedisModuleCtx *ctx, struct loading *loading)
{
    char refusal[160];
    const char *line = check_piece(loading, must_obey(ctx), refusal, sizeof refusal);
    if (line) return server.ReplyWithError(ctx, line);
    if (!loading->part) {
        loading->part = part_new(loading->total);
        set_value(ctx, loading->part_name, part_type, loading->part);
    }
    if (!part_append(loading->part, loading->data, loading->size))
        return server.ReplyWithError(ctx, "ERR petal: no memory for this piece");
    if (part_size(loading->part) == loading->total) return finish_load(ctx, loading);
    server.ReplicateVerbatim(ctx);
    server.SignalModifiedKey(ctx, loading->part_name);
    return server.ReplyWithLongLong(ctx, (long long)part_size(loading->part));
}

static int petal_load_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct loading loading;
    if (argc != 3 && argc != 6) return server.WrongArity(ctx);
    loading.name = argv[1];
    loading.part_name = argv[2];
    int is_same = argc == 6 && must_obey(ctx); /* an AOF names the same key twice */
    if (!find_part(ctx, argv[2], is_same, &loading.part)) return MODULE_OK;
    if (argc == 3)
        return server.ReplyWithLongLong(ctx, loading.part ? (long long)part_size(loading.part) : 0);
    if (!read_number(argv[3], &loading.at) || !read_number(argv[4], &loading.total))
        return server.ReplyWithError(ctx, "ERR petal: PETAL.LOAD key part offset total data");
    loading.data = server.StringPtrLen(argv[5], &loading.size);
    return take_piece(ctx, &loading);
}

/* ---- registration ---------------------------------------------------------------------------- */

static struct module_argument key_only[] = {KEY_ARGUMENT, END_OF_ARGUMENTS};
static struct module_argument key_item[] = {KEY_ARGUMENT, ARGUMENT("item", ARG_STRING),
                                            END_OF_ARGUMENTS};
static struct module_argument key_items[] = {
    KEY_ARGUMENT, ARGUMENT_WITH("item", ARG_STRING, .flags = ARG_MULTIPLE), END_OF_ARGUMENTS};
static struct module_argument key_packed[] = {KEY_ARGUMENT, ARGUMENT("packed", ARG_STRING),
                                              END_OF_ARGUMENTS};
static struct module_argument reserve_arguments[] = {
    KEY_ARGUMENT,
    ARGUMENT("rate", ARG_DOUBLE),
    ARGUMENT("capacity", ARG_INTEGER),
    ARGUMENT_WITH("scheme", ARG_STRING, .token = "SCHEME", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("nonscaling", ARG_PURE_TOKEN, .token = "NONSCALING", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("expansion", ARG_INTEGER, .token = "EXPANSION", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("foldable", ARG_PURE_TOKEN, .token = "FOLDABLE", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("window", ARG_PURE_TOKEN, .token = "WINDOW", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("windowms", ARG_INTEGER, .token = "WINDOWMS", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("generations", ARG_INTEGER, .token = "GENERATIONS", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("seed", ARG_INTEGER, .token = "SEED", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("keyed", ARG_PURE_TOKEN, .token = "KEYED", .flags = ARG_OPTIONAL),
    END_OF_ARGUMENTS};
static struct module_argument merge_arguments[] = {
    KEY_ARGUMENT, {.name = "source", .type = ARG_KEY, .flags = ARG_MULTIPLE}, END_OF_ARGUMENTS};
static struct module_argument patch_arguments[] = {KEY_ARGUMENT, ARGUMENT("patch", ARG_STRING),
                                                   END_OF_ARGUMENTS};
static struct module_argument fold_arguments[] = {
    KEY_ARGUMENT, ARGUMENT_WITH("rate", ARG_DOUBLE, .token = "RATE", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("capacity", ARG_INTEGER, .token = "CAPACITY", .flags = ARG_OPTIONAL),
    ARGUMENT_WITH("bits", ARG_INTEGER, .token = "BITS", .flags = ARG_OPTIONAL), END_OF_ARGUMENTS};
static struct module_argument advance_arguments[] = {
    KEY_ARGUMENT, ARGUMENT_WITH("milliseconds", ARG_INTEGER, .flags = ARG_OPTIONAL),
    END_OF_ARGUMENTS};
static struct module_argument dump_arguments[] = {KEY_ARGUMENT, ARGUMENT("iterator", ARG_INTEGER),
                                                  END_OF_ARGUMENTS};
static struct module_argument load_piece[] = {ARGUMENT("offset", ARG_INTEGER),
                                              ARGUMENT("total", ARG_INTEGER),
                                              ARGUMENT("data", ARG_STRING), END_OF_ARGUMENTS};
static struct module_argument load_arguments[] = {
    KEY_ARGUMENT,
    {.name = "part", .type = ARG_KEY},
    ARGUMENT_WITH("piece", ARG_BLOCK, .flags = ARG_OPTIONAL, .subargs = load_piece),
    END_OF_ARGUMENTS};

static const struct command commands[] = {
    {"PETAL.RESERVE", petal_reserve_command, COMMAND_WRITES, "write fast petal",
     KEY_SPEC_RW | KEY_SPEC_INSERT, 0, -4, "0.1.0", "Creates a filter of one of Petal's own kinds",
     "O(1)", reserve_arguments},
    {"PETAL.ADD", petal_add_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, 3, "0.1.0",
     "Adds an item to a filter", "O(1)", key_item},
    {"PETAL.MADD", petal_madd_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, -3, "0.1.0",
     "Adds items to a filter", "O(n), where n is the number of items", key_items},
    {"PETAL.MADDB", petal_maddb_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, 3, "0.1.0",
     "Adds the items of a packed batch to a filter; returns a bitmap",
     "O(n), where n is the number of items", key_packed},
    {"PETAL.EXISTS", petal_exists_command, COMMAND_READS, "read petal", KEYS_READ, 0, 3, "0.1.0",
     "Says whether an item is probably in a filter", "O(1)", key_item},
    {"PETAL.MEXISTS", petal_mexists_command, COMMAND_READS, "read petal", KEYS_READ, 0, -3, "0.1.0",
     "Says which items are probably in a filter", "O(n), where n is the number of items",
     key_items},
    {"PETAL.MEXISTSB", petal_mexistsb_command, COMMAND_READS, "read petal", KEYS_READ, 0, 3,
     "0.1.0", "Says which items of a packed batch are probably in a filter; returns a bitmap",
     "O(n), where n is the number of items", key_packed},
    {"PETAL.REMOVE", petal_remove_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, -3,
     "0.1.0", "Takes items out of a counting filter", "O(n), where n is the number of items",
     key_items},
    {"PETAL.MERGE", petal_merge_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, -1, -3,
     "0.1.0", "Adds all items of other filters with the same parameters",
     "O(n), where n is the size of the filters", merge_arguments},
    {"PETAL.PATCH", petal_patch_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, 3, "0.1.0",
     "Turns a filter into what a patch of petal diff makes of it",
     "O(n), where n is the size of the filter", patch_arguments},
    {"PETAL.ADVANCE", petal_advance_command, COMMAND_WRITES, "write fast petal", KEYS_CHANGED, 0,
     -2, "0.1.0", "Sets the clock of a window of time", "O(n), where n is the size of what expires",
     advance_arguments},
    {"PETAL.CARD", petal_card_command, COMMAND_READS, "read fast petal", KEYS_READ, 0, 2, "0.1.0",
     "Returns how many items are in a filter", "O(1)", key_only},
    {"PETAL.INFO", petal_info_command, COMMAND_READS, "read fast petal", KEYS_READ, 0, 2, "0.1.0",
     "Returns information about a filter", "O(1)", key_only},
    {"PETAL.DUMP", petal_dump_command, COMMAND_READS, "read petal", KEYS_READ, 0, 3, "0.1.0",
     "Begins or continues reading a filter in chunks: its header, then its bits",
     "O(n), where n is the size of the chunk", dump_arguments},
    {"PETAL.LOAD", petal_load_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 1, -3, "0.1.0",
     "Takes the next piece of a petal file, which becomes the filter when it is complete",
     "O(n), where n is the size of the piece, and at the end of the file", load_arguments},
    {"PETAL.FOLD", petal_fold_command, COMMAND_WRITES, "write petal", KEYS_CHANGED, 0, -2, "0.1.0",
     "Makes a filter smaller, which keeps its items", "O(n), where n is the size of the filter",
     fold_arguments},
    {.name = NULL}};

int petal_register(RedisModuleCtx *ctx)
{
    return command_register(ctx, commands);
}

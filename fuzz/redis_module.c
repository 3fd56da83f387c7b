/* redis_module.c - fuzz target: passes arbitrary stored values and commands to the module for Redis
 * and Valkey (redis/). The module must refuse a value or be able to use it: saving and loading,
 * copying, moving, and rewriting as commands must preserve the value, and added keys must be found.
 *
 * The first byte selects the settings. Bit 0: the module runs in a replica, which must accept what
 * its master sends; bit 1: bf.compat valkey. The other bytes are steps, each an enum step and its
 * arguments. abort() is a finding. */
#include "fake_server.h"

enum step { LOAD, COMMAND, SAVE, MOVE, COPY, REWRITE, USE, STEPS };
enum { MAX_ARGUMENTS = 10 };

static const char *const words[] = {"EXPANSION",
                                    "NONSCALING",
                                    "CAPACITY",
                                    "ERROR",
                                    "NOCREATE",
                                    "ITEMS",
                                    "0.01",
                                    "0.5",
                                    "SCHEME",
                                    "COUNTING",
                                    "CLASSIC",
                                    "GROW",
                                    "WINDOW",
                                    "SEED",
                                    "GENERATIONS",
                                    "WINDOWMS",
                                    "SIZE",
                                    "FILTERS",
                                    "item",
                                    "",
                                    "0",
                                    "1",
                                    "100",
                                    "1e-300",
                                    "TIGHTENING",
                                    "VALIDATESCALETO",
                                    "0123456789abcdefghijklmnopqrstuv",
                                    "RATE",
                                    "BITS",
                                    "FOLDABLE",
                                    "512"};

/* Maps a number to a command. Commands that were added later have the highest numbers, regardless
 * of their order in the table, so that the inputs in the corpus keep their meaning. */
static uint32_t command_at(uint32_t number)
{
    uint32_t added = 0, last = fake.command_count - 1;
    while (strcmp(fake.commands[added].name, "bf.load") != 0) added++;
    return number == last ? last : number + 1 == last ? added : number + (number >= added);
}

static RedisModuleType *type_at(uint32_t number)
{
    static const uint8_t places[] = {0, 2, 3, 1};
    return &fake.types[places[number]];
}

static void load_module(void)
{
    static int is_loaded;
    struct RedisModuleCtx ctx = {.get_api = fake_get_api};
    if (is_loaded) return;
    must(RedisModule_OnLoad(&ctx, NULL, 0) == MODULE_OK);
    config.memory_limit = 1 << 20;
    config.bloom_memory_limit = 1 << 20;
    config.max_capacity = PETAL_MAX_CAPACITY;
    is_loaded = 1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t digest_of(const RedisModuleKey *key)
{
    struct RedisModuleDigest digest = {1};
    key->type->methods.digest(&digest, key->value);
    return digest.sum;
}

static void *load(RedisModuleType *type, int encver, struct input *in)
{
    struct RedisModuleIO io = {.from = in};
    return type->methods.rdb_load(&io, encver);
}

static int is_classic(const RedisModuleKey *key)
{
    return key->type == bloom_type || key->type == valkey_type;
}

static int is_filter(const RedisModuleKey *key)
{
    return is_classic(key) || key->type == petal_type;
}

/* Saves the value, and loads it again. The memory limit may be lower now than when the value was
 * first loaded. */
static void save(RedisModuleKey *key)
{
    struct RedisModuleIO io = {.from = NULL};
    uint64_t before = digest_of(key);
    int flags = fake.context_flags;
    key->type->methods.rdb_save(&io, key->value);
    struct input in = {io.to, io.size_bytes};
    fake.context_flags |= CTX_LOADING;
    struct RedisModuleKey again = {key->type, load(key->type, key->type->encver, &in)};
    fake.context_flags = flags;
    must(again.value && in.left == 0 && digest_of(&again) == before);
    delete_key(&again);
    free(io.to);
}

static void move(RedisModuleKey *key)
{
    uint64_t before = digest_of(key);
    if (!key->type->methods.defrag) return;
    must(key->type->methods.defrag(NULL, NULL, &key->value) == 0 && digest_of(key) == before);
}

static void copy(RedisModuleKey *key, RedisModuleKey *to)
{
    void *made = key->type->methods.copy && key != to
                     ? key->type->methods.copy(NULL, NULL, key->value)
                     : NULL;
    if (!made) return; /* the value exceeds the limit */
    fake_ModuleTypeSetValue(to, key->type, made);
    must(digest_of(key) == digest_of(to));
}

/* Rewrites the value as commands that recreate the last key. Both values must be equal. */
static void rewrite(RedisModuleKey *key)
{
    RedisModuleKey *to = &fake.keys[KEYS - 1];
    int flags = fake.context_flags;
    RedisModuleType *type = key->type;
    if (key == to || !is_filter(key)) return;
    delete_key(to);
    fake_rewritten = fake_CreateString(NULL, key_names[KEYS - 1], 1);
    fake.context_flags |= CTX_LOADING;
    struct RedisModuleIO io = {.from = NULL};
    type->methods.aof_rewrite(&io, fake_rewritten, key->value);
    fake.context_flags = flags;
    fake_FreeString(NULL, fake_rewritten);
    must(to->type == type && digest_of(to) == digest_of(key));
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The kinds of arguments: a key, a word, a number, bytes, and the last string that a command
 * returned. */
static RedisModuleString *take_argument(struct input *in, const RedisModuleString *last)
{
    char number[32];
    const char *text = number;
    uint64_t bytes;
    switch (take_below(in, 5)) {
    case 0: text = key_names[take_below(in, KEYS)]; break;
    case 1: text = words[take_below(in, sizeof words / sizeof *words)]; break;
    case 2: snprintf(number, sizeof number, "%lld", (long long)(int64_t)take_number(in)); break;
    case 3:
        bytes = take(in, 2);
        if (bytes > in->left) bytes = in->left;
        RedisModuleString *made = fake_CreateString(NULL, (const char *)in->data, (size_t)bytes);
        in->data += bytes;
        in->left -= (size_t)bytes;
        return made;
    default: return fake_CreateString(NULL, last->bytes, last->size_bytes);
    }
    return fake_CreateString(NULL, text, strlen(text));
}

static void run_command(struct input *in, RedisModuleCtx *ctx)
{
    RedisModuleString *argv[MAX_ARGUMENTS + 1];
    uint32_t command = command_at(take_below(in, fake.command_count)),
             count = take_below(in, MAX_ARGUMENTS);
    int argc = 2;
    argv[0] =
        fake_CreateString(NULL, fake.commands[command].name, strlen(fake.commands[command].name));
    argv[1] = fake_CreateString(NULL, key_names[take_below(in, KEYS)], 1);
    for (uint32_t i = 0; i + 1 < count; i++) argv[argc++] = take_argument(in, &ctx->text);
    ctx->is_error = 0;
    ctx->replies = 0;
    fake.commands[command].function(ctx, argv, argc);
    for (int i = 0; i < argc; i++) fake_FreeString(NULL, argv[i]);
}

/* Adds keys. Unless adding fails, the keys must be found. */
static void use(RedisModuleKey *key, struct input *in)
{
    struct RedisModuleCtx ctx = {.is_error = 0};
    char item[8];
    snprintf(item, sizeof item, "%u", take_below(in, 1000));
    RedisModuleString *argv[3] = {fake_CreateString(NULL, "x", 1),
                                  fake_CreateString(NULL, key_names[key - fake.keys], 1),
                                  fake_CreateString(NULL, item, strlen(item))};
    if (is_filter(key)) {
        find_command(is_classic(key) ? "bf.add" : "petal.add")(&ctx, argv, 3);
        int is_in = !ctx.is_error;
        ctx.replies = 0;
        find_command(is_classic(key) ? "bf.exists" : "petal.exists")(&ctx, argv, 3);
        must(!is_in || ctx.numbers[0]);
    }
    for (int i = 0; i < 3; i++) fake_FreeString(NULL, argv[i]);
    must(key->type->methods.mem_usage(key->value) > 0);
    must(key->type->methods.free_effort(NULL, key->value) > 0);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void step(struct input *in, RedisModuleCtx *ctx)
{
    enum step what = (enum step)take_below(in, STEPS);
    if (what == COMMAND) {
        run_command(in, ctx);
        return;
    }
    RedisModuleKey *key = &fake.keys[take_below(in, KEYS)];
    if (what == LOAD) {
        RedisModuleType *type = type_at(take_below(in, fake.types_count));
        void *value = load(type, (int)take_below(in, 6), in);
        if (value) fake_ModuleTypeSetValue(key, type, value);
        if (value) save(key);
        return;
    }
    if (!key->type) return;
    if (what == SAVE) save(key);
    if (what == MOVE) move(key);
    if (what == COPY) copy(key, &fake.keys[take_below(in, KEYS)]);
    if (what == REWRITE) rewrite(key);
    if (what == USE) use(key, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct input in = {data, size_bytes};
    struct RedisModuleCtx ctx = {.get_api = fake_get_api};
    load_module();
    set_text(&ctx.text, "", 0);
    uint64_t mode = take(&in, 1);
    fake.context_flags = mode & 1 ? CTX_REPLICATED | CTX_REPLICA : 0;
    config.compat = mode & 2 ? COMPAT_VALKEY : COMPAT_REDISBLOOM;
    for (int steps = 0; steps < 200 && in.left > 0; steps++) step(&in, &ctx);
    for (uint32_t i = 0; i < KEYS; i++) delete_key(&fake.keys[i]);
    free(ctx.text.bytes);
    must(totals.filters == 0 && totals.bytes == 0);
    must(totals.layers == 0 && totals.items == 0 && totals.capacity == 0);
    return 0;
}

/* valkey_words.c - see valkey_words.h. */
#include "valkey_words.h"

#include "common.h"
#include "config.h"

#include <string.h>

/* Reads a rate. Returns NULL, `bad` if it is not a number, or the other message if it is not
 * between 0 and 1. */
static const char *read_rate(RedisModuleString *from, double *rate, const char *bad,
                             const char *out_of_range)
{
    if (server.StringToDouble(from, rate) != MODULE_OK) return bad;
    return *rate > 0 && *rate < 1 ? NULL : out_of_range;
}

static const char *read_error(RedisModuleString *from, struct bloom_plan *plan)
{
    return read_rate(from, &plan->rate, "ERR bad error rate", VALKEY_RATE_RANGE);
}

static const char *read_count(RedisModuleString *from, long long *count)
{
    if (server.StringToLongLong(from, count) != MODULE_OK || *count < 0) return VALKEY_BAD_CAPACITY;
    return *count ? NULL : "ERR (capacity should be larger than 0)";
}

static const char *read_expansion(RedisModuleString *from, struct bloom_plan *plan)
{
    if (server.StringToLongLong(from, &plan->expansion) != MODULE_OK || plan->expansion < 1 ||
        plan->expansion > UINT32_MAX)
        return "ERR bad expansion";
    plan->no_scaling = 0;
    return NULL;
}

static void never_scale(struct bloom_plan *plan)
{
    plan->expansion = 0;
    plan->no_scaling = 1;
}

const char *valkey_read_reserve(RedisModuleString **argv, int argc, struct bloom_plan *plan)
{
    valkey_default_plan(plan);
    const char *refusal = read_error(argv[2], plan);
    if (!refusal) refusal = read_count(argv[3], &plan->capacity);
    if (refusal || argc == 4) return refusal;
    if (argc == 5 && is_word(argv[4], "NONSCALING")) {
        never_scale(plan);
        return NULL;
    }
    return argc == 6 && is_word(argv[4], "EXPANSION") ? read_expansion(argv[5], plan) : "ERROR";
}

enum word { ERROR, TIGHTENING, CAPACITY, SEED, EXPANSION, VALIDATESCALETO, WITH_VALUE };
static const char *const words[] = {"ERROR", "TIGHTENING", "CAPACITY",
                                    "SEED",  "EXPANSION",  "VALIDATESCALETO"};

static int find_word(RedisModuleString *argument)
{
    int word = 0;
    while (word < WITH_VALUE && !is_word(argument, words[word])) word++;
    return word;
}

static const char *read_seed(RedisModuleString *from, struct bloom_plan *plan)
{
    size_t size;
    const char *seed = server.StringPtrLen(from, &size);
    if (size != sizeof plan->seed) return "ERR invalid seed";
    valkey_set_seed(plan, seed);
    return NULL;
}

static const char *read_value(int word, RedisModuleString *from, struct bloom_plan *plan,
                              long long *scale_to)
{
    switch (word) {
    case ERROR: return read_error(from, plan);
    case TIGHTENING:
        return read_rate(from, &plan->ratio, "ERR bad tightening ratio", VALKEY_RATIO_RANGE);
    case CAPACITY: return read_count(from, &plan->capacity);
    case SEED: return read_seed(from, plan);
    case EXPANSION: return read_expansion(from, plan);
    default: return read_count(from, scale_to);
    }
}

static const char *check_scale(const struct bloom_plan *plan, long long scale_to)
{
    const char *refusal;
    if (!scale_to) return NULL;
    if (plan->no_scaling) return "ERR cannot use NONSCALING and VALIDATESCALETO options together";
    valkey_reach(plan, scale_to, &refusal);
    return refusal;
}

const char *valkey_read_insert(RedisModuleString **argv, int argc, struct valkey_insert *insert)
{
    struct bloom_plan *plan = &insert->plan;
    long long scale_to = 0;
    int at = 2;
    *insert = (struct valkey_insert){.wrong_arity = argc < 2};
    valkey_default_plan(plan);
    for (; at < argc && !is_word(argv[at], "ITEMS"); at++) {
        int word = find_word(argv[at]);
        if (is_word(argv[at], "NOCREATE")) {
            insert->no_create = 1;
        } else if (is_word(argv[at], "NONSCALING")) {
            never_scale(plan);
        } else if (word == WITH_VALUE) {
            return "ERR unknown argument received";
        } else if (++at == argc) {
            insert->wrong_arity = 1;
            return NULL;
        } else {
            const char *refusal = read_value(word, argv[at], plan, &scale_to);
            if (refusal) return refusal;
        }
    }
    if (at + 1 == argc) insert->wrong_arity = 1; /* ITEMS without items */
    insert->first_item = at < argc ? at + 1 : argc;
    return insert->wrong_arity ? NULL : check_scale(plan, scale_to);
}

int valkey_has_words(RedisModuleString **argv, int argc)
{
    for (int i = 2; i < argc && !is_word(argv[i], "ITEMS"); i++) {
        int word = find_word(argv[i]);
        if (word == TIGHTENING || word == SEED || word == VALIDATESCALETO) return 1;
        if (word != WITH_VALUE) i++;
    }
    return 0;
}

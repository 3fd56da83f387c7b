/* levels.c - proves that every SIMD level of this CPU, selected with PETAL_KERNEL, creates the same
 * filters and returns the same answers, through every call in petal.h. */
#include "support.h"

#define KEYS 3000u
#define TEXT_BYTES 160u

static const char *const levels[] = {"generic", "sse4", "avx2", "avx512", "neon"};

static int64_t numbers[2 * KEYS];
static char texts[2 * KEYS][TEXT_BYTES];
static petal_key keys[2 * KEYS];

static int make_keys(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (size_t i = 0; i < 2 * KEYS; i++) {
        numbers[i] = (int64_t)next_random(&seed);
        /* The strings vary in length, from 5 to 154 bytes. */
        snprintf(texts[i], TEXT_BYTES, "%0*zu", (int)(5 + i % 150), i);
        keys[i] = (petal_key){texts[i], strlen(texts[i])};
    }
    return 0;
}

static petal_filter *make_at(const char *level, const petal_options *options)
{
    setenv("PETAL_KERNEL", level, 1);
    petal_filter *filter = create(options);
    unsetenv("PETAL_KERNEL");
    return filter;
}

/* Adds a third of the keys one by one, a third in batches, and a third by hash. Some keys are
 * strings, others are numbers. */
static void add_by_every_door(petal_filter *filter)
{
    uint64_t hashes[KEYS / 3];
    for (size_t i = 0; i < KEYS / 3; i++) {
        petal_add(filter, keys[i].data, keys[i].size_bytes);
        petal_add_i64(filter, numbers[i]);
    }
    add_key_batch(filter, keys + KEYS / 3, KEYS / 3, NULL, NULL);
    add_number_batch(filter, numbers + KEYS / 3, KEYS / 3, NULL, NULL);
    for (size_t i = 0; i < KEYS / 3; i++) {
        const petal_key *key = &keys[KEYS / 3 * 2 + i];
        hashes[i] = petal_hash_key(filter, key->data, key->size_bytes);
        petal_add_i64(filter, numbers[KEYS / 3 * 2 + i]);
    }
    add_hash_batch(filter, hashes, KEYS / 3, NULL, NULL);
}

/* Queries all keys, added or not, with every call. `answers` receives one byte per key, with one
 * bit per call. */
static void query_by_every_call(const petal_filter *filter, uint8_t answers[2 * KEYS])
{
    uint8_t text_batch[2 * KEYS], number_batch[2 * KEYS];
    contains_keys(filter, keys, (size_t)2 * KEYS, text_batch);
    contains_numbers(filter, numbers, (size_t)2 * KEYS, number_batch);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        unsigned text = petal_contains(filter, keys[i].data, keys[i].size_bytes);
        unsigned number = petal_contains_i64(filter, numbers[i]);
        unsigned hash =
            petal_contains_hash(filter, petal_hash_key(filter, keys[i].data, keys[i].size_bytes));
        answers[i] =
            (uint8_t)(text | number << 1 | hash << 2 | text_batch[i] << 3 | number_batch[i] << 4);
        require(i >= KEYS || answers[i] == 31, "key %zu is missed at %s", i,
                info_of(filter).kernel_name);
    }
}

/* A call that queries or adds keys, for a batch and for a single key. */
struct doing {
    void (*batch)(petal_filter *filter, size_t from, size_t count, uint8_t *results);
    bool (*one)(petal_filter *filter, size_t i);
};

static int64_t mixed_numbers[2 * KEYS];
static petal_key mixed_keys[2 * KEYS];

static void ask_numbers(petal_filter *filter, size_t from, size_t count, uint8_t *results)
{
    contains_numbers(filter, mixed_numbers + from, count, results);
}

static bool ask_number(petal_filter *filter, size_t i)
{
    return petal_contains_i64(filter, mixed_numbers[i]);
}

static void ask_texts(petal_filter *filter, size_t from, size_t count, uint8_t *results)
{
    contains_keys(filter, mixed_keys + from, count, results);
}

static bool ask_text(petal_filter *filter, size_t i)
{
    return petal_contains(filter, mixed_keys[i].data, mixed_keys[i].size_bytes);
}

static void put_numbers(petal_filter *filter, size_t from, size_t count, uint8_t *results)
{
    add_number_batch(filter, mixed_numbers + from, count, results, NULL);
}

static bool put_number(petal_filter *filter, size_t i)
{
    return petal_add_i64(filter, mixed_numbers[i]) == PETAL_OK;
}

static void put_texts(petal_filter *filter, size_t from, size_t count, uint8_t *results)
{
    add_key_batch(filter, mixed_keys + from, count, results, NULL);
}

static bool put_text(petal_filter *filter, size_t i)
{
    return petal_add(filter, mixed_keys[i].data, mixed_keys[i].size_bytes) == PETAL_OK;
}

/* Queries and adds batches of 1, 2, 3 ... keys, both old and new: a kernel processes eight keys at
 * a time and then the rest. */
static void compare_small_batches(petal_filter *filter, petal_filter *reference)
{
    static const struct doing doings[] = {{ask_numbers, ask_number},
                                          {ask_texts, ask_text},
                                          {put_numbers, put_number},
                                          {put_texts, put_text}};
    static uint8_t results[2 * KEYS + 1];
    for (size_t i = 0; i < 2 * KEYS; i++) {
        size_t from = i % 3 == 0 ? i / 3 : 2 * KEYS - 1 - i / 2;
        mixed_numbers[i] = numbers[from];
        mixed_keys[i] = keys[from];
    }
    for (size_t at = 0, count = 1; at + count <= 2 * KEYS; at += count++)
        for (size_t way = 0; way < sizeof doings / sizeof *doings; way++) {
            memset(results, 9, sizeof results);
            doings[way].batch(filter, at, count, results);
            for (size_t i = 0; i < count; i++)
                require(results[i] == doings[way].one(reference, at + i),
                        "way %zu, key %zu of %zu at %s", way, i, count,
                        info_of(filter).kernel_name);
            assert_int_equal(results[count], 9);
        }
}

static void compare_level(const char *level, const petal_options *options)
{
    static uint8_t wanted[2 * KEYS], got[2 * KEYS];
    petal_filter *reference = make_at("generic", options), *filter = make_at(level, options);
    add_by_every_door(reference);
    add_by_every_door(filter);
    require(same_image(reference, filter), "%s, k %u", level, options->hashes);
    query_by_every_call(reference, wanted);
    query_by_every_call(filter, got);
    require(memcmp(got, wanted, sizeof got) == 0, "%s, k %u", level, options->hashes);
    compare_small_batches(filter, reference);
    require(same_image(reference, filter), "%s, k %u, small batches", level, options->hashes);
    petal_free(reference);
    petal_free(filter);
}

static void every_level_of_this_cpu_is_the_same_filter(void **state)
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, (uint64_t)20 * KEYS, 6, 1);
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        petal_filter *probe = make_at(levels[i], &options);
        bool is_here = strcmp(info_of(probe).kernel_name, levels[i]) == 0;
        petal_free(probe);
        print_message("# %s: %s\n", levels[i], is_here ? "compared" : "not on this CPU");
        if (!is_here) continue;
        for (uint32_t lines = 1; lines <= 2; lines++)
            for (uint32_t k = lines; k <= 16 * lines; k++) {
                petal_options shape =
                    options_of(PETAL_SCHEME_BLOCKED, (uint64_t)20 * KEYS, k, lines);
                shape.seed = k % 2 ? 0 : UINT64_MAX / 3 * k;
                compare_level(levels[i], &shape);
            }
        petal_options classic = options_of(PETAL_SCHEME_CLASSIC, (uint64_t)20 * KEYS, 7, 0);
        compare_level(levels[i], &classic);
    }
}

static void the_environment_chooses_the_level(void **state)
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 5120, 6, 1);
    (void)state;
    petal_filter *generic = make_at("generic", &options), *best = create(&options);
    if (strcmp(info_of(best).kernel_name, "generic") == 0)
        skip_because("this machine's CPU has the generic level only");
    require(strcmp(info_of(generic).kernel_name, "generic") == 0,
            "got %s; was the library built with PETAL_FORCE_KERNEL?", info_of(generic).kernel_name);
    petal_free(generic);
    petal_free(best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_chooses_the_level),
        cmocka_unit_test(every_level_of_this_cpu_is_the_same_filter),
    };
    return cmocka_run_group_tests(tests, make_keys, NULL);
}

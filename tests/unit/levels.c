/* Every SIMD level that this CPU has, chosen by PETAL_KERNEL, makes the same filters and gives the
 * same answers through every call of petal.h. */
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
        snprintf(texts[i], TEXT_BYTES, "%0*zu", (int)(5 + i % 150), i); /* of all short lengths */
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

/* A third of the keys one by one, a third by batches, a third by hash: as texts and as numbers. */
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

/* The answers for all keys, added or not, by every call: for each key one byte, with a bit for each
 * call. */
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

/* counting.c - proves that a counting filter removes keys exactly: it never removes an absent key,
 * and removing a key never damages another key. A saturated counter never changes again and is
 * reported. Counting filters can be merged, saved and converted like other filters. */
#include "multiset.h"

#define COUNTING PETAL_SCHEME_COUNTING
#define COUNT(array) (sizeof(array) / sizeof *(array))

static petal_key key_of(const char *text)
{
    return (petal_key){text, strlen(text)};
}

static void remove_numbers(petal_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++)
        require(petal_remove_i64(filter, (int64_t)i) == PETAL_OK, "removing %llu",
                (unsigned long long)i);
}

/* ---- the vectors ----------------------------------------------------------------------------- */

static char answer_to(petal_filter *filter, char verb, uint64_t hash)
{
    if (verb == '+') return petal_add_hash(filter, hash) == PETAL_OK ? 'n' : 's';
    return petal_remove_hash(filter, hash) == PETAL_OK ? 'r' : 'a';
}

static void require_steps(petal_filter *filter, const char *steps, const char *answers)
{
    char *at;
    for (size_t i = 0; answers[i]; i++, steps = at + 1) {
        char answer = answer_to(filter, steps[0], strtoull(steps + 1, &at, 16));
        require(answer == answers[i], "step %zu: %c, not %c", i, answer, answers[i]);
    }
}

static void require_bytes(const petal_filter *filter, const char *hex)
{
    struct bytes image = serialized(filter);
    for (size_t i = 0; hex[2 * i]; i++) {
        char text[3];
        snprintf(text, sizeof text, "%02x", payload_of(image)[i]);
        require(memcmp(text, hex + 2 * i, 2) == 0, "byte %zu is %s", i, text);
    }
    free(image.data);
}

static void published_steps_give_the_published_answers_and_counters(void **state)
{
    (void)state;
    static char line[4096], steps[4096], answers[256], hex[512];
    int rows = 0;
    FILE *file = fopen("vectors/schemes/counting.txt", "r");
    require(file != NULL, "cannot read the vectors (tests run from the top of the tree)");
    while (fgets(line, sizeof line, file)) {
        unsigned m, k;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%u %u %4095s %255s %511s", &m, &k, steps, answers, hex), 5);
        petal_filter *filter = make(COUNTING, m, k, 0);
        require_steps(filter, steps, answers);
        require_bytes(filter, hex);
        petal_free(filter);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 9);
}

/* Tests the example in docs/format.md. */
static void the_textbook_filter_counts_as_the_specification_shows(void **state)
{
    (void)state;
    petal_options options = options_of(COUNTING, 11, 2, 0);
    options.seed = 197072;
    petal_filter *filter = create(&options);
    petal_add(filter, "a", 1);
    petal_add(filter, "b", 1);
    require_bytes(filter, "001020000100");
    assert_int_equal(petal_add(filter, "a", 1), PETAL_SEEN);
    require_bytes(filter, "002030000100");
    assert_true(petal_contains(filter, "c", 1));
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_OK);
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_OK);
    require_bytes(filter, "000010000100");
    assert_int_equal(petal_remove(filter, "c", 1), PETAL_ABSENT);
    petal_free(filter);
}

/* ---- beside an exact multiset ---------------------------------------------------------------- */

static void a_million_steps_miss_no_key_and_what_is_removed_leaves_no_trace(void **state)
{
    (void)state;
    struct workload work = {200000, 7, 40000, 2, 15000, 1000000, 51};
    struct multiset set = run_multiset(&work);
    require_no_trace(&set);
    set_free(&set);
}

static void a_million_steps_with_counters_that_stick_miss_no_key(void **state)
{
    (void)state;
    struct workload work = {3000, 3, 2000, 20, 6000, 1000000, 52};
    struct multiset set = run_multiset(&work);
    require_that(stats_of(set.filter).saturated_counters, >, 100);
    set_free(&set);
}

/* Tests every number of hashes k. In these filters, a key's positions often coincide, and the last
 * counter is inside a byte or a line. */
static void steps_are_exact_at_every_k_and_around_whole_lines(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 127, 128, 129, 1001};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint32_t k = 1; k <= 64; k++) {
            struct workload work = {sizes[i], k, 20, 3, 8, 480, 100 * i + k};
            struct multiset set = new_multiset(&work);
            for (uint64_t j = 0; j < work.steps; j++) step(&set);
            require_whole(&set);
            set_free(&set);
        }
}

/* ---- one key --------------------------------------------------------------------------------- */

static void a_key_is_in_until_it_is_removed_as_often_as_it_was_added(void **state)
{
    (void)state;
    petal_filter *filter = make(COUNTING, 1000, 5, 0);
    assert_int_equal(petal_add(filter, "a", 1), PETAL_OK);
    assert_int_equal(petal_add(filter, "a", 1), PETAL_SEEN);
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_OK);
    assert_true(petal_contains(filter, "a", 1));
    require_that(info_of(filter).items, ==, 1);
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_OK);
    assert_false(petal_contains(filter, "a", 1));
    require_that(info_of(filter).items, ==, 0);
    require_that(stats_of(filter).bits_set, ==, 0);
    petal_free(filter);
}

static void removing_an_absent_key_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    petal_filter *filter = make(COUNTING, 4096, 4, 0);
    assert_int_equal(petal_remove(filter, "", 0), PETAL_ABSENT);
    add_numbers(filter, 0, 400);
    struct bytes before = serialized(filter);
    uint64_t refused = 0;
    for (int64_t i = 400; i < 5000; i++) {
        if (petal_contains_i64(filter, i)) continue; /* a false positive */
        require(petal_remove_i64(filter, i) == PETAL_ABSENT, "key %lld", (long long)i);
        refused++;
    }
    struct bytes after = serialized(filter);
    require_that(refused, >, 4000);
    assert_true(same_bytes(before, after));
    free(before.data);
    free(after.data);
    petal_free(filter);
}

static void numbers_and_hashes_name_the_same_key_as_bytes(void **state)
{
    (void)state;
    uint8_t key[8];
    petal_filter *filter = make(COUNTING, 5000, 6, 0);
    petal_encode_i64(-7, key);
    require_that(petal_add(filter, key, 8), ==, PETAL_OK);
    require_that(petal_remove_i64(filter, -7), ==, PETAL_OK);
    petal_encode_f64(NAN, key);
    require_that(petal_add(filter, key, 8), ==, PETAL_OK);
    require_that(remove_f64(filter, -(double)NAN), ==, PETAL_OK);
    require_that(petal_add_i64(filter, 9), ==, PETAL_OK);
    assert_int_equal(petal_remove_hash(filter, hash_of_number(filter, 9)), PETAL_OK);
    require_that(stats_of(filter).bits_set, ==, 0);
    petal_free(filter);
}

/* With m = 1, all k positions of a key are the same counter, and adding the key must increment it
 * only once. */
static void each_distinct_position_of_a_key_is_counted_once(void **state)
{
    (void)state;
    uint8_t one = 0;
    petal_filter *filter = make(COUNTING, 1, 64, 0);
    for (int i = 1; i <= 14; i++) {
        petal_add_i64(filter, i);
        one++;
        require_counters(filter, &one, 1);
    }
    for (int i = 1; i <= 14; i++) assert_int_equal(petal_remove_i64(filter, i), PETAL_OK);
    assert_int_equal(petal_remove_i64(filter, 1), PETAL_ABSENT);
    petal_free(filter);
}

/* petal.h warns against removing a key that was never added. */
static void removing_a_key_that_was_never_added_can_lose_another(void **state)
{
    (void)state;
    petal_filter *filter = make(COUNTING, 11, 2, 0);
    int64_t stranger = 1;
    petal_add_i64(filter, 0);
    while (petal_remove_i64(filter, stranger) == PETAL_ABSENT) stranger++;
    assert_false(petal_contains_i64(filter, 0));
    petal_free(filter);
}

/* ---- saturation ------------------------------------------------------------------------------ */

static void a_counter_that_has_come_to_15_sticks_and_is_reported(void **state)
{
    (void)state;
    petal_filter *filter = make(COUNTING, 1000, 5, 0);
    for (int i = 0; i < 14; i++) petal_add(filter, "often", 5);
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    require_that(info.counter_bits, ==, 4);
    require_that(info_stats.saturated_counters, ==, 0);
    petal_add(filter, "often", 5);
    uint64_t positions = info_stats.bits_set;
    assert_int_equal(stats_of(filter).saturated_counters, positions);
    petal_add(filter, "often", 5);
    for (int i = 0; i < 40; i++) assert_int_equal(petal_remove(filter, "often", 5), PETAL_OK);
    info = info_of(filter);
    info_stats = stats_of(filter);
    assert_true(petal_contains(filter, "often", 5));
    require_that(info_stats.saturated_counters, ==, positions);
    require_that(info.items, ==, 0);
    petal_error error;
    require_status(PETAL_OK, petal_clear(filter, &error), error);
    require_that(stats_of(filter).saturated_counters, ==, 0);
    assert_true(!petal_contains(filter, "often", 5));
    petal_free(filter);
}

/* The probability that at least 15 of the kn positions hit a given counter out of m follows from
 * the Poisson distribution with c = kn/m. The documents contain the figures tested here. */
static void counters_stick_at_the_rated_load_as_rarely_as_the_documents_say(void **state)
{
    (void)state;
    static const struct {
        double c, said;
    } loads[] = {{0.6931, 1.6e-15}, {1.3863, 2.8e-11}, {2.0794, 6.4e-9}};
    for (size_t i = 0; i < COUNT(loads); i++) {
        double sum = 0;
        for (int j = 15; j < 60; j++) sum += exp(j * log(loads[i].c) - loads[i].c - lgamma(j + 1));
        require(fabs(sum / loads[i].said - 1) < 0.04, "c = %g: %g", loads[i].c, sum);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The batches contain repeats, so a key may be present at its first occurrence and absent at its
 * second. */
static void a_batch_removes_like_one_by_one(void **state)
{
    (void)state;
    enum { KEYS = 1500 };
    static char texts[KEYS][8];
    static petal_key keys[KEYS];
    static uint8_t was_removed[KEYS], by_hash_removed[KEYS];
    static uint64_t hashes[KEYS];
    uint64_t random = 6;
    size_t removed = 0, wanted = 0;
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", (unsigned)random_below(&random, 900));
        keys[i] = key_of(texts[i]);
    }
    for (uint32_t k = 1; k <= 64; k += 9) {
        petal_filter *batch = make(COUNTING, 1000 * (uint64_t)k, k, 0), *single = NULL;
        add_key_batch(batch, keys, 700, NULL, NULL);
        single = clone_of(batch);
        assert_int_equal(remove_keys(batch, keys, KEYS, was_removed, &removed), PETAL_OK);
        wanted = 0;
        petal_filter *by_hash = clone_of(single);
        for (size_t i = 0; i < KEYS; i++) {
            bool gone = petal_remove(single, keys[i].data, keys[i].size_bytes) == PETAL_OK;
            require(was_removed[i] == gone, "key %zu, k %u", i, k);
            wanted += gone;
        }
        require_that(removed, ==, wanted);
        require_that(removed, >=, 700);
        assert_true(same_image(batch, single));
        hash_keys(by_hash, keys, KEYS, hashes);
        assert_int_equal(remove_hashes(by_hash, hashes, KEYS, by_hash_removed, &removed), PETAL_OK);
        require_that(removed, ==, wanted);
        require_that(memcmp(by_hash_removed, was_removed, KEYS), ==, 0);
        assert_true(same_image(batch, by_hash));
        petal_free(by_hash);
        petal_free(batch);
        petal_free(single);
    }
}

static void only_counting_filters_that_can_be_written_remove(void **state)
{
    (void)state;
    petal_error error;
    petal_key key = key_of("a");
    size_t removed = 9;
    petal_filter *classic = make(PETAL_SCHEME_CLASSIC, 1000, 5, 0),
                 *blocked = make(PETAL_SCHEME_BLOCKED, 512, 5, 1);
    petal_filter *counting = make(COUNTING, 1000, 5, 0), *view = NULL;
    petal_add(classic, "a", 1);
    assert_int_equal(petal_remove(classic, "a", 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_remove_i64(blocked, 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_remove_hash(blocked, 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(remove_hashes(classic, NULL, 0, NULL, NULL), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(remove_keys(classic, &key, 1, NULL, &removed), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(removed, 0);
    assert_int_equal(remove_keys(classic, NULL, 0, NULL, NULL), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(remove_keys(counting, NULL, 0, NULL, NULL), PETAL_OK);
    assert_true(petal_contains(classic, "a", 1));
    require_that(info_of(classic).counter_bits, ==, 0);
    petal_add(counting, "a", 1);
    struct bytes image = serialized(counting);
    require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &view, &error), error);
    assert_int_equal(petal_remove(view, "a", 1), PETAL_ERR_READ_ONLY);
    assert_int_equal(remove_keys(view, &key, 1, NULL, NULL), PETAL_ERR_READ_ONLY);
    petal_free(view);
    petal_free(counting);
    petal_free(classic);
    petal_free(blocked);
    free(image.data);
}

/* Adding a key changes counters non-atomically, so threads cannot share a counting filter. */
static void a_counting_filter_is_not_shared_and_says_so(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = make(PETAL_SCHEME_COUNTING, 4096, 4, 0);
    require_status(PETAL_ERR_UNSUPPORTED, petal_allow_threads(filter, &error), error);
    require_that(strstr(error.message, "counting"), !=, NULL);
    add_numbers(filter, 0, 100); /* a single thread can still use the filter */
    remove_numbers(filter, 0, 100);
    assert_int_equal(stats_of(filter).bits_set, 0);
    petal_free(filter);
}

/* ---- set algebra ----------------------------------------------------------------------------- */

static void a_merge_adds_the_counters_up_to_15(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *a = make(COUNTING, 3001, 4, 0), *b = clone_of(a), *all = clone_of(a);
    for (int times = 0; times < 9; times++) {
        add_numbers(a, 0, 100);
        add_numbers(b, 50, 400);
        add_numbers(all, 0, 100);
        add_numbers(all, 50, 400);
    }
    petal_filter *other_way = clone_of(b);
    require_status(PETAL_OK, petal_merge(other_way, a, &error), error);
    require_status(PETAL_OK, petal_merge(a, b, &error), error);
    assert_true(same_image(a, all));
    assert_true(same_image(other_way, all));
    require_that(stats_of(a).saturated_counters, >, 50);
    petal_filter *twice = clone_of(b);
    require_status(PETAL_OK, petal_merge(twice, twice, &error), error);
    for (int times = 0; times < 9; times++) add_numbers(b, 50, 400);
    assert_true(same_image(twice, b));
    petal_free(a);
    petal_free(b);
    petal_free(all);
    petal_free(other_way);
    petal_free(twice);
}

static void after_a_merge_the_keys_of_each_can_be_removed(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *a = make(COUNTING, 20000, 6, 0), *b = clone_of(a), *only_b = clone_of(a);
    add_numbers(a, 0, 1000);
    add_numbers(b, 500, 1000);
    add_numbers(only_b, 500, 1000);
    require_status(PETAL_OK, petal_merge(a, b, &error), error);
    remove_numbers(a, 0, 1000);
    assert_true(same_image(a, only_b));
    petal_free(a);
    petal_free(b);
    petal_free(only_b);
}

/* Keys 400 to 699 were added once to `a` and twice to `b`, so the intersection contains each of
 * them once. Each key must be present until it is removed. */
static void an_intersection_keeps_the_lower_counters(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *a = make(COUNTING, 9000, 5, 0), *b = clone_of(a);
    add_numbers(a, 0, 700);
    add_numbers(b, 400, 900);
    add_numbers(b, 400, 300);
    petal_filter *common = clone_of(a);
    require_status(PETAL_OK, petal_intersect(common, b, &error), error);
    struct bytes one = serialized(a), other = serialized(b), min = serialized(common);
    for (size_t i = 0; i < 4500; i++) {
        unsigned x = payload_of(one)[i], y = payload_of(other)[i];
        unsigned low = (x & 15) < (y & 15) ? x & 15 : y & 15,
                 high = x >> 4 < y >> 4 ? x >> 4 : y >> 4;
        require(payload_of(min)[i] == (high << 4 | low), "byte %zu", i);
    }
    for (uint64_t i = 400; i < 700; i++) {
        require_numbers(common, i, 700 - i);
        remove_numbers(common, i, 1);
    }
    free(one.data);
    free(other.data);
    free(min.data);
    petal_free(a);
    petal_free(b);
    petal_free(common);
}

static void counters_and_bits_do_not_mix(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *counting = make(COUNTING, 1000, 5, 0),
                 *classic = make(PETAL_SCHEME_CLASSIC, 1000, 5, 0);
    require_status(PETAL_ERR_MISMATCH, petal_merge(counting, classic, &error), error);
    require_status(PETAL_ERR_MISMATCH, petal_intersect(classic, counting, &error), error);
    petal_free(counting);
    petal_free(classic);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static petal_filter *converted(const petal_filter *filter)
{
    petal_filter *made = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_drop_counts(filter, &made, &error), error);
    return made;
}

/* The converted filter must equal the expected filter byte for byte, including every header
 * field. */
static void require_converts(petal_options options, uint64_t removed)
{
    options.scheme = COUNTING;
    petal_filter *counting = create(&options);
    options.scheme = PETAL_SCHEME_CLASSIC;
    petal_filter *classic = create(&options);
    add_numbers(counting, 0, 1000);
    add_numbers(counting, 300, 10);
    remove_numbers(counting, 0, removed);
    add_numbers(classic, removed, 1000 - removed);
    add_numbers(classic, 300, 10);
    petal_filter *made = converted(counting);
    require(same_image(made, classic), "m = %llu, k = %u", (unsigned long long)options.bits,
            options.hashes);
    require_that(info_of(counting).capacity, ==, info_of(made).capacity);
    require_that(info_of(made).layers, ==, 1);
    petal_free(made);
    petal_free(counting);
    petal_free(classic);
}

static void without_counts_it_is_the_classic_filter_of_the_keys_that_are_in(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {9999, 10000, 10001, 10240, 16384, 1 << 20, (1 << 20) + 1};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint32_t k = 1; k <= 21; k += 4)
            require_converts(options_of(COUNTING, sizes[i], k, 0), 40 * k);
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 1000;
    options.rate = 0.001;
    options.metadata = "of the user";
    options.metadata_bytes = 11;
    options.seed = 12345;
    require_converts(options, 250);
    options.seed = 0;
    options.secret = "0123456789abcdef";
    require_converts(options, 0);
}

static void only_a_counting_filter_has_counts_to_drop(void **state)
{
    (void)state;
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++) {
        petal_error error = {PETAL_OK, 0, 0, ""};
        petal_filter *filter = make(scheme, 1024, 3, 0), *made = filter;
        require_status(PETAL_ERR_UNSUPPORTED, petal_drop_counts(filter, &made, &error), error);
        require_that(made, ==, NULL);
        require_that(strlen(error.message), >, 20);
        petal_free(filter);
    }
}

static void a_conversion_without_memory_fails_clean(void **state)
{
    (void)state;
    petal_error error;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = options_of(COUNTING, 10000, 4, 0);
    options.allocator = &allocator;
    options.metadata = "x";
    options.metadata_bytes = 1;
    petal_filter *filter = create(&options), *made = NULL;
    uint64_t before = count.live_blocks, calls = count.calls;
    petal_free(converted(filter));
    uint64_t needed = count.calls - calls;
    for (uint64_t i = 1; i <= needed; i++) {
        count.fail_at = count.calls + i;
        made = filter;
        require_status(PETAL_ERR_MEMORY, petal_drop_counts(filter, &made, &error), error);
        require_that(made, ==, NULL);
        require_that(count.live_blocks, ==, before);
        require_that(count.bad_releases, ==, 0);
    }
    petal_free(filter);
}

/* ---- planning -------------------------------------------------------------------------------- */

static petal_info plan_of(uint32_t scheme, uint64_t capacity, double rate, uint64_t memory_bytes)
{
    petal_options options = options_of(scheme, 0, 0, 0);
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    options.capacity = capacity;
    options.rate = rate;
    options.memory_bytes = memory_bytes;
    require_status(PETAL_OK, petal_plan(&options, &plan, NULL, &error), error);
    return plan;
}

static void a_plan_has_the_counters_of_classics_bits_and_four_times_its_memory(void **state)
{
    (void)state;
    for (uint64_t capacity = 1; capacity <= 1000000000; capacity *= 10)
        for (double rate = 0.3; rate > 1e-9; rate /= 10) {
            petal_info counting = plan_of(COUNTING, capacity, rate, 0);
            petal_info classic = plan_of(PETAL_SCHEME_CLASSIC, capacity, rate, 0);
            require_that(counting.bits, ==, classic.bits);
            require_that(counting.hashes, ==, classic.hashes);
            require_that(counting.predicted_rate, ==, classic.predicted_rate);
            require_that(counting.counter_bits, ==, 4);
            require(counting.bytes == (counting.bits + 127) / 128 * 64,
                    "%llu counters take %llu bytes", (unsigned long long)counting.bits,
                    (unsigned long long)counting.bytes);
        }
}

static void a_plan_for_memory_takes_no_more_than_that(void **state)
{
    (void)state;
    static const uint64_t memory[] = {64, 127, 128, 1000, 65536, 1 << 30};
    for (size_t i = 0; i < COUNT(memory); i++) {
        petal_info plan = plan_of(COUNTING, 1000, 0, memory[i]);
        assert_int_equal(plan.bytes, memory[i] / 64 * 64);
        assert_int_equal(plan.bits, 2 * plan.bytes);
    }
}

static void the_limits_are_64_hashes_and_32_tib(void **state)
{
    (void)state;
    petal_options options = options_of(COUNTING, (uint64_t)1 << 46, 64, 0);
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_plan(&options, &plan, NULL, &error), error);
    require_that(plan.bytes, ==, (uint64_t)1 << 45);
    options.bits++;
    require_status(PETAL_ERR_LIMIT, petal_plan(&options, &plan, NULL, &error), error);
    assert_non_null(strstr(error.message, "2^46 counters"));
    options.bits = UINT64_MAX;
    require_status(PETAL_ERR_LIMIT, petal_plan(&options, &plan, NULL, &error), error);
    options.hashes = 0;
    options.capacity = 1000;
    require_status(PETAL_ERR_LIMIT, petal_plan(&options, &plan, NULL, &error), error);
    options = options_of(COUNTING, 1000, 65, 0);
    require_status(PETAL_ERR_ARGUMENT, petal_plan(&options, &plan, NULL, &error), error);
    options = options_of(COUNTING, 1000, 4, 1);
    require_status(PETAL_ERR_ARGUMENT, petal_plan(&options, &plan, NULL, &error), error);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The filter's 600,000 bytes take up ten blocks. Few keys are added between syncs, so most blocks
 * stay unchanged. */
static void a_writable_map_is_at_every_sync_what_the_same_steps_make_in_memory(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("counting.petal");
    uint64_t random = 7, from = 0, to = 0;
    petal_filter *memory = make(COUNTING, 1200000, 5, 0);
    require_status(PETAL_OK, petal_save(memory, path, NULL, &error), error);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    for (int round = 0; round < 60; round++) {
        uint64_t adds = round % 3 ? random_below(&random, 3) : 2000,
                 removals = random_below(&random, to - from + adds);
        add_numbers(map, to, adds);
        add_numbers(memory, to, adds);
        to += adds;
        remove_numbers(map, from, removals);
        remove_numbers(memory, from, removals);
        from += removals;
        require_status(PETAL_OK, petal_sync(map, &error), error);
        petal_filter *read = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
        require(content_of(read) == content_of(memory), "round %d", round);
        require_that(info_of(read).items, ==, to - from);
        require_that(info_of(map).items, ==, to - from);
        petal_free(read);
    }
    petal_free(map);
    petal_free(memory);
    unlink(path);
}

static void a_single_removal_is_on_disk_after_a_sync(void **state)
{
    (void)state;
    petal_error error;
    petal_key keys[] = {key_of("b"), key_of("never")};
    const char *path = temporary("counting-one.petal");
    petal_filter *filter = make(COUNTING, 1200000, 5, 0);
    petal_add(filter, "a", 1);
    petal_add(filter, "b", 1);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    assert_int_equal(petal_remove(map, "a", 1), PETAL_OK);
    require_status(PETAL_OK, petal_sync(map, &error), error);
    assert_int_equal(remove_keys(map, keys, 2, NULL, NULL), PETAL_OK);
    petal_free(map);
    petal_filter *read = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_that(stats_of(read).bits_set, ==, 0);
    require_that(info_of(read).items, ==, 0);
    petal_free(read);
    petal_free(filter);
    unlink(path);
}

static void a_count_behind_the_last_counter_is_damage(void **state)
{
    (void)state;
    petal_error error;
    for (uint64_t m = 1; m <= 130; m++) {
        petal_filter *filter = make(COUNTING, m, 2, 0);
        struct bytes image = serialized(filter);
        uint64_t size = m <= 128 ? 64 : 128;
        for (uint64_t bit = 4 * m; bit < 8 * size; bit += 1 + bit % 5) {
            payload_of(image)[bit / 8] ^= (uint8_t)(1u << bit % 8);
            require_status(PETAL_ERR_DAMAGED, status_of_loading(image, PETAL_OPEN_LOAD, &error),
                           error);
            payload_of(image)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        require_status(PETAL_OK, status_of_loading(image, PETAL_OPEN_LOAD, &error), error);
        free(image.data);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_steps_give_the_published_answers_and_counters),
        cmocka_unit_test(the_textbook_filter_counts_as_the_specification_shows),
        cmocka_unit_test(a_million_steps_miss_no_key_and_what_is_removed_leaves_no_trace),
        cmocka_unit_test(a_million_steps_with_counters_that_stick_miss_no_key),
        cmocka_unit_test(steps_are_exact_at_every_k_and_around_whole_lines),
        cmocka_unit_test(a_key_is_in_until_it_is_removed_as_often_as_it_was_added),
        cmocka_unit_test(removing_an_absent_key_is_refused_and_changes_nothing),
        cmocka_unit_test(numbers_and_hashes_name_the_same_key_as_bytes),
        cmocka_unit_test(each_distinct_position_of_a_key_is_counted_once),
        cmocka_unit_test(removing_a_key_that_was_never_added_can_lose_another),
        cmocka_unit_test(a_counter_that_has_come_to_15_sticks_and_is_reported),
        cmocka_unit_test(counters_stick_at_the_rated_load_as_rarely_as_the_documents_say),
        cmocka_unit_test(a_batch_removes_like_one_by_one),
        cmocka_unit_test(only_counting_filters_that_can_be_written_remove),
        cmocka_unit_test(a_counting_filter_is_not_shared_and_says_so),
        cmocka_unit_test(a_merge_adds_the_counters_up_to_15),
        cmocka_unit_test(after_a_merge_the_keys_of_each_can_be_removed),
        cmocka_unit_test(an_intersection_keeps_the_lower_counters),
        cmocka_unit_test(counters_and_bits_do_not_mix),
        cmocka_unit_test(without_counts_it_is_the_classic_filter_of_the_keys_that_are_in),
        cmocka_unit_test(only_a_counting_filter_has_counts_to_drop),
        cmocka_unit_test(a_conversion_without_memory_fails_clean),
        cmocka_unit_test(a_plan_has_the_counters_of_classics_bits_and_four_times_its_memory),
        cmocka_unit_test(a_plan_for_memory_takes_no_more_than_that),
        cmocka_unit_test(the_limits_are_64_hashes_and_32_tib),
        cmocka_unit_test(a_writable_map_is_at_every_sync_what_the_same_steps_make_in_memory),
        cmocka_unit_test(a_single_removal_is_on_disk_after_a_sync),
        cmocka_unit_test(a_count_behind_the_last_counter_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

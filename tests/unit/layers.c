/* layers.c - tests the guarantees for filters with several layers. Growing filters keep every key
 * at any size. Windows keep the newest keys and forget older ones. These promises must hold for
 * batches, copies and files, after crashes, and if the clock is wrong. */
#include "image.h"

#include "../amount.h"
#include "petal/petal_host.h"

#include <signal.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HOUR ((uint64_t)3600 * 1000)
#define DAY (24 * HOUR)

/* Loops over the schemes that can grow and rotate. NOLINTBEGIN(bugprone-macro-parentheses): a name
 * can't be parenthesised */
#define FOR_LAYERED_SCHEMES(scheme) \
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; \
         scheme = scheme + 1)
/* NOLINTEND(bugprone-macro-parentheses) */

static petal_options growing(uint64_t capacity, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = capacity;
    options.rate = rate;
    options.growth = true;
    return options;
}

static petal_options window_of_keys(uint64_t keys, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.window_keys = keys;
    options.rate = rate;
    return options;
}

static petal_options window_of_time(uint64_t ms, uint64_t keys, double rate)
{
    petal_options options = window_of_keys(keys, rate);
    options.window_ms = ms;
    return options;
}

static void tell_time(petal_filter *filter, uint64_t now_ms)
{
    petal_error error;
    require_status(PETAL_OK, petal_set_clock(filter, now_ms, &error), error);
}

/* Saves the filter and loads the file. */
static petal_filter *through_a_file(petal_filter *filter, const char *name)
{
    petal_error error;
    petal_filter *back = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_save(filter, temporary(name), NULL, &error), error);
    require_status(PETAL_OK, petal_open(temporary(name), &options, &back, &error), error);
    assert_true(same_image(filter, back));
    petal_free(filter);
    return back;
}

/* ---- growing --------------------------------------------------------------------------------- */

static void a_growing_filter_adds_layers_as_its_policy_says(void **state)
{
    (void)state;
    FOR_LAYERED_SCHEMES(scheme)
    {
        petal_options options = growing(100, 0.02);
        options.scheme = scheme;
        options.growth_step = 3;
        options.growth_ratio = 0.5;
        petal_filter *filter = create(&options);
        add_numbers(filter, 0, 20000);
        require_numbers(filter, 0, 20000);
        petal_info info = info_of(filter);
        petal_layers_info how = layers_info_of(filter, PETAL_ALL_LAYERS);
        petal_stats info_stats = stats_of(filter);
        require_that(info.policy, ==, PETAL_POLICY_GROWING);
        require_that(how.growth_step, ==, 3);
        require_that(how.growth_ratio, ==, 0.5);
        require_that(info.target_rate, ==, 0.02);
        require_that(info.layers, ==, 6);
        double sum = 0, rate = 0.01;
        uint64_t capacity = 100;
        for (uint32_t i = 0; i < info.layers; i++, capacity *= 3, rate *= 0.5) {
            petal_info layer = layer_of(filter, i);
            require(layer.capacity == capacity && layer.target_rate == rate, "layer %u", i);
            require(i + 1 == info.layers ? layer.items < capacity : layer.items == capacity,
                    "layer %u", i);
            sum += layer_stats(filter, i).estimated_rate;
        }
        require(info_stats.estimated_rate <= sum && sum < 0.03, "%g, sum %g",
                info_stats.estimated_rate, sum); /* small layers deviate widely */
        petal_free(filter);
    }
}

static void repeats_do_not_make_it_grow(void **state)
{
    (void)state;
    petal_options options = growing(1000, 1e-6);
    petal_filter *filter = create(&options);
    for (int round = 0; round < 20; round++) add_numbers(filter, 0, 1000);
    petal_info info = info_of(filter);
    require_that(info.layers, ==, 1);
    require_that(info.items, ==, 1000);
    assert_int_equal(petal_add_i64(filter, 5), PETAL_SEEN);
    assert_int_equal(petal_add_i64(filter, 1000), PETAL_OK);
    assert_int_equal(info_of(filter).layers, 2);
    petal_free(filter);
}

/* Adds the same keys to `batched` in batches of random sizes, and to `single` one at a time. The
 * answers and the images must be equal. */
static void require_batches_equal_singles(const petal_options *options, uint64_t seed)
{
    static int64_t keys[5000];
    static uint8_t was_new[5000];
    uint64_t random = seed;
    petal_filter *batched = create(options), *single = create(options);
    for (int round = 0; round < 60; round++) {
        size_t count = 1 + random_below(&random, round % 3 ? 5000 : 40), sum = 0, new_count;
        for (size_t i = 0; i < count; i++)
            keys[i] = (int64_t)random_below(&random, 1 + (uint64_t)round * 1000);
        assert_int_equal(add_number_batch(batched, keys, count, was_new, &new_count), PETAL_OK);
        for (size_t i = 0; i < count; i++) {
            bool is_new = petal_add_i64(single, keys[i]) == PETAL_OK;
            require(was_new[i] == is_new, "seed %llu, round %d, key %zu", (unsigned long long)seed,
                    round, i);
            sum += is_new;
        }
        assert_int_equal(new_count, sum);
        assert_int_equal(contains_numbers(batched, keys, count, NULL),
                         contains_numbers(single, keys, count, NULL));
        require(same_image(batched, single), "seed %llu, round %d", (unsigned long long)seed,
                round);
    }
    petal_free(batched);
    petal_free(single);
}

static void a_batch_is_byte_for_byte_what_one_by_one_makes(void **state)
{
    (void)state;
    FOR_LAYERED_SCHEMES(scheme)
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t size = (uint64_t[]){1, 7, 300, 4000}[seed - 1];
        petal_options options[] = {growing(size, 0.05), window_of_keys(size, 0.05),
                                   window_of_time(DAY, size, 0.05)};
        for (size_t i = 0; i < COUNT(options); i++) {
            options[i].scheme = scheme;
            require_batches_equal_singles(&options[i], seed);
        }
    }
}

static void keys_hashes_and_batches_of_them_agree_with_numbers(void **state)
{
    (void)state;
    petal_options kinds[] = {growing(50, 0.01), window_of_keys(500, 0.01)};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        petal_filter *numbers = create(&kinds[k]), *keys = create(&kinds[k]),
                     *hashes = create(&kinds[k]);
        uint8_t bytes[1000][8];
        petal_key list[1000];
        uint64_t hash[1000];
        for (int i = 0; i < 1000; i++) {
            petal_encode_i64(i, bytes[i]);
            list[i] = (petal_key){bytes[i], 8};
            hash[i] = petal_hash_key(hashes, bytes[i], 8);
            petal_add_i64(numbers, i);
        }
        assert_int_equal(add_key_batch(keys, list, 1000, NULL, NULL), PETAL_OK);
        assert_int_equal(add_hash_batch(hashes, hash, 500, NULL, NULL), PETAL_OK);
        for (int i = 500; i < 1000; i++) require_that(petal_add_hash(hashes, hash[i]), >=, 0);
        assert_true(same_image(numbers, keys));
        assert_true(same_image(numbers, hashes));
        petal_free(numbers);
        petal_free(keys);
        petal_free(hashes);
    }
}

static void copies_and_files_of_a_layered_filter_go_on_as_it_would(void **state)
{
    (void)state;
    petal_options kinds[] = {growing(100, 0.01), window_of_keys(1000, 0.01),
                             window_of_time(DAY, 1000, 0.01)};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        petal_filter *filter = create(&kinds[k]);
        if (kinds[k].window_ms) tell_time(filter, 20000 * DAY);
        add_numbers(filter, 0, 1234);
        petal_filter *copy = clone_of(filter),
                     *back = through_a_file(clone_of(filter), "copy.petal");
        assert_true(same_image(filter, copy));
        petal_filter *all[] = {filter, copy, back};
        for (size_t i = 0; i < COUNT(all); i++) {
            if (kinds[k].window_ms) tell_time(all[i], 20000 * DAY + 9 * HOUR);
            add_numbers(all[i], 1000, 3000);
        }
        assert_true(same_image(filter, copy));
        assert_true(same_image(filter, back));
        require_that(content_of(filter), ==, content_of(back));
        for (size_t i = 0; i < COUNT(all); i++) petal_free(all[i]);
    }
}

static void clear_makes_a_layered_filter_as_new(void **state)
{
    (void)state;
    petal_options kinds[] = {growing(100, 0.01), window_of_keys(1000, 0.01)};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        petal_error error;
        petal_filter *filter = create(&kinds[k]), *fresh = create(&kinds[k]);
        add_numbers(filter, 0, 5000);
        require_status(PETAL_OK, petal_clear(filter, &error), error);
        assert_true(same_image(filter, fresh));
        add_numbers(filter, 0, 5000);
        add_numbers(fresh, 0, 5000);
        assert_true(same_image(filter, fresh));
        petal_free(filter);
        petal_free(fresh);
    }
}

static void a_writable_map_of_a_growing_file_takes_keys_until_its_layer_is_full(void **state)
{
    (void)state;
    petal_error error;
    petal_options options = growing(1000, 1e-6);
    petal_open_options writable = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = create(&options), *map = NULL;
    add_numbers(filter, 0, 1500);
    require_status(PETAL_OK, petal_save(filter, temporary("map.petal"), NULL, &error), error);
    writable.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(temporary("map.petal"), &writable, &map, &error), error);
    static int64_t keys[3000];
    static uint8_t was_new[3000];
    for (int i = 0; i < 3000; i++) keys[i] = 500 + i;
    size_t new_count = 0;
    assert_int_equal(add_number_batch(map, keys, 3000, was_new, &new_count), PETAL_ERR_UNSUPPORTED);
    require_that(new_count, ==, 1500);
    require_that(was_new[999], ==, 0);
    require_that(was_new[1000], ==, 1);
    require_that(was_new[2499], ==, 1);
    require_that(was_new[2500], ==, 0);
    assert_int_equal(petal_add_i64(map, 3000), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_add_i64(map, 2999), PETAL_SEEN);
    require_numbers(map, 0, 3000);
    require_status(PETAL_OK, petal_sync(map, &error), error);
    petal_free(map);
    add_numbers(filter, 1500, 1500);
    writable.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_open(temporary("map.petal"), &writable, &map, &error), error);
    require_that(content_of(map), ==, content_of(filter));
    require_that(info_of(map).items, ==, 3000);
    add_numbers(map, 3000, 10);
    assert_int_equal(info_of(map).layers, 3);
    petal_free(map);
    petal_free(filter);
}

/* Returns the image of a filter whose only layer claims to contain `capacity` keys and to be
 * full. */
static struct bytes full_image(uint64_t capacity)
{
    petal_options options = growing(100, 0.01);
    petal_filter *filter = create(&options);
    struct bytes image = serialized(filter);
    petal_free(filter);
    for (unsigned slot = 0; slot < 2; slot++) {
        put64(slot_of(image, slot) + AT_POLICY_KEYS, capacity);
        put64(slot_of(image, slot) + AT_CAPACITY, capacity);
        put64(slot_of(image, slot) + AT_ITEMS, capacity);
    }
    seal_both(image);
    return image;
}

/* Returns a filter with a full layer of `capacity` keys. Adding that many keys would take too long,
 * so the file claims that they are present although their bits are not set. */
static petal_filter *full_layer(uint64_t capacity)
{
    struct bytes image = full_image(capacity);
    petal_filter *filter = load(image);
    free(image.data);
    return filter;
}

/* An allocator that refuses large requests, and records the largest one. */
static void *alloc_small(void *context, size_t size_bytes)
{
    *(size_t *)context = size_bytes > *(size_t *)context ? size_bytes : *(size_t *)context;
    return size_bytes <= (size_t)64 << 20 ? calloc(1, size_bytes) : NULL;
}

static void release_small(void *context, void *memory, size_t size_bytes)
{
    (void)context, (void)size_bytes;
    free(memory);
}

/* Opens a full filter with this memory limit, and adds a key. Returns the status, and stores the
 * size of the largest requested allocation. */
static petal_status grow_within(struct bytes image, uint64_t limit, size_t *largest)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_allocator allocator = {alloc_small, release_small, largest};
    petal_filter *filter = NULL, *copy = NULL;
    petal_error error;
    options.allocator = &allocator;
    options.memory_limit = limit;
    require_status(PETAL_OK, petal_load(image.data, image.size, &options, &filter, &error), error);
    require_status(PETAL_OK, petal_clone(filter, &copy, &error), error);
    *largest = 0;
    petal_status status = petal_add_i64(filter, 1);
    assert_int_equal(petal_add_i64(copy, 1), status);
    petal_free(copy);
    petal_free(filter);
    return status;
}

static void the_next_layer_of_a_file_is_within_the_limit_it_was_opened_with(void **state)
{
    size_t largest;
    (void)state;
    struct bytes image =
        full_image((uint64_t)1 << 33); /* the next layer would hold 2^34 keys and need 30 GB */
    assert_int_equal(grow_within(image, 0, &largest), PETAL_ERR_LIMIT);
    require_that(largest, <, 1000000);
    assert_int_equal(grow_within(image, (uint64_t)16 << 20, &largest), PETAL_ERR_LIMIT);
    require_that(largest, <, 1000000);
    assert_int_equal(grow_within(image, UINT64_MAX, &largest), PETAL_ERR_MEMORY);
    require_that(largest, >, (uint64_t)20 << 30);
    free(image.data);
}

/* The limit is the larger of 1 GiB and 64 times the size of the existing layers. */
static void a_large_filter_grows_beyond_a_gibibyte(void **state)
{
    petal_options options = growing(16000000, 0.01);
    size_t largest;
    (void)state;
    options.growth_step = 48;
    petal_filter *filter = create(&options);
    require(info_of(filter).bytes * 64 > (uint64_t)3 << 29, "%llu bytes",
            (unsigned long long)info_of(filter).bytes);
    struct bytes image = serialized(filter);
    petal_free(filter);
    for (unsigned slot = 0; slot < 2; slot++) put64(slot_of(image, slot) + AT_ITEMS, 16000000);
    seal_both(image);
    /* The limit allowed this allocation, so the library requested it, but the test's allocator
     * refused. */
    assert_int_equal(grow_within(image, 0, &largest), PETAL_ERR_MEMORY);
    require_that(largest, >, (size_t)1 << 30);
    free(image.data);
}

static void a_filter_that_cannot_grow_any_more_says_so_and_goes_on_answering(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {(uint64_t)1 << 46, (uint64_t)1 << 62, (uint64_t)1 << 63,
                                          UINT64_MAX};
    for (size_t i = 0; i < COUNT(capacities); i++) {
        petal_filter *filter = full_layer(capacities[i]);
        int64_t keys[2] = {1, 2};
        assert_int_equal(petal_add_i64(filter, 1), PETAL_ERR_FULL);
        assert_int_equal(add_number_batch(filter, keys, 2, NULL, NULL), PETAL_ERR_FULL);
        assert_false(petal_contains_i64(filter, 1));
        assert_int_equal(info_of(filter).layers, 1);
        petal_free(filter);
    }
}

/* Sets each layer's items to its capacity, so the file claims to be full. */
static void files_of_twenty_layers_grow_on(void **state)
{
    (void)state;
    petal_options options = growing(1, 0.9);
    options.growth_ratio = 0.999;
    petal_filter *filter = create(&options);
    uint32_t layers = 1;
    for (petal_status status = PETAL_OK; status >= 0 && layers < 20; layers++) {
        struct bytes image = serialized(filter);
        for (unsigned slot = 0; slot < 2;
             slot++) { /* not seal(), which assumes the smallest slots */
            uint64_t slot_bytes = get32(image.data + AT_SLOT_BYTES);
            uint8_t *at = image.data + slot * slot_bytes;
            put64(at + AT_ITEMS + (uint64_t)LAYER_ENTRY * (layers - 1),
                  (uint64_t)1 << (layers - 1));
            put64(at + slot_bytes - 8, XXH3_64bits_withSeed(at, slot_bytes - 8, slot));
        }
        petal_free(filter);
        filter = load(image);
        free(image.data);
        for (int64_t key = 0; info_of(filter).layers == layers && status >= 0; key++)
            status = petal_add_i64(filter, key);
    }
    require(info_of(filter).layers == 20, "%u layers", info_of(filter).layers);
    petal_free(filter);
}

/* ---- rotating -------------------------------------------------------------------------------- */

/* A window by keys always consists of G generations. A window by time consists of at most 2G - 1,
 * and the planned size allows for that number. */
static void the_planner_chooses_the_generations_that_need_nearly_the_least_memory(void **state)
{
    (void)state;
    static const double rates[] = {0.1, 0.01, 0.001, 1e-5};
    FOR_LAYERED_SCHEMES(scheme)
    for (size_t i = 0; i < 2 * COUNT(rates); i++) {
        double rate = rates[i / 2], near = i % 2 ? 1.02 : 1.01;
        petal_options options =
            i % 2 ? window_of_time(DAY, 1000000, rate) : window_of_keys(1000000, rate);
        petal_options plain = PETAL_OPTIONS_INIT;
        petal_info chosen = PETAL_INFO_INIT, other = PETAL_INFO_INIT;
        petal_layers_info how = PETAL_LAYERS_INFO_INIT, with = PETAL_LAYERS_INFO_INIT;
        petal_error error;
        options.scheme = plain.scheme = scheme;
        plain.capacity = 1000000;
        plain.rate = rate;
        require_status(PETAL_OK, petal_plan(&options, &chosen, &how, &error), error);
        require_that(chosen.predicted_rate, <=, rate);
        require_that(chosen.predicted_rate, >, rate / 2);
        require_that(chosen.capacity, ==, 1000000);
        for (options.generations = 2; options.generations <= 32; options.generations++) {
            uint32_t layers = i % 2 ? 2 * options.generations - 1 : options.generations;
            require_status(PETAL_OK, petal_plan(&options, &other, &with, &error), error);
            require(with.generations == options.generations && other.layers == layers, "%u layers",
                    other.layers);
            require((double)chosen.bytes <= near * (double)other.bytes,
                    "%s, rate %g: %u generations, %u need less", chosen.scheme_name, rate,
                    how.generations, with.generations);
        }
        require_status(PETAL_OK, petal_plan(&plain, &other, NULL, &error), error);
        printf("# %s, %s, rate %g: %u generations, %.2f times a plain filter\n", chosen.scheme_name,
               i % 2 ? "by time, all 2G - 1" : "by keys", rate, how.generations,
               (double)chosen.bits / (double)other.bits);
        require_that((double)chosen.bits, <,
                     (i % 2 ? 1.9 : 1) * (rate > 0.05 ? 2.2 : 1.75) * (double)other.bits);
    }
}

/* In a small window, a generation consists of only a few lines, so a single line matters. */
static void small_windows_need_less_than_twice_the_least_memory(void **state)
{
    (void)state;
    static const double rates[] = {0.1, 0.01, 0.001, 1e-5};
    double worst[2] = {0};
    FOR_LAYERED_SCHEMES(scheme)
    for (size_t i = 0; i < 3 * COUNT(rates); i++)
        for (uint64_t keys = 10; keys < 1000000; keys = keys * 3 / 2) {
            petal_options options = window_of_keys(keys, rates[i / 3]);
            petal_info chosen = PETAL_INFO_INIT, other = PETAL_INFO_INIT;
            options.scheme = scheme;
            options.hashes = (uint32_t)(4 * (i % 3)); /* 0: the planner chooses */
            if (petal_plan(&options, &chosen, NULL, NULL) != PETAL_OK) continue;
            for (options.generations = 2; options.generations <= 16; options.generations++) {
                if (petal_plan(&options, &other, NULL, NULL) != PETAL_OK) continue;
                double ratio = (double)chosen.bytes / (double)other.bytes;
                if (ratio > worst[keys > 10000]) worst[keys > 10000] = ratio;
            }
        }
    printf("# up to 10^4 keys %.2f times the least, up to 10^6 %.2f times\n", worst[0], worst[1]);
    require_that(worst[0], <, 2);
    require_that(worst[1], <, 1.2);
    require_that(worst[1], >, 0);
}

/* One layer is too small for all of these keys, but large enough for half of them. */
static void a_number_of_generations_that_is_impossible_is_passed_over(void **state)
{
    (void)state;
    petal_options options = window_of_keys((uint64_t)30 << 40, 0.01);
    petal_info info = PETAL_INFO_INIT;
    petal_layers_info how = PETAL_LAYERS_INFO_INIT;
    petal_error error;
    options.scheme = PETAL_SCHEME_CLASSIC;
    options.generations = 2;
    require_status(PETAL_ERR_UNREACHABLE, petal_plan(&options, &info, NULL, &error), error);
    options.generations = 3;
    require_status(PETAL_OK, petal_plan(&options, &info, NULL, &error), error);
    options.generations = 0;
    require_status(PETAL_OK, petal_plan(&options, &info, &how, &error), error);
    require_that(how.generations, >, 2);
}

/* rotating.c relies on the following claim: however G shares of keys are spread over generations,
 * the rate is highest if G generations are full. The claim is true if -ln(1 - rate) of a
 * generation, as a function of its number of keys, lies below the chord between no keys and a full
 * share. */
static void a_full_generation_is_the_worst_that_its_keys_can_do(void **state)
{
    (void)state;
    static const double rates[] = {0.99, 0.9, 0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 1e-5, 1e-9};
    static const uint64_t windows[] = {1, 10, 50, 300, 5000, 100000};
    uint64_t checked = 0;
    FOR_LAYERED_SCHEMES(scheme)
    for (size_t i = 0; i < COUNT(rates) * COUNT(windows); i++)
        for (uint32_t generations = 2; generations <= 32; generations += generations < 8 ? 1 : 8) {
            petal_options one = PETAL_OPTIONS_INIT;
            petal_info plan = PETAL_INFO_INIT;
            uint64_t keys = windows[i / COUNT(rates)];
            one.scheme = scheme;
            one.capacity = keys / (generations - 1) + (keys % (generations - 1) != 0);
            one.rate = rates[i % COUNT(rates)] / generations;
            if (petal_plan(&one, &plan, NULL, NULL) != PETAL_OK)
                continue; /* too many bits for one generation */
            double full = -log1p(-petal_predict_rate(&plan, one.capacity));
            for (uint64_t part = 1; part <= 32; part++, checked++) {
                uint64_t some = one.capacity * part / 32;
                double chord = full * (double)some / (double)one.capacity;
                double there = -log1p(-petal_predict_rate(&plan, some));
                require(there <= chord * (1 + 1e-9) + 1e-11,
                        "%s, rate %g, %llu of %llu keys: %g, chord %g", plan.scheme_name, one.rate,
                        (unsigned long long)some, (unsigned long long)one.capacity, there, chord);
            }
        }
    printf("# %llu fills compared\n", (unsigned long long)checked);
}

static void a_window_of_keys_drops_a_generation_at_the_very_key(void **state)
{
    (void)state;
    petal_options options = window_of_keys(30, 1e-9);
    options.generations = 4; /* 10 keys each */
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, 40);
    require_numbers(filter, 0, 40);
    add_numbers(filter, 40, 1);
    for (int64_t i = 0; i < 10; i++) assert_false(petal_contains_i64(filter, i));
    require_numbers(filter, 10, 31);
    /* A key that is added again stays for another window. */
    assert_int_equal(petal_add_i64(filter, 10), PETAL_SEEN);
    add_numbers(filter, 1000, 38);
    assert_true(petal_contains_i64(filter, 10));
    assert_true(!petal_contains_i64(filter, 11));
    assert_true(!petal_contains_i64(filter, 19));
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(layer_of(filter, i).capacity, 10);
    petal_free(filter);
}

static void
a_clock_that_steps_back_changes_nothing_and_one_that_leaps_drops_all_at_once(void **state)
{
    (void)state;
    petal_error error;
    petal_options options = window_of_time(7 * DAY, 1000, 1e-9);
    options.generations = 8; /* one day each */
    petal_filter *filter = create(&options);
    uint64_t now = 20000 * DAY + 13 * HOUR;
    assert_int_equal(info_of(filter).layers, 1);
    assert_int_equal(layers_info_of(filter, PETAL_ALL_LAYERS).generations, 8);
    add_numbers(filter, 0, 10); /* added before the clock is set */
    require_that(layers_info_of(filter, 0).latest_ms, ==, 0);
    require_that(layers_info_of(filter, PETAL_ALL_LAYERS).clock_ms, ==, 0);
    tell_time(filter, now);
    require_numbers(filter, 0, 10);
    tell_time(filter, now + 7 * DAY);
    require_numbers(filter, 0, 10); /* the first keys stay for a week */
    struct bytes before = serialized(filter);
    tell_time(filter, now + 6 * DAY);
    tell_time(filter, 0);
    tell_time(filter, 1);
    struct bytes after = serialized(filter);
    assert_true(same_bytes(before, after));
    add_numbers(filter, 50, 10);
    assert_int_equal(info_of(filter).layers, 2);
    tell_time(filter, now + 8 * DAY);
    for (int64_t i = 0; i < 10; i++) assert_false(petal_contains_i64(filter, i));
    require_numbers(filter, 50, 10);
    add_numbers(filter, 100, 10);
    petal_layers_info newest = layers_info_of(filter, 1), oldest = layers_info_of(filter, 0);
    require_that(newest.earliest_ms, ==, now + 8 * DAY);
    require_that(newest.latest_ms, ==, now + 9 * DAY - 1);
    require_that(layer_of(filter, 1).items, ==, 10);
    require_that(oldest.earliest_ms, ==, now + 7 * DAY);
    require_that(oldest.latest_ms, ==, now + 8 * DAY - 1);
    tell_time(filter, INT64_MAX); /* must return immediately */
    assert_int_equal(stats_of(filter).bits_set, 0);
    assert_int_equal(info_of(filter).layers, 1);
    add_numbers(filter, 0, 10);
    require_status(PETAL_ERR_ARGUMENT, petal_set_clock(filter, (uint64_t)INT64_MAX + 1, &error),
                   error);
    tell_time(filter, INT64_MAX);
    require_numbers(filter, 0, 10);
    require_that(layers_info_of(filter, PETAL_ALL_LAYERS).clock_ms, ==, INT64_MAX);
    petal_free(filter);
    free(before.data);
    free(after.data);
}

/* A query for a given time, past or future, must answer like a copy whose clock was set to that
 * time, both for single keys and in batches. Queries must not change any bit, item count or
 * time. */
static void queries_at_a_time_answer_as_if_the_clock_had_been_set(void **state)
{
    petal_options options = window_of_time(3000, 400, 0.01);
    petal_filter *filter, *copy;
    petal_error error;
    uint8_t answers[2000], wanted[2000];
    int64_t numbers[sizeof answers];
    petal_batch batch = batch_of_numbers(numbers, sizeof answers);
    (void)state;
    for (size_t i = 0; i < sizeof answers; i++) numbers[i] = (int64_t)i;
    options.generations = 4;
    require_status(PETAL_OK, petal_create(&options, &filter, &error), error);
    require_status(PETAL_OK, petal_set_query_clock(filter, 5, &error),
                   error); /* the filter's clock was never set */
    for (uint64_t now = 10000; now < 20000; now += 177) {
        tell_time(filter, now);
        add_numbers(filter, (int64_t)(now % 1931), 20);
        struct bytes before = serialized(filter);
        for (uint64_t at = now - 2000; at < now + 6000; at += 333) {
            uint64_t sum = 0;
            require_status(PETAL_OK, petal_clone(filter, &copy, &error), error);
            tell_time(copy, at);
            require_status(PETAL_OK, petal_set_query_clock(filter, at, &error), error);
            petal_contains_batch(filter, &batch, answers, NULL, NULL);
            petal_contains_batch(copy, &batch, wanted, NULL, NULL);
            assert_memory_equal(answers, wanted, sizeof answers);
            for (int64_t i = 0; i < (int64_t)sizeof answers; i++)
                sum += petal_contains_i64(filter, i) != (bool)wanted[i];
            assert_int_equal(sum, 0);
            petal_free(copy);
        }
        struct bytes after = serialized(filter);
        assert_true(same_bytes(before, after));
        free(before.data);
        free(after.data);
    }
    require_status(PETAL_OK, petal_set_query_clock(filter, 0, &error), error);
    require_status(PETAL_ERR_ARGUMENT,
                   petal_set_query_clock(filter, (uint64_t)INT64_MAX + 1, &error), error);
    petal_free(filter);
}

/* Generations have dates as soon as the clock is at least 1 ms. After the end of the first window,
 * some generations are too old. */
static void the_first_clock_and_the_end_of_a_window_are_exact(void **state)
{
    static const struct {
        uint64_t clock, query;
        bool is_kept;
    } rows[] = {{1, 1, true},       {1, 3001, true},    {1, 4000, true},     {1, 4001, false},
                {1000, 1000, true}, {1000, 4999, true}, {1000, 5000, false}, {0, 9000, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        petal_error error;
        petal_options options = window_of_time(3000, 400, 0.01);
        options.generations = 4;
        petal_filter *filter = create(&options);
        if (rows[i].clock) tell_time(filter, rows[i].clock);
        petal_add_i64(filter, 7);
        require_status(PETAL_OK, petal_set_query_clock(filter, rows[i].query, &error), error);
        require(petal_contains_i64(filter, 7) == rows[i].is_kept, "clock %d, query at %d: %s",
                (int)rows[i].clock, (int)rows[i].query, rows[i].is_kept ? "lost" : "kept");
        petal_free(filter);
    }
}

static petal_filter *four_generations(uint64_t window_keys)
{
    petal_options options = window_of_time(3000, window_keys, 1e-9);
    options.generations = 4;
    return create(&options);
}

static bool has_any(const petal_filter *filter, int64_t from, int64_t count)
{
    bool any = false;
    for (int64_t i = from; i < from + count; i++) any |= petal_contains_i64(filter, i);
    return any;
}

/* Each generation holds a share of 10 keys, for a span of one second. */
static void a_burst_closes_generations_by_their_share_and_age_alone_drops_them(void **state)
{
    (void)state;
    petal_filter *filter = four_generations(30);
    tell_time(filter, 5000);
    add_numbers(filter, 0, 30);
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    require_that(info.layers, ==, 3);
    assert_true(!info_stats.overfull);
    require_that(info.items, ==, 30);
    for (uint32_t i = 0; i < 3; i++) {
        require_that(layer_of(filter, i).items, ==, 10);
        require_that(layer_of(filter, i).capacity, ==, 10);
    }
    require_that(layers_info_of(filter, 0).latest_ms, ==, 5000);
    require_that(layers_info_of(filter, 2).latest_ms, ==, 5999);
    tell_time(filter, 8000); /* keys from 5000 ms on are in the window */
    require_numbers(filter, 0, 30);
    tell_time(filter, 8001);
    assert_false(has_any(filter, 0, 20));
    require_numbers(filter, 20, 10); /* their generation's latest time is 5999 */
    tell_time(filter, 8999);
    require_numbers(filter, 20, 10);
    tell_time(filter, 9000);
    assert_false(has_any(filter, 20, 10));
    petal_free(filter);
}

static void repeats_use_up_nothing_and_idle_generations_cost_nothing(void **state)
{
    (void)state;
    petal_filter *filter = four_generations(30);
    tell_time(filter, 5000);
    for (int round = 0; round < 100; round++) add_numbers(filter, 0, 9);
    require_that(info_of(filter).layers, ==, 1);
    require_that(info_of(filter).items, ==, 9);
    for (uint64_t now = 6000; now <= 8999; now += 7) tell_time(filter, now);
    assert_int_equal(info_of(filter).layers, 1);
    require_numbers(filter, 0, 9);
    tell_time(filter, 9000);
    for (uint64_t now = 10000; now < 100000; now += 777) tell_time(filter, now);
    add_numbers(filter, 100, 9);
    info_of(filter);
    require_that(info_of(filter).layers, ==, 1);
    require_that(info_of(filter).items, ==, 9);
    petal_free(filter);
}

/* A window for 1,000 keys and the generation before it contain at most four shares of 334 keys. The
 * filter keeps its rate up to that number. */
static void more_keys_than_planned_in_a_window_of_time_are_said_and_none_is_dropped(void **state)
{
    (void)state;
    petal_filter *filter = four_generations(1000);
    tell_time(filter, 20000 * DAY);
    add_numbers(filter, 0, 1336);
    assert_true(!petal_is_overfull(filter));
    assert_true(!stats_of(filter).overfull);
    require_that(info_of(filter).layers, ==, 4);
    add_numbers(filter, 1336, 1);
    assert_true(petal_is_overfull(filter));
    assert_true(stats_of(filter).overfull);
    add_numbers(filter, 1337, 10000 - 1337);
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    require_that(info.layers, ==, 7);
    assert_true(info_stats.overfull);
    require_that(layers_info_of(filter, PETAL_ALL_LAYERS).generations, ==, 4);
    require_that(info.capacity, ==, 1000);
    require_that(layer_of(filter, 6).items, >,
                 10 * layer_of(filter, 6).capacity); /* counts keys that set a new bit */
    tell_time(filter, 20000 * DAY + 3000);
    add_numbers(filter, 10000, 5); /* the newest generation stays, although it has expired */
    require_numbers(filter, 0, 10005);
    assert_int_equal(info_of(filter).layers, 7);
    tell_time(filter, 20000 * DAY + 3001);
    assert_int_equal(info_of(filter).layers, 1);
    add_numbers(filter, 20000, 5);
    tell_time(filter, 20000 * DAY + 6000); /* one window after the newest keys */
    require_numbers(filter, 6 * 334, 10005 - 6 * 334);
    tell_time(filter, 20000 * DAY + 6001);
    assert_false(petal_contains_i64(filter, 10001));
    require_numbers(filter, 20000, 5);
    assert_true(!petal_is_overfull(filter));
    assert_true(!stats_of(filter).overfull);
    petal_free(filter);
}

/* At the maximum number of generations, the newest generation receives all further keys, and
 * outlives the others. The window then contains far fewer keys than planned, but its rate is higher
 * than requested. */
static void one_generation_with_more_than_its_share_is_overfull_while_it_is_there(void **state)
{
    (void)state;
    petal_filter *filter = four_generations(1000);
    tell_time(filter, 20000 * DAY);
    add_numbers(filter, 0, 6 * 334 + 400);
    tell_time(filter, 20000 * DAY + 3001);
    require_that(info_of(filter).layers, ==, 1);
    require_that(info_of(filter).items, ==, 400);
    assert_true(petal_is_overfull(filter));
    tell_time(filter, 20000 * DAY + 4000);
    assert_true(!petal_is_overfull(filter));
    petal_free(filter);
}

static void
a_window_that_refuses_to_be_overfull_takes_the_same_keys_in_batches_and_singly(void **state)
{
    (void)state;
    static const uint64_t bursts[] = {5, 700, 100, 1, 3000};
    petal_options options = window_of_time(3000, 1000, 0.01);
    options.generations = 4;
    options.refuse_overfull = true;
    for (size_t wait = 0; wait < 3; wait++) {
        petal_filter *batched = create(&options), *single = create(&options);
        int64_t next = 0;
        for (size_t i = 0; i < COUNT(bursts); i++) {
            static int64_t keys[3000];
            petal_status status = PETAL_OK;
            tell_time(batched, 5000 + i * wait * 500);
            tell_time(single, 5000 + i * wait * 500);
            for (uint64_t k = 0; k < bursts[i]; k++) keys[k] = next++;
            for (uint64_t k = 0; k < bursts[i] && status >= 0; k++)
                status = petal_add_i64(single, keys[k]);
            assert_int_equal(status < 0 ? status : PETAL_OK,
                             add_number_batch(batched, keys, bursts[i], NULL, NULL));
            require_that((status == PETAL_ERR_FULL), ==, petal_is_overfull(single));
            assert_true(same_image(batched, single));
        }
        assert_int_equal(petal_add_i64(single, 1000000), PETAL_ERR_FULL);
        petal_free(batched);
        petal_free(single);
    }
}

/* Allocating the next layer or generation fails. Dropping an expired generation needs no memory. */
static void a_layer_for_which_there_is_no_memory_leaves_the_filter_as_it_was(void **state)
{
    (void)state;
    petal_options kinds[] = {growing(100, 0.001), window_of_time(DAY, 100, 0.001)};
    kinds[1].generations = 2;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        kinds[k].allocator = &allocator;
        petal_filter *filter = create(&kinds[k]);
        if (kinds[k].window_ms) tell_time(filter, DAY);
        add_numbers(filter, 0, 100);
        struct bytes before = serialized(filter);
        for (uint64_t nth = 1; nth <= 2; nth++) {
            int64_t keys[] = {5, 1000, 1001};
            uint8_t was_new[] = {1, 1, 1};
            count.fail_at = count.calls + nth;
            require_that(petal_add_i64(filter, 1000), ==, PETAL_ERR_MEMORY);
            count.fail_at = count.calls + nth;
            require_that(add_number_batch(filter, keys, 3, was_new, NULL), ==, PETAL_ERR_MEMORY);
            for (size_t i = 0; i < 3; i++) require_that(was_new[i], ==, 0);
            struct bytes after = serialized(filter);
            assert_true(same_bytes(before, after));
            free(after.data);
        }
        add_numbers(filter, 1000, 10);
        require_numbers(filter, 0, 100);
        count.fail_at = count.calls + 1;
        if (kinds[k].window_ms) tell_time(filter, 20 * DAY);
        require_that(info_of(filter).layers, ==, kinds[k].window_ms ? 1 : 2);
        petal_free(filter);
        require_that(count.live_blocks, ==, 0);
        require_that(count.bad_releases, ==, 0);
        free(before.data);
    }
}

/* Random bursts add as many keys as the window may contain, and never more. So the filter has at
 * most 2G - 1 generations with G shares of keys, it is never overfull, and it contains every key in
 * the window. One window and one span after the last burst, no key is left. */
struct schedule {
    petal_filter *filter;
    petal_options options;
    uint64_t span, random, now, next_key;
    uint64_t time_of[200000]; /* when each key was added, in ascending order */
    uint64_t max_layers, max_items, share;
};

static uint64_t keys_since(const struct schedule *schedule, uint64_t from)
{
    uint64_t count = 0;
    while (count < schedule->next_key && schedule->time_of[schedule->next_key - 1 - count] >= from)
        count++;
    return count;
}

static void add_burst(struct schedule *schedule)
{
    const petal_options *options = &schedule->options;
    uint64_t dice = random_below(&schedule->random, 4), window = options->window_ms;
    uint64_t in = keys_since(schedule, schedule->now > window ? schedule->now - window : 0);
    uint64_t room = options->window_keys - in, count = dice == 0  ? room
                                                       : dice < 3 ? room / 3
                                                                  : room != 0;
    for (uint64_t i = 0; i < count; i++) schedule->time_of[schedule->next_key + i] = schedule->now;
    add_numbers(schedule->filter, (int64_t)schedule->next_key, count);
    schedule->next_key += count;
}

static void judge_schedule(struct schedule *schedule)
{
    petal_info info = info_of(schedule->filter);
    petal_stats info_stats = stats_of(schedule->filter);
    const petal_options *options = &schedule->options;
    if (info.layers > schedule->max_layers) schedule->max_layers = info.layers;
    if (info.items > schedule->max_items) schedule->max_items = info.items;
    require(info.layers < 2 * options->generations &&
                info.items <= options->generations * schedule->share,
            "%u generations: %u layers, %llu keys", options->generations, info.layers,
            (unsigned long long)info.items);
    assert_true(!info_stats.overfull);
    assert_true(!petal_is_overfull(schedule->filter));
    for (uint64_t back = 1; back <= schedule->next_key; back++) {
        uint64_t age = schedule->now - schedule->time_of[schedule->next_key - back];
        bool found = petal_contains_i64(schedule->filter, (int64_t)(schedule->next_key - back));
        require(found || age > options->window_ms, "a key of %llu ms ago is missing",
                (unsigned long long)age);
        require(!found || age < options->window_ms + schedule->span, "one of %llu ms ago is there",
                (unsigned long long)age);
        if (age > 3 * options->window_ms) break;
    }
}

static void a_window_that_never_holds_more_than_planned_is_never_overfull(void **state)
{
    (void)state;
    static struct schedule schedule;
    for (uint64_t seed = 1; seed <= nightly_amount(60); seed++) {
        schedule = (struct schedule){.random = seed, .now = 1000};
        petal_options *options = &schedule.options;
        *options = window_of_time(1 + random_below(&schedule.random, 60),
                                  1 + random_below(&schedule.random, 100), 1e-12);
        options->generations = 2 + (uint32_t)random_below(&schedule.random, 7);
        schedule.span =
            (options->window_ms + options->generations - 2) / (options->generations - 1);
        schedule.share =
            (options->window_keys + options->generations - 2) / (options->generations - 1);
        schedule.filter = create(options);
        for (int step = 0; step < 1000; step++) {
            schedule.now += random_below(&schedule.random, 20)
                                ? random_below(&schedule.random, 2 + schedule.span)
                                : random_below(&schedule.random, 3 * options->window_ms);
            tell_time(schedule.filter, schedule.now);
            if (random_below(&schedule.random, 3)) add_burst(&schedule);
            judge_schedule(&schedule);
        }
        if (seed <= 5)
            printf("# %u generations of %llu keys: %llu layers and %llu keys at most\n",
                   options->generations, (unsigned long long)schedule.share,
                   (unsigned long long)schedule.max_layers, (unsigned long long)schedule.max_items);
        petal_free(schedule.filter);
    }
}

/* Simulates half a year, hour by hour. Each hour adds a random number of keys; sometimes the filter
 * is saved and reopened. Each key is found for 7 days, and is gone after 7 days and one
 * generation. */
static void months_of_a_week_s_window_miss_nothing(void **state)
{
    (void)state;
    enum { HOURS = 24 * 180, MAX_AN_HOUR = 40 };
    static uint64_t counts[HOURS];
    uint64_t seed = 77, random = seed, absent = 0, passed = 0;
    petal_options options = window_of_time(7 * DAY, 7 * 24 * MAX_AN_HOUR, 0.01);
    petal_filter *filter = create(&options);
    uint64_t start = 20000 * DAY + 12345,
             generation = 7 * DAY / (layers_info_of(filter, PETAL_ALL_LAYERS).generations - 1) + 1;
    for (uint64_t hour = 0; hour < HOURS; hour++) {
        uint64_t now = start + hour * HOUR, step_back = random_below(&random, 3 * HOUR);
        tell_time(filter, now);
        tell_time(filter, now - step_back);
        counts[hour] = random_below(&random, MAX_AN_HOUR + 1);
        for (uint64_t i = 0; i < counts[hour]; i++)
            petal_add_i64(filter, (int64_t)(hour * 1000 + i));
        if (hour % 500 == 499) filter = through_a_file(filter, "months.petal");
        for (uint64_t ago = 0; ago <= hour && ago <= 400; ago += 1 + ago / 20) {
            bool must = ago * HOUR <= 7 * DAY, gone = ago * HOUR >= 7 * DAY + generation;
            uint64_t then = (hour - ago) * 1000;
            for (uint64_t i = 0; i < counts[hour - ago]; i++) {
                bool found = petal_contains_i64(filter, (int64_t)(then + i));
                require(found || !must, "hour %llu: a key of %llu hours ago is missing",
                        (unsigned long long)hour, (unsigned long long)ago);
                absent += gone;
                passed += gone && found;
            }
        }
    }
    printf("# %llu keys older than a window and a generation, %llu found: %.3f %%\n",
           (unsigned long long)absent, (unsigned long long)passed,
           100.0 * (double)passed / (double)absent);
    require_that(absent, >, 100000);
    require_that((double)passed, <, 0.01 * (double)absent); /* half as many keys as planned */
    petal_free(filter);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refuse_options(petal_options options, petal_status status, int line)
{
    petal_filter *filter = NULL;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error = {PETAL_OK, 0, 0, ""};
    require(petal_create(&options, &filter, &error) == status && !filter, "line %d: %s", line,
            error.message);
    require(petal_plan(&options, &plan, NULL, &error) == status && strlen(error.message) > 10,
            "line %d", line);
}

#define refuse(base, field, value) \
    do { \
        petal_options refused_options = base; \
        refused_options.field = value; \
        refuse_options(refused_options, PETAL_ERR_ARGUMENT, __LINE__); \
    } while (0)

static void options_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    petal_options grow = growing(100, 0.01), keys = window_of_keys(100, 0.01),
                  time = window_of_time(DAY, 100, 0.01);
    petal_options plain = PETAL_OPTIONS_INIT;
    plain.capacity = 100;
    plain.rate = 0.01;
    refuse(grow, capacity, 0);
    refuse(grow, rate, 0);
    refuse(grow, rate, 1);
    refuse(grow, rate, NAN);
    refuse(grow, bits, 1000);
    refuse(grow, memory_bytes, 1000);
    refuse(grow, hashes, 3);
    refuse(grow, lines_per_key, 2);
    refuse(grow, growth_step, 1);
    refuse(grow, growth_step, 65);
    refuse(grow, growth_ratio, 1);
    refuse(grow, growth_ratio, -0.5);
    refuse(grow, growth_ratio, NAN);
    refuse(grow, window_keys, 5);
    refuse(grow, window_ms, 5);
    refuse(grow, format, "redisbloom");
    refuse(grow, scheme, (uint32_t)3);
    refuse(grow, scheme, 20);
    refuse(keys, scheme, (uint32_t)3);
    refuse(keys, rate, 0);
    refuse(keys, rate, 1.5);
    refuse(keys, capacity, 100);
    refuse(keys, bits, 1000);
    refuse(keys, memory_bytes, 1000);
    refuse(keys, generations, 1);
    refuse(keys, generations, 33);
    refuse(time, generations, 1);
    refuse(time, generations, 33);
    refuse(keys, format, "guava");
    refuse(time, window_keys, 0);
    refuse(time, window_ms, UINT64_MAX);
    refuse(plain, growth_step, 2);
    refuse(plain, growth_ratio, 0.5);
    refuse(plain, generations, 4);
    keys.rate = 1e-18;
    refuse_options(keys, PETAL_ERR_UNREACHABLE, __LINE__);
    keys = window_of_keys(UINT64_MAX, 0.01);
    refuse_options(keys, PETAL_ERR_UNREACHABLE, __LINE__);
}

static void what_a_layered_filter_cannot_do_is_refused_with_the_reason(void **state)
{
    (void)state;
    petal_error error;
    petal_options kinds[] = {growing(100, 0.01), window_of_keys(100, 0.01),
                             window_of_time(DAY, 100, 0.01)};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        petal_filter *filter = create(&kinds[i]), *copy = clone_of(filter), *map = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        petal_info info = info_of(filter);
        petal_info layer = PETAL_INFO_INIT;
        struct bytes before = serialized(filter);
        require_status(PETAL_ERR_UNSUPPORTED, petal_merge(filter, copy, &error), error);
        require_status(PETAL_ERR_UNSUPPORTED, petal_intersect(filter, copy, &error), error);
        if (!kinds[i].window_ms)
            require_status(PETAL_ERR_UNSUPPORTED, petal_set_clock(filter, 5, &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_get_info(filter, info.layers, &layer, &error),
                       error);
        layer.struct_size = 0;
        require_status(PETAL_ERR_ARGUMENT, petal_get_info(filter, 0, &layer, &error), error);
        assert_true(isnan(petal_predict_rate(&info, 100)));
        require_status(PETAL_OK, petal_save(filter, temporary("no.petal"), NULL, &error), error);
        options.flags = PETAL_OPEN_WRITABLE;
        petal_status wanted = kinds[i].growth ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
        require_status(wanted, petal_open(temporary("no.petal"), &options, &map, &error), error);
        petal_free(map);
        require_status(PETAL_OK, petal_open(temporary("no.petal"), NULL, &map, &error), error);
        if (kinds[i].window_ms)
            require_status(PETAL_ERR_READ_ONLY, petal_set_clock(map, 5, &error), error);
        assert_int_equal(petal_add_i64(map, 1), PETAL_ERR_READ_ONLY);
        petal_free(map);
        assert_int_equal(petal_serialized_bytes(filter, SAVE_AS("parquet")), 0);
        struct bytes after = serialized(filter);
        assert_true(same_bytes(before, after));
        free(before.data);
        free(after.data);
        petal_free(filter);
        petal_free(copy);
    }
}

/* When all keys were added to the filter with a window by time. */
#define HOSTILE_NOW (20000 * DAY)

/* Impossible values for the fields that define a policy. */
static const struct hostile {
    const char *name;
    size_t at, size;
    uint64_t value;
    petal_status growing, keys, time;
} hostile[] = {
#define ALL(status) status, status, status
    {"feature 4", AT_FEATURES, 4, 4, ALL(PETAL_ERR_NEWER)},
    {"a policy without its feature", AT_FEATURES, 4, 0, ALL(PETAL_ERR_DAMAGED)},
    {"a feature without its policy", AT_POLICY, 4, 0, ALL(PETAL_ERR_DAMAGED)},
    {"policy 4", AT_POLICY, 4, 4, ALL(PETAL_ERR_NEWER)},
    {"policy 2^32 - 1", AT_POLICY, 4, UINT32_MAX, ALL(PETAL_ERR_NEWER)},
    {"growing", AT_POLICY, 4, 1, PETAL_OK, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED},
    {"by keys", AT_POLICY, 4, 2, PETAL_ERR_DAMAGED, PETAL_OK, PETAL_ERR_DAMAGED},
    {"by time", AT_POLICY, 4, 3, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED, PETAL_OK},
    {"step 0", AT_STEP, 4, 0, ALL(PETAL_ERR_DAMAGED)},
    {"step 1", AT_STEP, 4, 1, ALL(PETAL_ERR_DAMAGED)},
    {"step 3, and layers of another", AT_STEP, 4, 3, ALL(PETAL_ERR_DAMAGED)},
    {"4 generations", AT_STEP, 4, 4, PETAL_ERR_DAMAGED, PETAL_OK, PETAL_OK},
    {"5 generations, and a share of another", AT_STEP, 4, 5, ALL(PETAL_ERR_DAMAGED)},
    {"33 generations", AT_STEP, 4, 33, ALL(PETAL_ERR_DAMAGED)},
    {"step 2^32 - 1", AT_STEP, 4, UINT32_MAX, ALL(PETAL_ERR_DAMAGED)},
    {"rate 0", AT_POLICY_RATE, 8, 0, ALL(PETAL_ERR_DAMAGED)},
    {"rate 1", AT_POLICY_RATE, 8, 0x3ff0000000000000, ALL(PETAL_ERR_DAMAGED)},
    {"rate -0.5", AT_POLICY_RATE, 8, 0xbfe0000000000000, ALL(PETAL_ERR_DAMAGED)},
    {"rate NaN", AT_POLICY_RATE, 8, NO_RATE, ALL(PETAL_ERR_DAMAGED)},
    {"ratio 0", AT_RATIO, 8, 0, PETAL_ERR_DAMAGED, PETAL_OK, PETAL_OK},
    {"ratio 1", AT_RATIO, 8, 0x3ff0000000000000, ALL(PETAL_ERR_DAMAGED)},
    {"ratio NaN", AT_RATIO, 8, NO_RATE, ALL(PETAL_ERR_DAMAGED)},
    {"no keys", AT_POLICY_KEYS, 8, 0, ALL(PETAL_ERR_DAMAGED)},
    {"other keys", AT_POLICY_KEYS, 8, 12345, ALL(PETAL_ERR_DAMAGED)},
    {"all keys", AT_POLICY_KEYS, 8, UINT64_MAX, ALL(PETAL_ERR_DAMAGED)},
    {"no window", AT_WINDOW_MS, 8, 0, PETAL_OK, PETAL_OK, PETAL_ERR_DAMAGED},
    {"a window of 1 ms, and times of another", AT_WINDOW_MS, 8, 1, ALL(PETAL_ERR_DAMAGED)},
    {"a window of 2^63 - 1 ms", AT_WINDOW_MS, 8, INT64_MAX, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED,
     PETAL_OK},
    {"a window of 2^63 ms", AT_WINDOW_MS, 8, (uint64_t)1 << 63, ALL(PETAL_ERR_DAMAGED)},
    {"no clock, and times", AT_CLOCK_MS, 8, 0, PETAL_OK, PETAL_OK, PETAL_ERR_DAMAGED},
    {"a clock before the first time", AT_CLOCK_MS, 8, HOSTILE_NOW - 1, ALL(PETAL_ERR_DAMAGED)},
    {"a clock at which all is still there", AT_CLOCK_MS, 8, HOSTILE_NOW + DAY, PETAL_ERR_DAMAGED,
     PETAL_ERR_DAMAGED, PETAL_OK},
    {"a clock at which a generation was dropped", AT_CLOCK_MS, 8, HOSTILE_NOW + DAY + 1,
     ALL(PETAL_ERR_DAMAGED)},
    {"a clock of 2^63 - 1", AT_CLOCK_MS, 8, INT64_MAX, ALL(PETAL_ERR_DAMAGED)},
    {"a clock of 2^64 - 1", AT_CLOCK_MS, 8, UINT64_MAX, ALL(PETAL_ERR_DAMAGED)},
    {"no time", AT_UNTIL_MS, 8, 0, PETAL_OK, PETAL_OK, PETAL_ERR_DAMAGED},
    {"a time of its own", AT_UNTIL_MS, 8, HOSTILE_NOW, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED,
     PETAL_OK},
    {"an earlier time", AT_UNTIL_MS, 8, HOSTILE_NOW - DAY, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED,
     PETAL_OK},
    {"a time before the window", AT_UNTIL_MS, 8, HOSTILE_NOW - DAY - 1, ALL(PETAL_ERR_DAMAGED)},
    {"a closed one beyond the clock", AT_UNTIL_MS, 8, HOSTILE_NOW + 1, ALL(PETAL_ERR_DAMAGED)},
    {"a second one before the first", AT_UNTIL_MS + LAYER_ENTRY, 8, HOSTILE_NOW - 1,
     ALL(PETAL_ERR_DAMAGED)},
    {"a newest one that is closed now", AT_UNTIL_MS + 2 * LAYER_ENTRY, 8, HOSTILE_NOW,
     PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED, PETAL_OK},
    {"a newest one at the end of its span", AT_UNTIL_MS + 2 * LAYER_ENTRY, 8,
     HOSTILE_NOW + DAY / 3 - 1, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED, PETAL_OK},
    {"a newest one beyond its span", AT_UNTIL_MS + 2 * LAYER_ENTRY, 8, HOSTILE_NOW + DAY / 3,
     ALL(PETAL_ERR_DAMAGED)},
    {"a newest one of 2^64 - 1", AT_UNTIL_MS + 2 * LAYER_ENTRY, 8, UINT64_MAX,
     ALL(PETAL_ERR_DAMAGED)},
    {"capacity 0", AT_CAPACITY, 8, 0, ALL(PETAL_ERR_DAMAGED)},
    {"another capacity", AT_CAPACITY, 8, 11, ALL(PETAL_ERR_DAMAGED)},
    {"a second capacity", AT_CAPACITY + LAYER_ENTRY, 8, 11, ALL(PETAL_ERR_DAMAGED)},
    {"all items", AT_ITEMS + LAYER_ENTRY, 8, UINT64_MAX, ALL(PETAL_OK)},
    {"k of one generation", AT_HASHES, 4, 9, PETAL_OK, PETAL_ERR_DAMAGED, PETAL_ERR_DAMAGED},
    {"zeros", AT_ZEROS_2, 8, 1, ALL(PETAL_ERR_DAMAGED)},
    {"an origin", AT_ORIGIN, 4, 2, ALL(PETAL_ERR_DAMAGED)},
};

/* Uses a filter that was opened from a forged file: makes it grow and rotate, and sets its
 * clock. */
static void use(petal_filter *filter)
{
    petal_status status = PETAL_OK;
    for (int64_t i = 0; i < 300 && status >= 0; i++) status = petal_add_i64(filter, i);
    assert_true(status < 0 || petal_contains_i64(filter, 299));
    (void)petal_set_clock(filter, INT64_MAX - 1, NULL);
    status = petal_add_i64(filter, 7);
    assert_true(status < 0 || petal_contains_i64(filter, 7));
    for (uint32_t i = 0; i < info_of(filter).layers; i++) layer_of(filter, i);
    petal_free(clone_of(filter));
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
}

/* The content id also covers some of the fields. A dirty file has no content id, so only the checks
 * of the fields themselves can refuse it. */
static void use_unsealed(struct bytes forged, const char *name)
{
    petal_filter *filter = NULL;
    petal_error error = {PETAL_OK, 0, 0, ""};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER;
    for (unsigned slot = 0; slot < 2; slot++) put32(slot_of(forged, slot) + AT_STATE, DIRTY);
    seal_both(forged);
    petal_status status = petal_load(forged.data, forged.size, &options, &filter, &error);
    require(status == PETAL_OK, "%s: %s", name, error.message);
    use(filter);
    petal_free(filter);
}

static void hostile_policies_under_right_checksums_are_refused_or_do_no_harm(void **state)
{
    (void)state;
    petal_options kinds[] = {growing(10, 0.01), window_of_keys(30, 0.01),
                             window_of_time(DAY, 30, 0.01)};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        kinds[k].generations = k ? 4 : 0; /* 10 keys each */
        petal_filter *filter = create(&kinds[k]);
        if (kinds[k].window_ms) tell_time(filter, HOSTILE_NOW);
        /* The growing filter consists of layers for 10 and 20 keys, the window by keys of four
         * generations of 10, and the window by time of three generations of 10. */
        add_numbers(filter, 0, 25);
        struct bytes image = serialized(filter);
        petal_free(filter);
        for (size_t i = 0; i < COUNT(hostile); i++) {
            const struct hostile *h = &hostile[i];
            petal_status wanted = k == 0 ? h->growing : k == 1 ? h->keys : h->time;
            struct bytes forged = copy_bytes(image.data, image.size);
            petal_error error = {PETAL_OK, 0, 0, ""};
            for (unsigned slot = 0; slot < 2; slot++)
                put_number(slot_of(forged, slot) + h->at, h->size, h->value);
            seal_both(forged);
            petal_status status = status_of_loading(forged, 0, &error);
            if (wanted != PETAL_OK)
                require(status == wanted, "%s, kind %zu: %s", h->name, k, error.message);
            if (wanted == PETAL_OK) use_unsealed(forged, h->name);
            free(forged.data);
        }
        free(image.data);
    }
}

/* ---- random lives ---------------------------------------------------------------------------- */

enum { UNIVERSE = 20000 };

/* A filter and its model. The model records whether each key is present, or when it was last
 * added. */
struct life {
    const char *name;
    petal_filter *filter;
    petal_info start;
    petal_layers_info how;
    uint64_t span; /* for a rotating filter, the span of a generation, in keys or ms */
    uint64_t now_ms, adds;
    bool added[UNIVERSE];
    /* The key's generation in a window by keys; the time when the key was last added in a window by
     * time. */
    uint64_t last[UNIVERSE];
    uint64_t random, operations, absent, passed, overfull;
};

enum memory { FORGOTTEN, EITHER, REMEMBERED };

static uint64_t generation_of(const struct life *life, uint64_t adds)
{
    return adds ? (adds - 1) / life->span : 0;
}

/* Determines whether the filter must find the key, must have forgotten it, or may do either. */
static enum memory memory_of(const struct life *life, uint64_t key)
{
    if (!life->added[key]) return FORGOTTEN;
    if (life->start.policy == PETAL_POLICY_GROWING) return REMEMBERED;
    if (life->start.policy == PETAL_POLICY_WINDOW_KEYS)
        return generation_of(life, life->adds) - life->last[key] < life->start.layers ? REMEMBERED
                                                                                      : FORGOTTEN;
    uint64_t age = life->now_ms - life->last[key];
    return age <= life->how.window_ms               ? REMEMBERED
           : age < life->how.window_ms + life->span ? EITHER
                                                    : FORGOTTEN;
}

/* With more keys than planned, the rate is higher, and keys are forgotten later. */
static void judge(struct life *life, uint64_t key, bool found)
{
    enum memory memory = memory_of(life, key);
    require(found || memory != REMEMBERED, "%s: false negative after %llu operations", life->name,
            (unsigned long long)life->operations);
    bool is_overfull =
        life->start.policy == PETAL_POLICY_WINDOW_TIME && petal_is_overfull(life->filter);
    life->overfull += is_overfull;
    if (memory != FORGOTTEN || is_overfull) return;
    life->absent++;
    life->passed += found;
}

/* Records an added key in the model. `was_new` is the filter's answer. Adding the key may have
 * dropped a generation. */
static void note_added(struct life *life, uint64_t key, bool was_new)
{
    life->adds++;
    judge(life, key, !was_new);
    life->added[key] = true;
    life->last[key] = life->start.policy == PETAL_POLICY_WINDOW_TIME
                          ? life->now_ms
                          : generation_of(life, life->adds);
}

static void add_some(struct life *life)
{
    int64_t keys[700];
    uint8_t was_new[700];
    size_t count = random_below(&life->random, 10) ? 1 + random_below(&life->random, 5)
                                                   : random_below(&life->random, 700);
    uint64_t width = 1 + random_below(&life->random, UNIVERSE);
    for (size_t i = 0; i < count; i++) keys[i] = (int64_t)random_below(&life->random, width);
    if (count < 3)
        for (size_t i = 0; i < count; i++)
            was_new[i] = petal_add_i64(life->filter, keys[i]) == PETAL_OK;
    else
        assert_int_equal(add_number_batch(life->filter, keys, count, was_new, NULL), PETAL_OK);
    for (size_t i = 0; i < count; i++) note_added(life, (uint64_t)keys[i], was_new[i]);
    life->operations += count;
}

static void ask_some(struct life *life)
{
    int64_t keys[200];
    uint8_t found[200];
    for (size_t i = 0; i < 200; i++) keys[i] = (int64_t)random_below(&life->random, UNIVERSE);
    contains_numbers(life->filter, keys, 200, found);
    for (size_t i = 0; i < 200; i++) {
        judge(life, (uint64_t)keys[i], found[i]);
        if (i % 10 == 0) assert_int_equal(petal_contains_i64(life->filter, keys[i]), found[i]);
    }
    life->operations += 200;
}

static void let_time_pass(struct life *life)
{
    if (life->start.policy != PETAL_POLICY_WINDOW_TIME) return;
    uint64_t step = random_below(&life->random,
                                 random_below(&life->random, 200) ? life->span : 40 * life->span);
    if (random_below(&life->random, 3) == 0) {
        /* Tries to set the clock back, which must have no effect. */
        tell_time(life->filter, life->now_ms - step % life->now_ms);
        return;
    }
    tell_time(life->filter, life->now_ms += step);
}

static void change_hands(struct life *life)
{
    petal_filter *old = life->filter;
    if (random_below(&life->random, 2)) {
        life->filter = clone_of(old);
        petal_free(old);
    } else
        life->filter = through_a_file(old, "life.petal");
}

static void live(const char *name, const petal_options *options, uint64_t operations, uint64_t seed)
{
    static struct life life;
    life = (struct life){
        .name = name, .filter = create(options), .span = 1, .now_ms = 20000 * DAY, .random = seed};
    life.start = info_of(life.filter);
    life.how = layers_info_of(life.filter, PETAL_ALL_LAYERS);
    if (options->window_ms) tell_time(life.filter, life.now_ms);
    if (!options->growth)
        life.span = ((options->window_ms ? options->window_ms : options->window_keys) +
                     life.how.generations - 2) /
                    (life.how.generations - 1);
    while (life.operations < nightly_amount(operations)) {
        uint64_t dice = random_below(&life.random, 1000);
        if (dice < 600)
            add_some(&life);
        else if (dice < 900)
            ask_some(&life);
        else if (dice < 997)
            let_time_pass(&life);
        else
            change_hands(&life);
    }
    double rate = (double)life.passed / (double)life.absent;
    printf("# %s: %llu operations, %llu while overfull, %llu of absent keys, %.4f %% passed\n",
           name, (unsigned long long)life.operations, (unsigned long long)life.overfull,
           (unsigned long long)life.absent, 100 * rate);
    /* Only 20,000 different keys are queried, so the bound is 5 standard deviations for that many
     * trials. */
    require(rate <= options->rate * 1.02 + 5 * sqrt(options->rate / UNIVERSE), "%s: %g", name,
            rate);
    petal_free(life.filter);
}

static void random_lives_agree_with_exact_sets(void **state)
{
    (void)state;
    petal_options grow = growing(10, 0.01), keys = window_of_keys(3000, 0.01),
                  time = window_of_time(HOUR, 20000, 0.01);
    live("growing", &grow, 1000000, 1);
    live("window of keys", &keys, 1000000, 2);
    live("window of time", &time, 1000000, 3);
    grow.scheme = keys.scheme = time.scheme = PETAL_SCHEME_CLASSIC;
    grow.growth_step = 5;
    keys.generations = 2;
    time.generations = 31;
    time.window_keys = 100000; /* short spans, unevenly filled */
    live("growing, classic", &grow, 300000, 4);
    live("window of keys, classic", &keys, 300000, 5);
    live("window of time, classic", &time, 300000, 6);
}

/* ---- crashes --------------------------------------------------------------------------------- */

enum { BETWEEN_SAVES = 997 };

/* Adds numbers and saves the filter repeatedly. After each save, reports how many numbers the file
 * contains. Runs until it is killed. */
static void add_and_save(const petal_options *options, const char *path, int report)
{
    petal_filter *filter = NULL;
    int64_t keys[BETWEEN_SAVES];
    if (petal_create(options, &filter, NULL) != PETAL_OK) _exit(1);
    for (uint64_t saved = 0;; saved += BETWEEN_SAVES) {
        for (int i = 0; i < BETWEEN_SAVES; i++) keys[i] = (int64_t)saved + i;
        if (add_number_batch(filter, keys, BETWEEN_SAVES, NULL, NULL) < 0) _exit(2);
        if (petal_save(filter, path, NULL, NULL) != PETAL_OK) _exit(3);
        uint64_t now = saved + BETWEEN_SAVES;
        if (write(report, &now, sizeof now) != sizeof now) _exit(4);
    }
}

/* Reads the child's reports until one is at least `enough`, and then kills the child. Returns the
 * last report. */
static uint64_t kill_after(pid_t child, int reports, uint64_t enough)
{
    uint64_t saved = 0, report;
    int status;
    while (saved < enough && read(reports, &report, sizeof report) == sizeof report) saved = report;
    assert_int_equal(kill(child, SIGKILL), 0);
    while (read(reports, &report, sizeof report) == sizeof report) saved = report;
    require_that(waitpid(child, &status, 0), ==, child);
    assert_true(WIFSIGNALED(status));
    return saved;
}

static void a_killed_process_loses_only_what_came_after_its_last_save(void **state)
{
    (void)state;
    uint64_t seed = 5, random = seed;
    petal_options kinds[] = {growing(1000, 0.01), window_of_keys(10000, 0.01)};
    for (int round = 0; round < (is_nightly() ? 40 : 10); round++) {
        const petal_options *options = &kinds[round % 2];
        const char *path = temporary("killed.petal");
        int ends[2];
        petal_error error;
        petal_open_options load_it = PETAL_OPEN_OPTIONS_INIT;
        petal_filter *found = NULL, *wanted = create(options);
        load_it.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid_t child = fork();
        require_that(child, >=, 0);
        if (child == 0) add_and_save(options, path, ends[1]);
        close(ends[1]);
        uint64_t saved = kill_after(child, ends[0], 1 + random_below(&random, 60 * BETWEEN_SAVES));
        close(ends[0]);
        require_status(PETAL_OK, petal_open(path, &load_it, &found, &error), error);
        add_numbers(wanted, 0, saved);
        bool same = same_image(found, wanted);
        /* The child may have died after saving but before reporting. */
        if (!same) add_numbers(wanted, saved, BETWEEN_SAVES);
        require(same || same_image(found, wanted), "round %d, %llu saved", round,
                (unsigned long long)saved);
        petal_free(found);
        petal_free(wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_growing_filter_adds_layers_as_its_policy_says),
        cmocka_unit_test(repeats_do_not_make_it_grow),
        cmocka_unit_test(a_batch_is_byte_for_byte_what_one_by_one_makes),
        cmocka_unit_test(keys_hashes_and_batches_of_them_agree_with_numbers),
        cmocka_unit_test(copies_and_files_of_a_layered_filter_go_on_as_it_would),
        cmocka_unit_test(clear_makes_a_layered_filter_as_new),
        cmocka_unit_test(a_writable_map_of_a_growing_file_takes_keys_until_its_layer_is_full),
        cmocka_unit_test(a_layer_for_which_there_is_no_memory_leaves_the_filter_as_it_was),
        cmocka_unit_test(the_next_layer_of_a_file_is_within_the_limit_it_was_opened_with),
        cmocka_unit_test(a_large_filter_grows_beyond_a_gibibyte),
        cmocka_unit_test(a_filter_that_cannot_grow_any_more_says_so_and_goes_on_answering),
        cmocka_unit_test(files_of_twenty_layers_grow_on),
        cmocka_unit_test(the_planner_chooses_the_generations_that_need_nearly_the_least_memory),
        cmocka_unit_test(small_windows_need_less_than_twice_the_least_memory),
        cmocka_unit_test(a_number_of_generations_that_is_impossible_is_passed_over),
        cmocka_unit_test(a_full_generation_is_the_worst_that_its_keys_can_do),
        cmocka_unit_test(a_window_of_keys_drops_a_generation_at_the_very_key),
        cmocka_unit_test(
            a_clock_that_steps_back_changes_nothing_and_one_that_leaps_drops_all_at_once),
        cmocka_unit_test(queries_at_a_time_answer_as_if_the_clock_had_been_set),
        cmocka_unit_test(the_first_clock_and_the_end_of_a_window_are_exact),
        cmocka_unit_test(a_burst_closes_generations_by_their_share_and_age_alone_drops_them),
        cmocka_unit_test(repeats_use_up_nothing_and_idle_generations_cost_nothing),
        cmocka_unit_test(more_keys_than_planned_in_a_window_of_time_are_said_and_none_is_dropped),
        cmocka_unit_test(one_generation_with_more_than_its_share_is_overfull_while_it_is_there),
        cmocka_unit_test(
            a_window_that_refuses_to_be_overfull_takes_the_same_keys_in_batches_and_singly),
        cmocka_unit_test(a_window_that_never_holds_more_than_planned_is_never_overfull),
        cmocka_unit_test(months_of_a_week_s_window_miss_nothing),
        cmocka_unit_test(options_that_do_not_fit_together_are_refused),
        cmocka_unit_test(what_a_layered_filter_cannot_do_is_refused_with_the_reason),
        cmocka_unit_test(hostile_policies_under_right_checksums_are_refused_or_do_no_harm),
        cmocka_unit_test(random_lives_agree_with_exact_sets),
        cmocka_unit_test(a_killed_process_loses_only_what_came_after_its_last_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

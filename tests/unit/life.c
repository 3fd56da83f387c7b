/* life.c - proves what effects each call has on a filter in memory (create, clone, clear, merge,
 * intersect, metadata), and what each call leaves unchanged. */
#include "support.h"

#include "petal/petal_build.h"

static petal_options both_rated(uint32_t scheme)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = scheme;
    options.capacity = 2000;
    options.rate = 0.01;
    return options;
}

/* Compares parameters, metadata and bits, but not item counts. */
static void require_equal(const petal_filter *a, const petal_filter *b)
{
    petal_stats one_stats = stats_of(a);
    uint64_t one_id = content_of(a);
    petal_stats other_stats = stats_of(b);
    uint64_t other_id = content_of(b);
    require_that(one_id, ==, other_id);
    require_that(one_stats.bits_set, ==, other_stats.bits_set);
}

/* ---- create ---------------------------------------------------------------------------------- */

static void a_new_filter_is_empty_and_says_what_it_was_made_for(void **state)
{
    (void)state;
    static const char *const names[] = {"", "blocked", "classic", "counting"};
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options = both_rated(scheme);
        options.seed = 77;
        petal_filter *filter = create(&options);
        petal_info info = info_of(filter);
        petal_stats info_stats = stats_of(filter);
        require_that(info.scheme, ==, scheme);
        require_that(info.hash, ==, PETAL_HASH_XXH3);
        require_that(info.seed, ==, 77);
        assert_true(!info.keyed);
        require_that(info.capacity, ==, 2000);
        require_that(info.target_rate, ==, 0.01);
        require_that(info.predicted_rate, <=, 0.01);
        require_that(info.items, ==, 0);
        require_that(info_stats.bits_set, ==, 0);
        require_that(info.layers, ==, 1);
        assert_string_equal(info.scheme_name, names[scheme]);
        for (uint64_t i = 0; i < 1000; i++) assert_false(petal_contains_i64(filter, (int64_t)i));
        petal_free(filter);
    }
}

static void a_failed_create_leaves_null_and_says_why(void **state)
{
    (void)state;
    petal_filter *filter = (petal_filter *)&filter;
    petal_error error = {PETAL_OK, 0, 0, ""};
    petal_options options = PETAL_OPTIONS_INIT;
    require_status(PETAL_ERR_ARGUMENT, petal_create(&options, &filter, &error), error);
    assert_null(filter);
    require_that(error.status, ==, PETAL_ERR_ARGUMENT);
    require_that(error.offset, ==, PETAL_NO_OFFSET);
    require_that(error.system_errno, ==, 0);
    require_that(strlen(error.message), >, 10);
    assert_int_equal(petal_create(&options, &filter, NULL),
                     PETAL_ERR_ARGUMENT); /* passing an error is optional */
}

static void freeing_null_is_allowed(void **state)
{
    (void)state;
    petal_free(NULL);
}

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = PETAL_ERR_REPLACED; a <= PETAL_UNCHECKED; a++) {
        assert_string_not_equal(petal_status_name((petal_status)a), "unknown status");
        for (int b = PETAL_ERR_REPLACED; b < a; b++)
            assert_string_not_equal(petal_status_name((petal_status)a),
                                    petal_status_name((petal_status)b));
    }
    assert_string_equal(petal_status_name(PETAL_UNCHECKED), "nothing to check");
    assert_string_equal(petal_status_name((petal_status)999), "unknown status");
}

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PETAL_VERSION_MAJOR, PETAL_VERSION_MINOR,
             PETAL_VERSION_PATCH);
    assert_string_equal(petal_version(), version);
}

/* ---- clone and clear ------------------------------------------------------------------------- */

static void a_clone_is_the_same_and_goes_its_own_way(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options = both_rated(scheme);
        options.metadata = "made for a test";
        options.metadata_bytes = 15;
        petal_filter *filter = create(&options);
        add_numbers(filter, 0, 1000);
        petal_filter *copy = clone_of(filter);
        assert_true(same_image(filter, copy));
        add_numbers(copy, 1000, 1000);
        require_that(info_of(filter).items, ==, 1000);
        require_that(info_of(copy).items, ==, 2000);
        require_that(content_of(filter), !=, content_of(copy));
        petal_free(filter);
        require_numbers(copy, 0, 2000);
        petal_free(copy);
    }
}

static void clear_leaves_a_filter_as_new(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_error error;
        petal_options options = both_rated(scheme);
        options.metadata = "kept";
        options.metadata_bytes = 4;
        petal_filter *filter = create(&options), *fresh = create(&options);
        add_numbers(filter, 0, 1000);
        require_status(PETAL_OK, petal_clear(filter, &error), error);
        assert_true(same_image(filter, fresh));
        add_numbers(filter, 5, 10);
        require_numbers(filter, 5, 10);
        petal_free(filter);
        petal_free(fresh);
    }
}

/* ---- order and content id -------------------------------------------------------------------- */

static void the_same_keys_in_any_order_give_the_same_content_id_and_bits(void **state)
{
    (void)state;
    uint64_t seed = 4, random = seed;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_options options = both_rated(scheme);
        int64_t keys[1500];
        petal_filter *sorted = create(&options);
        for (int i = 0; i < 1500; i++) petal_add_i64(sorted, keys[i] = i);
        for (int round = 0; round < 5; round++) {
            petal_filter *shuffled = create(&options);
            for (uint64_t i = 1500; i > 1; i--) {
                uint64_t j = random_below(&random, i);
                int64_t key = keys[j];
                keys[j] = keys[i - 1];
                keys[i - 1] = key;
            }
            for (int i = 0; i < 1500; i++) petal_add_i64(shuffled, keys[i]);
            require(same_image(sorted, shuffled), "round %d of seed %llu", round,
                    (unsigned long long)seed);
            petal_free(shuffled);
        }
        petal_free(sorted);
    }
}

static void the_content_id_is_about_parameters_and_bits_only(void **state)
{
    (void)state;
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 1000, 3, 0);
    petal_filter *plain = create(&options);
    options.metadata = "x";
    options.metadata_bytes = 1;
    options.capacity = 50;
    options.rate = 0.5;
    petal_filter *described = create(&options);
    petal_add(described, "k", 1);
    petal_add(described, "k", 1);
    petal_add(plain, "k", 1);
    require_equal(plain, described);
    petal_add(plain, "another", 7);
    require_that(content_of(plain), !=, content_of(described));
    petal_free(plain);
    petal_free(described);
}

static uint64_t empty_id(uint32_t scheme, uint64_t bits, uint32_t hashes, uint32_t lines,
                         uint64_t seed)
{
    petal_options options = options_of(scheme, bits, hashes, lines);
    options.seed = seed;
    petal_filter *filter = create(&options);
    uint64_t id = content_of(filter);
    petal_free(filter);
    return id;
}

static void every_parameter_changes_the_content_id(void **state)
{
    (void)state;
    uint64_t ids[] = {empty_id(PETAL_SCHEME_BLOCKED, 1024, 4, 1, 0),
                      empty_id(PETAL_SCHEME_CLASSIC, 1024, 4, 0, 0),
                      empty_id(PETAL_SCHEME_BLOCKED, 1536, 4, 1, 0),
                      empty_id(PETAL_SCHEME_BLOCKED, 1024, 5, 1, 0),
                      empty_id(PETAL_SCHEME_BLOCKED, 1024, 4, 2, 0),
                      empty_id(PETAL_SCHEME_BLOCKED, 1024, 4, 1, 1),
                      empty_id(PETAL_SCHEME_CLASSIC, 1023, 4, 0, 0)};
    size_t count = sizeof ids / sizeof *ids;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) require(ids[i] != ids[j], "filters %zu and %zu", i, j);
}

/* ---- union and intersection ------------------------------------------------------------------ */

static void a_merge_is_the_filter_of_the_keys_of_both(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_error error;
        petal_options options = both_rated(scheme);
        petal_filter *a = create(&options), *b = create(&options), *both = create(&options);
        add_numbers(a, 0, 700);
        add_numbers(b, 500, 700);
        add_numbers(both, 0, 700);
        add_numbers(both, 500, 700); /* a counting filter counts common keys twice */
        require_status(PETAL_OK, petal_merge(a, b, &error), error);
        require_equal(a, both);
        assert_int_equal(info_of(a).items, 1400);
        assert_int_equal(info_of(b).items, 700);
        require_numbers(a, 0, 1200);
        petal_free(a);
        petal_free(b);
        petal_free(both);
    }
}

static void an_intersection_keeps_common_keys_and_is_no_worse_than_either(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_error error;
        petal_options options = both_rated(scheme);
        petal_filter *a = create(&options), *b = create(&options);
        add_numbers(a, 0, 1000);
        add_numbers(b, 600, 1200);
        petal_filter *common = clone_of(a);
        require_status(PETAL_OK, petal_intersect(common, b, &error), error);
        require_numbers(common, 600, 400);
        assert_int_equal(info_of(common).items, 1000);
        for (int64_t i = 0; i < 20000; i++) /* a common key must be in both filters */
            require(!petal_contains_i64(common, i) ||
                        (petal_contains_i64(a, i) && petal_contains_i64(b, i)),
                    "key %lld", (long long)i);
        double lower = fmin(stats_of(a).estimated_rate, stats_of(b).estimated_rate);
        require_that(stats_of(common).estimated_rate, <=, lower);
        petal_free(a);
        petal_free(b);
        petal_free(common);
    }
}

static void a_filter_merged_with_itself_or_an_empty_one_has_the_same_bits(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_error error;
        petal_options options = both_rated(scheme);
        petal_filter *filter = create(&options), *empty = create(&options);
        add_numbers(filter, 0, 300);
        uint64_t before = content_of(filter);
        if (scheme != PETAL_SCHEME_COUNTING) /* counting filters add their counters */
            require_status(PETAL_OK, petal_merge(filter, filter, &error), error);
        require_status(PETAL_OK, petal_merge(filter, empty, &error), error);
        require_status(PETAL_OK, petal_intersect(filter, filter, &error), error);
        require_that(content_of(filter), ==, before);
        require_status(PETAL_OK, petal_intersect(filter, empty, &error), error);
        require_that(stats_of(filter).bits_set, ==, 0);
        require_that(info_of(filter).items, ==, 0);
        petal_free(filter);
        petal_free(empty);
    }
}

static void items_stop_at_the_top_instead_of_starting_from_0(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 512, 1, 1);
    petal_add_hash(filter, 1);
    for (int doubling = 0; doubling < 70; doubling++)
        require_status(PETAL_OK, petal_merge(filter, filter, &error), error);
    require_that(info_of(filter).items, ==, UINT64_MAX);
    petal_add_hash(filter, 1);
    require_that(info_of(filter).items, ==, UINT64_MAX);
    petal_free(filter);
}

/* Tries to merge and to intersect the filters. The message must contain the field's name and both
 * filters' values. */
static void require_mismatch(petal_filter *a, petal_filter *b, const char *field)
{
    petal_error error;
    struct bytes before = serialized(a);
    require_status(PETAL_ERR_MISMATCH, petal_merge(a, b, &error), error);
    require(strstr(error.message, field), "no \"%s\" in: %s", field, error.message);
    require_status(PETAL_ERR_MISMATCH, petal_intersect(a, b, &error), error);
    require(strstr(error.message, field), "no \"%s\" in: %s", field, error.message);
    struct bytes after = serialized(a);
    require(same_bytes(before, after), "%s: the filter changed", field);
    free(before.data);
    free(after.data);
    petal_free(b);
}

static void a_mismatch_names_the_field_that_differs(void **state)
{
    (void)state;
    static const uint8_t secret[PETAL_SECRET_BYTES] = {1}, other_secret[PETAL_SECRET_BYTES] = {2};
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 4096, 6, 1);
    petal_filter *filter = create(&options);
    require_mismatch(filter, make(PETAL_SCHEME_CLASSIC, 4096, 6, 0),
                     "scheme (blocked against classic)");
    require_mismatch(filter, make(PETAL_SCHEME_BLOCKED, 8192, 6, 1), "bits (4096 against 8192)");
    require_mismatch(filter, make(PETAL_SCHEME_BLOCKED, 4096, 7, 1), "hashes (6 against 7)");
    require_mismatch(filter, make(PETAL_SCHEME_BLOCKED, 4096, 6, 2), "lines per key (1 against 2)");
    options.seed = 9;
    require_mismatch(filter, create(&options), "seed (0 against 9)");
    options.seed = 0;
    options.secret = secret;
    require_mismatch(filter, create(&options), "hash (xxh3 against siphash)");
    petal_filter *keyed = create(&options);
    options.secret = other_secret;
    require_mismatch(keyed, create(&options), "secret");
    petal_free(keyed);
    petal_free(filter);
}

static void capacity_rate_and_metadata_may_differ_in_a_merge(void **state)
{
    (void)state;
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 4096, 6, 1);
    petal_filter *a = create(&options);
    options.capacity = 7;
    options.rate = 0.25;
    options.metadata = "other";
    options.metadata_bytes = 5;
    petal_filter *b = create(&options);
    require_status(PETAL_OK, petal_merge(a, b, &error), error);
    require_that(info_of(a).capacity, ==, 0);
    assert_true(isnan(info_of(a).target_rate));
    petal_free(a);
    petal_free(b);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void require_metadata(const petal_filter *filter, const void *wanted, size_t size)
{
    size_t got = 12345;
    const void *metadata = petal_metadata(filter, &got);
    assert_int_equal(got, size);
    require_that((metadata == NULL), ==, (size == 0));
    if (size) assert_memory_equal(metadata, wanted, size);
}

static void metadata_are_any_bytes_copied_and_replaced(void **state)
{
    (void)state;
    petal_error error;
    uint8_t mine[] = {0, 0xff, '\n', 0, 7};
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 4, 1);
    options.metadata = mine;
    options.metadata_bytes = sizeof mine;
    petal_filter *filter = create(&options);
    memset(mine, 1, sizeof mine);
    require_metadata(filter, "\0\xff\n\0\7", 5);
    require_status(PETAL_OK, petal_set_metadata(filter, "second", 6, &error), error);
    require_metadata(filter, "second", 6);
    require_status(
        PETAL_OK,
        petal_set_metadata(filter, (const char *)petal_metadata(filter, NULL) + 1, 4, &error),
        error);
    require_metadata(filter, "econ", 4); /* copies from the filter's own metadata */
    require_status(PETAL_OK, petal_set_metadata(filter, NULL, 0, &error), error);
    require_metadata(filter, NULL, 0);
    petal_free(filter);
}

static void metadata_of_65536_bytes_are_kept_and_one_more_is_refused(void **state)
{
    (void)state;
    petal_error error;
    struct bytes max = new_bytes(PETAL_METADATA_MAX_BYTES + 1);
    memset(max.data, 0xab, max.size);
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 4, 1);
    options.metadata = max.data;
    options.metadata_bytes = PETAL_METADATA_MAX_BYTES;
    petal_filter *filter = create(&options), *other;
    require_metadata(filter, max.data, PETAL_METADATA_MAX_BYTES);
    require_status(PETAL_ERR_LIMIT, petal_set_metadata(filter, max.data, max.size, &error), error);
    require_metadata(filter, max.data, PETAL_METADATA_MAX_BYTES); /* old metadata is kept */
    options.metadata_bytes++;
    require_status(PETAL_ERR_LIMIT, petal_create(&options, &other, &error), error);
    assert_null(other);
    petal_free(filter);
    free(max.data);
}

/* ---- the first failure ----------------------------------------------------------------------- */

static void require_kept(const petal_filter *filter, petal_status wanted, const char *words)
{
    petal_error error = {PETAL_ERR_LIMIT, 7, 7, "old"};
    assert_int_equal(petal_last_error(filter, &error), wanted);
    assert_int_equal(petal_last_error(filter, NULL), wanted);
    require_that(error.status, ==, wanted);
    require_that(error.system_errno, ==, 0);
    require_that(error.offset, ==, PETAL_NO_OFFSET);
    require(words ? strstr(error.message, words) != NULL : error.message[0] == 0, "%s",
            error.message);
}

static void the_first_failure_is_kept_and_no_later_one(void **state)
{
    (void)state;
    struct bytes image;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 51200, 6, 0),
                 *other = make(PETAL_SCHEME_BLOCKED, 51200, 7, 0);
    petal_filter *view = NULL;
    petal_builder *builder = NULL;
    uint32_t workers = 1;
    assert_int_equal(petal_add_i64(filter, 1), PETAL_OK);
    assert_int_equal(petal_add_i64(filter, 1), PETAL_SEEN); /* no failure */
    require_kept(filter, PETAL_OK, NULL);
    assert_int_equal(petal_merge(filter, other, NULL), PETAL_ERR_MISMATCH);
    require_kept(filter, PETAL_ERR_MISMATCH, "hashes");
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_ERR_UNSUPPORTED);
    require_kept(filter, PETAL_ERR_MISMATCH, "hashes");
    assert_int_equal(remove_keys(other, NULL, 0, NULL, NULL), PETAL_ERR_UNSUPPORTED);
    require_kept(other, PETAL_ERR_UNSUPPORTED, "counting");
    petal_free(other);
    other = clone_of(filter);
    require_kept(other, PETAL_OK, NULL); /* cloning doesn't copy the recorded failure */
    assert_int_equal(petal_set_clock(other, 1, NULL), PETAL_ERR_UNSUPPORTED);
    require_kept(other, PETAL_ERR_UNSUPPORTED, "clock");
    petal_free(other);
    other = clone_of(filter);
    assert_int_equal(petal_builder_create(other, &workers, &builder, NULL), PETAL_OK);
    assert_int_equal(build_batch(builder, 7, batch_of_keys(NULL, 0)), PETAL_ERR_ARGUMENT);
    require_kept(other, PETAL_ERR_ARGUMENT, "worker");
    assert_int_equal(petal_builder_finish(builder, NULL), PETAL_ERR_ARGUMENT);
    petal_free(other);
    image = serialized(filter);
    assert_int_equal(petal_view(image.data, image.size, NULL, &view, NULL), PETAL_OK);
    assert_int_equal(add_number_batch(view, NULL, 0, NULL, NULL), PETAL_OK);
    assert_int_equal(petal_add(view, "a", 1), PETAL_ERR_READ_ONLY);
    require_kept(view, PETAL_ERR_READ_ONLY, "reading");
    petal_free(view);
    petal_free(filter);
    free(image.data);
}

/* Guava needs a 128-bit hash, so a 64-bit hash can't replace a key. */
static void a_question_by_hash_that_has_no_answer_is_a_failure(void **state)
{
    (void)state;
    uint64_t hash = 1;
    uint8_t found = 7;
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = "guava";
    options.capacity = 100;
    options.rate = 0.01;
    for (int call = 0; call < 4; call++) {
        petal_filter *filter = create(&options);
        if (call == 0) assert_true(petal_contains_hash(filter, hash));
        if (call == 1) assert_int_equal(contains_hashes(filter, &hash, 1, &found), SIZE_MAX);
        if (call == 2) assert_int_equal(petal_add_hash(filter, hash), PETAL_ERR_UNSUPPORTED);
        if (call == 3)
            assert_int_equal(add_hash_batch(filter, &hash, 1, NULL, NULL), PETAL_ERR_UNSUPPORTED);
        require_kept(filter, PETAL_ERR_UNSUPPORTED, "64 bits");
        petal_free(filter);
    }
}

/* Packed bits are unpacked into the filter's own memory, but the filter stays read-only. */
static void what_is_opened_for_reading_keeps_its_metadata(void **state)
{
    (void)state;
    petal_error error;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *view = NULL;
    opening.format = options.format = "dcso-gzip";
    options.capacity = 100;
    options.rate = 0.01;
    petal_filter *filter = NULL;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        skip_because("no gzip: %s", error.message);
    size_t size = (size_t)petal_serialized_bytes(filter, SAVE_AS("dcso-gzip"));
    struct bytes image = new_bytes(size);
    require_status(PETAL_OK,
                   petal_serialize(filter, SAVE_AS("dcso-gzip"), image.data, size, &error), error);
    require_status(PETAL_OK, petal_view(image.data, size, &opening, &view, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_set_metadata(view, "mine", 4, &error), error);
    require_metadata(view, NULL, 0);
    require_status(PETAL_ERR_READ_ONLY, petal_clear(view, &error), error);
    petal_free(view);
    petal_free(filter);
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_filter_is_empty_and_says_what_it_was_made_for),
        cmocka_unit_test(a_failed_create_leaves_null_and_says_why),
        cmocka_unit_test(freeing_null_is_allowed),
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(a_clone_is_the_same_and_goes_its_own_way),
        cmocka_unit_test(clear_leaves_a_filter_as_new),
        cmocka_unit_test(the_same_keys_in_any_order_give_the_same_content_id_and_bits),
        cmocka_unit_test(the_content_id_is_about_parameters_and_bits_only),
        cmocka_unit_test(every_parameter_changes_the_content_id),
        cmocka_unit_test(a_merge_is_the_filter_of_the_keys_of_both),
        cmocka_unit_test(an_intersection_keeps_common_keys_and_is_no_worse_than_either),
        cmocka_unit_test(a_filter_merged_with_itself_or_an_empty_one_has_the_same_bits),
        cmocka_unit_test(items_stop_at_the_top_instead_of_starting_from_0),
        cmocka_unit_test(a_mismatch_names_the_field_that_differs),
        cmocka_unit_test(capacity_rate_and_metadata_may_differ_in_a_merge),
        cmocka_unit_test(metadata_are_any_bytes_copied_and_replaced),
        cmocka_unit_test(metadata_of_65536_bytes_are_kept_and_one_more_is_refused),
        cmocka_unit_test(the_first_failure_is_kept_and_no_later_one),
        cmocka_unit_test(a_question_by_hash_that_has_no_answer_is_a_failure),
        cmocka_unit_test(what_is_opened_for_reading_keeps_its_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

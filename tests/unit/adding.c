/* adding.c - proves that every way to add or query a key gives the same result: as a single key, in
 * a batch, by hash, or as a number, whatever the key's bytes and length. */
#include "support.h"

/* The number of keys in a batch. The keys are random 8-byte integers below `range`, so they repeat
 * if `range` is small. */
#define BATCH 3000

struct batch {
    uint8_t bytes[BATCH][8];
    petal_key keys[BATCH];
    uint64_t hashes[BATCH];
};

static void fill_batch(struct batch *batch, const petal_filter *filter, uint64_t range,
                       uint64_t seed)
{
    for (size_t i = 0; i < BATCH; i++) {
        petal_encode_i64((int64_t)random_below(&seed, range), batch->bytes[i]);
        batch->keys[i] = (petal_key){batch->bytes[i], 8};
        batch->hashes[i] = petal_hash_key(filter, batch->bytes[i], 8);
    }
}

static petal_filter *small(uint32_t scheme)
{
    return make(scheme, 20480, 5, 0); /* half full, so false positives occur */
}

static void a_batch_says_what_one_key_at_a_time_says(void **state)
{
    (void)state;
    static struct batch batch;
    uint8_t new_many[BATCH], new_hashes[BATCH], found_many[BATCH], found_hashes[BATCH];
    FOR_NATIVE_SCHEMES(scheme)
    {
        uint64_t seed = 21;
        size_t count_many = 0, count_hashes = 0, news = 0, found = 0;
        petal_filter *single = small(scheme), *many = small(scheme), *hashes = small(scheme);
        fill_batch(&batch, single, 2000,
                   seed); /* many keys appear twice, so their order in the batch matters */
        assert_int_equal(add_key_batch(many, batch.keys, BATCH, new_many, &count_many), PETAL_OK);
        assert_int_equal(add_hash_batch(hashes, batch.hashes, BATCH, new_hashes, &count_hashes),
                         PETAL_OK);
        for (size_t i = 0; i < BATCH; i++) {
            bool is_new = petal_add(single, batch.bytes[i], 8) == PETAL_OK;
            news += is_new;
            require(new_many[i] == is_new && new_hashes[i] == is_new, "key %zu of seed %llu", i,
                    (unsigned long long)seed);
        }
        require_that(count_many, ==, news);
        require_that(count_hashes, ==, news);
        require_that(news, >, 500);
        require_that(news, <=, 2000);
        assert_true(same_image(single, many));
        assert_true(same_image(single, hashes));
        fill_batch(&batch, single, 1000000, seed + 1); /* absent keys, some false positives */
        assert_int_equal(contains_keys(many, batch.keys, BATCH, found_many),
                         contains_hashes(many, batch.hashes, BATCH, found_hashes));
        for (size_t i = 0; i < BATCH; i++) {
            bool is_found = petal_contains(single, batch.bytes[i], 8);
            found += is_found;
            require(found_many[i] == is_found && found_hashes[i] == is_found,
                    "key %zu of seed %llu", i, (unsigned long long)seed + 1);
            require(petal_contains_hash(single, batch.hashes[i]) == is_found, "key %zu", i);
        }
        require_that(found, >, 0);
        require_that(found, <, BATCH);
        assert_int_equal(contains_keys(many, batch.keys, BATCH, NULL), found);
        petal_free(single);
        petal_free(many);
        petal_free(hashes);
    }
}

static void batches_of_every_small_size_and_around_the_pieces_are_right(void **state)
{
    (void)state;
    static struct batch batch;
    uint8_t was_new[BATCH], found[BATCH];
    FOR_NATIVE_SCHEMES(scheme)
    {
        for (size_t size = 0; size < 1100; size += size < 70 ? 1 : 111) {
            size_t count = 9;
            petal_filter *filter = small(scheme), *single = small(scheme);
            fill_batch(&batch, filter, 1000, 31 + size);
            was_new[size] = found[size] = 0xee; /* the byte after the end must not change */
            assert_int_equal(add_key_batch(filter, batch.keys, size, was_new, &count), PETAL_OK);
            size_t news = 0;
            for (size_t i = 0; i < size; i++)
                news += petal_add(single, batch.bytes[i], 8) == PETAL_OK;
            require(count == news && same_image(filter, single), "%zu keys", size);
            require(contains_keys(filter, batch.keys, size, found) == size,
                    "false negative of %zu keys", size);
            require(was_new[size] == 0xee && found[size] == 0xee, "%zu keys: wrote past the end",
                    size);
            petal_free(filter);
            petal_free(single);
        }
    }
}

static void results_of_a_batch_are_optional(void **state)
{
    (void)state;
    static struct batch batch;
    petal_filter *filter = small(PETAL_SCHEME_BLOCKED), *other = small(PETAL_SCHEME_BLOCKED);
    fill_batch(&batch, filter, 1000, 3);
    assert_int_equal(add_key_batch(filter, batch.keys, BATCH, NULL, NULL), PETAL_OK);
    assert_int_equal(add_hash_batch(other, batch.hashes, BATCH, NULL, NULL), PETAL_OK);
    assert_true(same_image(filter, other));
    assert_int_equal(contains_hashes(filter, batch.hashes, BATCH, NULL), BATCH);
    assert_int_equal(add_key_batch(filter, NULL, 0, NULL, NULL), PETAL_OK);
    assert_int_equal(contains_keys(filter, NULL, 0, NULL), 0);
    petal_free(filter);
    petal_free(other);
}

static void add_says_new_once_and_seen_from_then_on(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter =
            make(scheme, 1 << 20, 7, 0); /* large enough to have no false positives */
        for (int64_t i = 0; i < 1000; i++) {
            require(!petal_contains_i64(filter, i) && petal_add_i64(filter, i) == PETAL_OK,
                    "key %lld", (long long)i);
            require(petal_contains_i64(filter, i) && petal_add_i64(filter, i) == PETAL_SEEN,
                    "key %lld", (long long)i);
        }
        assert_int_equal(info_of(filter).items, 2000);
        petal_free(filter);
    }
}

static void new_means_that_asking_before_said_no(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = make(scheme, 2048, 4, 0);
        for (int64_t i = 0; i < 3000; i++) {
            bool found = petal_contains_i64(filter, i);
            require(petal_add_i64(filter, i) == (found ? PETAL_SEEN : PETAL_OK), "key %lld",
                    (long long)i);
        }
        petal_free(filter);
    }
}

static void any_and_all_are_what_the_words_say(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 16, 7, 0);
    petal_key keys[] = {{"in", 2}, {"also in", 7}, {"out", 3}, {"also out", 8}};
    petal_add(filter, "in", 2);
    petal_add(filter, "also in", 7);
    assert_true(contains_any(filter, keys, 4));
    assert_true(!contains_all(filter, keys, 4));
    assert_true(contains_any(filter, keys, 2));
    assert_true(contains_all(filter, keys, 2));
    assert_true(!contains_any(filter, keys + 2, 2));
    assert_true(!contains_all(filter, keys + 2, 2));
    assert_true(contains_any(filter, keys + 1, 2));
    assert_true(!contains_all(filter, keys + 1, 2));
    assert_true(!contains_any(filter, NULL, 0));
    assert_true(contains_all(filter, NULL, 0));
    petal_free(filter);
}

static void a_key_and_its_hash_are_the_same_member(void **state)
{
    (void)state;
    uint8_t text[300];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)mix(i);
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *by_key = small(scheme), *by_hash = small(scheme);
        for (int64_t i = 0; i < 500; i++) {
            uint8_t key[8];
            petal_encode_i64(i, key);
            petal_add(by_key, key, 8);
            petal_add_hash(by_hash, petal_hash_key(by_hash, key, 8));
            require(petal_contains(by_hash, key, 8), "key %lld", (long long)i);
            require(petal_contains_hash(by_key, petal_hash_key(by_key, key, 8)), "key %lld",
                    (long long)i);
        }
        /* XXH3 uses different code for different key lengths. */
        for (size_t size = 0; size <= sizeof text; size++) {
            petal_add(by_key, text, size);
            petal_add_hash(by_hash, petal_hash_key(by_hash, text, size));
            require(petal_contains(by_hash, text, size), "%zu bytes", size);
        }
        assert_true(same_image(by_key, by_hash));
        petal_free(by_key);
        petal_free(by_hash);
    }
}

static void a_batch_of_hashes_is_that_of_each_key(void **state)
{
    (void)state;
    static struct batch batch;
    uint64_t hashes[BATCH];
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = small(scheme);
        fill_batch(&batch, filter, UINT64_MAX, 5);
        batch.keys[7] = (petal_key){"a longer key than the others, and one that is no number", 55};
        batch.keys[8] = (petal_key){NULL, 0};
        hash_keys(filter, batch.keys, BATCH, hashes);
        for (size_t i = 0; i < BATCH; i++)
            require(hashes[i] ==
                        petal_hash_key(filter, batch.keys[i].data, batch.keys[i].size_bytes),
                    "key %zu", i);
        hash_keys(filter, NULL, 0, NULL);
        assert_true(takes_hashes(filter));
        petal_free(filter);
    }
}

/* If a format accepts hashes instead of keys, adding a key and adding its hash must give the same
 * bytes, even for the empty key. */
static void where_hashes_stand_for_keys_they_do_so_in_every_format(void **state)
{
    (void)state;
    size_t takers = 0, others = 0;
    for (size_t place = 0; format_name((uint32_t)place); place++) {
        petal_options o = PETAL_OPTIONS_INIT;
        petal_filter *by_key = NULL, *by_hash = NULL;
        o.capacity = 1000;
        o.rate = 0.01;
        o.format = format_name((uint32_t)place);
        if (petal_create(&o, &by_key, NULL) != PETAL_OK) continue; /* read-only format */
        assert_int_equal(petal_create(&o, &by_hash, NULL), PETAL_OK);
        bool takes = takes_hashes(by_key);
        takers += takes;
        others += !takes;
        for (int64_t i = 0; i < 1000 && takes; i++) {
            uint8_t bytes[8];
            uint64_t hash;
            petal_encode_i64(i, bytes);
            petal_key key = {bytes, (size_t)i % 9}; /* keys of 0 to 8 bytes */
            hash_keys(by_key, &key, 1, &hash);
            petal_status added = petal_add(by_key, key.data, key.size_bytes);
            require(petal_add_hash(by_hash, hash) == added, "%s: key %lld", o.format, (long long)i);
        }
        require(same_image(by_key, by_hash), "%s", o.format);
        require(strcmp(info_of(by_key).kernel_name, info_of(by_hash).kernel_name) == 0, "%s",
                o.format);
        petal_free(by_key);
        petal_free(by_hash);
    }
    require_that(takers, >, 0);
    require_that(others, >, 0);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void numbers_are_their_key_bytes(void **state)
{
    (void)state;
    static const int64_t integers[] = {0,         1,         -1,        255,      256,
                                       INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    static const double doubles[] = {0.5, -1.5, 1e300, 1e-300, INFINITY, -INFINITY};
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 16, 7, 0);
    uint8_t key[8];
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        petal_encode_i64(integers[i], key);
        assert_int_equal(petal_add_i64(filter, integers[i]), PETAL_OK);
        assert_true(petal_contains(filter, key, 8));
        assert_true(petal_contains_i64(filter, integers[i]));
    }
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        petal_encode_f64(doubles[i], key);
        assert_int_equal(add_f64(filter, doubles[i]), PETAL_OK);
        assert_true(petal_contains(filter, key, 8));
        assert_true(contains_f64(filter, doubles[i]));
    }
    petal_free(filter);
}

static void equal_doubles_are_one_key_and_all_nans_are_one_key(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 16, 7, 0);
    double odd_nan;
    const uint64_t odd_nan_bits = 0xfff4000000000001u;
    memcpy(&odd_nan, &odd_nan_bits, sizeof odd_nan);
    assert_int_equal(add_f64(filter, 0.0), PETAL_OK);
    assert_int_equal(add_f64(filter, -0.0), PETAL_SEEN);
    assert_int_equal(add_f64(filter, NAN), PETAL_OK);
    assert_int_equal(add_f64(filter, -NAN), PETAL_SEEN);
    assert_int_equal(add_f64(filter, odd_nan), PETAL_SEEN);
    petal_free(filter);
}

static void an_integer_and_the_same_double_are_different_keys(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 16, 7, 0);
    petal_add_i64(filter, 1);
    assert_false(contains_f64(filter, 1.0));
    petal_free(filter);
}

/* ---- keys of every kind ---------------------------------------------------------------------- */

static void keys_of_0_to_1024_bytes_and_1_mib_are_different_members(void **state)
{
    (void)state;
    struct bytes zeros = new_bytes(1 << 20); /* all zeros, so the keys differ only in length */
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = make(scheme, 1 << 22, 8, 0);
        for (size_t size = 0; size <= 1024; size++)
            require(petal_add(filter, zeros.data, size) == PETAL_OK, "%zu bytes were seen before",
                    size);
        require(petal_add(filter, zeros.data, zeros.size) == PETAL_OK, "1 MiB was seen before");
        zeros.data[zeros.size - 1] = 1;
        require(petal_add(filter, zeros.data, zeros.size) == PETAL_OK,
                "1 MiB with another last byte was seen before");
        zeros.data[zeros.size - 1] = 0;
        for (size_t size = 0; size <= 1024; size++)
            require(petal_contains(filter, zeros.data, size), "false negative: %zu bytes", size);
        assert_true(petal_contains(filter, zeros.data, zeros.size));
        petal_free(filter);
    }
    free(zeros.data);
}

static void a_key_may_be_empty_and_then_null(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, 1 << 16, 7, 0);
    petal_key none = {NULL, 0};
    assert_false(petal_contains(filter, NULL, 0));
    assert_int_equal(petal_add(filter, NULL, 0), PETAL_OK);
    assert_int_equal(petal_add(filter, "", 0), PETAL_SEEN);
    assert_true(contains_all(filter, &none, 1));
    require_that(contains_keys(filter, &none, 1, NULL), ==, 1);
    assert_int_equal(add_key_batch(filter, &none, 1, NULL, NULL), PETAL_OK);
    petal_free(filter);
}

static void nul_and_invalid_utf8_are_bytes_like_any_other(void **state)
{
    (void)state;
    static const petal_key keys[] = {
        {"a", 1},        {"a\0", 2},      {"a\0b", 3},     {"\0a", 2},
        {"\0", 1},       {"\xff", 1},     {"\xc3\x28", 2}, {"\xed\xa0\x80", 3},
        {"\xc0\x80", 2}, {"\xfe\xff", 2}, {"\x80", 1},     {"\xf8\x88\x80\x80\x80", 5},
        {"\r\n", 2},     {"\n", 1},       {" ", 1}};
    const size_t count = sizeof keys / sizeof *keys;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 20, 8, 0);
    for (size_t i = 0; i < count; i++)
        require(petal_add(filter, keys[i].data, keys[i].size_bytes) == PETAL_OK,
                "key %zu was seen before", i);
    assert_true(contains_all(filter, keys, count));
    assert_int_equal(info_of(filter).items, count);
    petal_free(filter);
}

/* ---- read-only ------------------------------------------------------------------------------- */

static void a_view_refuses_every_change_and_still_answers(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = small(PETAL_SCHEME_BLOCKED), *view = NULL;
    add_numbers(filter, 0, 100);
    struct bytes image = serialized(filter), before = copy_bytes(image.data, image.size);
    require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &view, &error), error);
    petal_key key = {"k", 1};
    uint64_t hash = 5;
    size_t count = 7;
    assert_int_equal(petal_add(view, "k", 1), PETAL_ERR_READ_ONLY);
    assert_int_equal(petal_add_hash(view, 5), PETAL_ERR_READ_ONLY);
    assert_int_equal(petal_add_i64(view, 5), PETAL_ERR_READ_ONLY);
    assert_int_equal(add_f64(view, 5), PETAL_ERR_READ_ONLY);
    assert_int_equal(add_key_batch(view, &key, 1, NULL, &count), PETAL_ERR_READ_ONLY);
    assert_int_equal(count, 0);
    assert_int_equal(add_hash_batch(view, &hash, 1, NULL, NULL), PETAL_ERR_READ_ONLY);
    require_status(PETAL_ERR_READ_ONLY, petal_clear(view, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_merge(view, filter, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_intersect(view, filter, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_set_metadata(view, "x", 1, &error), error);
    require_numbers(view, 0, 100);
    assert_true(same_image(view, filter));
    require_that(info_of(view).items, ==, 100);
    assert_true(same_bytes(image, before));
    petal_filter *copy = clone_of(view);
    assert_int_equal(petal_add(copy, "k", 1), PETAL_OK);
    petal_free(copy);
    petal_free(view);
    petal_free(filter);
    free(image.data);
    free(before.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_says_what_one_key_at_a_time_says),
        cmocka_unit_test(batches_of_every_small_size_and_around_the_pieces_are_right),
        cmocka_unit_test(results_of_a_batch_are_optional),
        cmocka_unit_test(add_says_new_once_and_seen_from_then_on),
        cmocka_unit_test(new_means_that_asking_before_said_no),
        cmocka_unit_test(any_and_all_are_what_the_words_say),
        cmocka_unit_test(a_key_and_its_hash_are_the_same_member),
        cmocka_unit_test(a_batch_of_hashes_is_that_of_each_key),
        cmocka_unit_test(where_hashes_stand_for_keys_they_do_so_in_every_format),
        cmocka_unit_test(numbers_are_their_key_bytes),
        cmocka_unit_test(equal_doubles_are_one_key_and_all_nans_are_one_key),
        cmocka_unit_test(an_integer_and_the_same_double_are_different_keys),
        cmocka_unit_test(keys_of_0_to_1024_bytes_and_1_mib_are_different_members),
        cmocka_unit_test(a_key_may_be_empty_and_then_null),
        cmocka_unit_test(nul_and_invalid_utf8_are_bytes_like_any_other),
        cmocka_unit_test(a_view_refuses_every_change_and_still_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

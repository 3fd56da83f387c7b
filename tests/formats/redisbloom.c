/* redisbloom.c - tests properties of RedisBloom's filters that the common vectors don't cover.
 * Sizes, growth and contents must be the same as in RedisBloom, including its old versions, and
 * files that RedisBloom would refuse must be refused. redisbloom_dump.c tests DUMP. */
#define _XOPEN_SOURCE 700 /* mkstemp, ftruncate, pwrite */

#include "redisbloom.h"

#include <unistd.h>

/* ---- hashes ---------------------------------------------------------------------------------- */

/* RedisBloom uses two hash words. The first word is MurmurHash64A with RedisBloom's seed. */
static void keys_hash_as_redisbloom_hashes_them(void **state)
{
    static const struct {
        const char *key;
        uint64_t hash;
    } rows[] = {{"", 0x1ab11ea5a7b2c56e},         {"a", 0x4292cee227b9150a},
                {"hello", 0x5ba5b8a59803e699},    {"key-0", 0x815efaa2a76fe5a3},
                {"12345678", 0x700bea34339441c4}, {"123456789", 0xb791da69f9d395e3}};
    (void)state;
    petal_filter *filter = reserve(1, 0.01);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        require_that(petal_hash_key(filter, rows[i].key, strlen(rows[i].key)), ==, rows[i].hash);
    petal_free(filter);
}

/* ---- sizes and growth ------------------------------------------------------------------------ */

static void sizes_are_those_of_redisbloom(void **state)
{
    (void)state;
    expect_sizes("redisbloom", CHUNKS "sizing.txt", 13);
}

/* If a filter has many layers, the library computes its total rate with less work per layer. The
 * rate reported for a single layer must stay the same. */
static void what_a_layer_says_of_itself_stays_when_others_follow(void **state)
{
    (void)state;
    petal_filter *filter = reserve(300, 0.01);
    add_texts(filter, "key-", 0, 400);
    petal_stats before = layer_stats(filter, 0);
    add_texts(filter, "key-", 400, 1000);
    petal_stats first = layer_stats(filter, 0);
    require_that(info_of(filter).layers, ==, 3);
    require_that(first.bits_set, ==, before.bits_set);
    require_that(first.estimated_rate, ==, before.estimated_rate);
    require_that(first.estimated_items.value, ==, before.estimated_items.value);
    petal_free(filter);
}

struct debug_line {
    unsigned bytes, hashes, capacity, size;
    double ratio;
};

/* Compares the filter's layers with the output of BF.DEBUG. */
static void expect_layers(const petal_filter *filter, const struct debug_line *lines,
                          unsigned count)
{
    struct bytes header = written(filter, "redisbloom");
    if (!(little(header.data + 8, 4) == count))
        fail_msg("%llu layers", (unsigned long long)little(header.data + 8, 4));
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *link = header.data + HEAD_BYTES + i * LINK_BYTES;
        uint64_t bits_of_ratio = little(link + 24, 8);
        double ratio;
        memcpy(&ratio, &bits_of_ratio, sizeof ratio);
        if (!(little(link, 8) == lines[i].bytes && little(link + 8, 8) == 8 * lines[i].bytes))
            fail_msg("layer %u: bytes", i);
        if (!(little(link + 16, 8) == lines[i].size))
            fail_msg("layer %u has %llu keys", i, (unsigned long long)little(link + 16, 8));
        if (!(little(link + 40, 4) == lines[i].hashes && little(link + 44, 8) == lines[i].capacity))
            fail_msg("layer %u", i);
        if (!(ratio == lines[i].ratio)) fail_msg("layer %u: error %g", i, ratio);
    }
    free(header.data);
}

/* RedisBloom's own test expects these numbers from BF.DEBUG. The sizes of the last layers depend on
 * false positives. */
static void a_filter_grows_to_the_layers_that_redisbloom_gives_it(void **state)
{
    static const struct debug_line small[] = {{16, 8, 10, 10, 0.005},
                                              {32, 9, 20, 20, 0.0025},
                                              {72, 10, 40, 40, 0.00125},
                                              {160, 11, 80, 29, 0.000625}};
    static const struct debug_line large[] = {
        {200, 11, 100, 100, 0.0005},       {432, 12, 200, 200, 0.00025},
        {936, 13, 400, 400, 0.000125},     {2016, 14, 800, 800, 6.25e-05},
        {4320, 15, 1600, 1600, 3.125e-05}, {9216, 16, 3200, 897, 1.5625e-05}};
    (void)state;
    petal_filter *filter = reserve(10, 0.01);
    add_texts(filter, "", 0, 100);
    assert_int_equal(info_of(filter).items, 99);
    expect_layers(filter, small, 4);
    petal_free(filter);
    filter = reserve(100, 0.001);
    add_texts(filter, "", 0, 4000);
    assert_int_equal(info_of(filter).items, 3997);
    expect_layers(filter, large, 6);
    petal_free(filter);
}

static void a_batch_and_a_clone_grow_alike(void **state)
{
    (void)state;
    petal_filter *one = reserve(10, 0.01), *copy, *batch = reserve(10, 0.01);
    petal_key keys[100];
    char texts[100][4];
    size_t new_count = 0;
    for (int i = 0; i < 100; i++)
        keys[i] = (petal_key){texts[i], (size_t)snprintf(texts[i], sizeof texts[i], "%d", i)};
    assert_int_equal(petal_clone(one, &copy, NULL), PETAL_OK);
    add_texts(one, "", 0, 100);
    add_texts(copy, "", 0, 100);
    assert_int_equal(add_key_batch(batch, keys, 100, NULL, &new_count), PETAL_OK);
    assert_int_equal(new_count, 99);
    assert_int_equal(contains_keys(batch, keys, 100, NULL), 100);
    require_that(content_of(one), ==, content_of(copy));
    require_that(content_of(one), ==, content_of(batch));
    petal_free(one);
    petal_free(copy);
    petal_free(batch);
}

/* These are the content ids of filters that RedisBloom (commit b28c294) created from the same file
 * and keys. When this test was written, the bytes were compared too. */
static void filters_from_before_2020_grow_by_powers_of_two(void **state)
{
    static const char *const paths[] = {CHUNKS "legacy_pow2_hash32_cap100_e0.01_100keys.bin",
                                        CHUNKS "legacy_pow2_force64_cap100_e0.01_100keys.bin"};
    static const uint64_t ids[] = {0x10ca90d2ef4f5136, 0x1ce1562526f88f0c};
    static const struct debug_line layers[] = {
        {256, 8, 185, 185, 0.005}, {1024, 9, 656, 656, 0.0025}, {4096, 10, 2355, 157, 0.00125}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        petal_filter *filter = loaded_vector(paths[i], "redisbloom");
        add_texts(filter, "key-", 100, 1000);
        expect_layers(filter, layers, 3);
        require_that(content_of(filter), ==, ids[i]);
        petal_free(filter);
    }
}

static void a_full_nonscaling_filter_refuses_new_keys_and_finds_the_old_ones(void **state)
{
    (void)state;
    petal_filter *filter = loaded_vector(CHUNKS "nonscaling_cap100_e0.01_hello.bin", "redisbloom");
    add_texts(filter, "key-", 0, 150);
    assert_int_equal(info_of(filter).items, 100);
    assert_int_equal(info_of(filter).layers, 1);
    uint64_t before = content_of(filter);
    assert_int_equal(petal_add(filter, "one more", 8), PETAL_ERR_FULL);
    assert_int_equal(petal_add(filter, "hello", 5), PETAL_SEEN);
    require_that(content_of(filter), ==, before);
    petal_free(filter);
}

/* With EXPANSION 1 and a capacity of 1, each of the first layers holds one key. */
static void no_more_layers_than_fit_are_added(void **state)
{
    petal_filter *empty = reserve(1, 0.25);
    struct bytes header = written(empty, "redisbloom");
    (void)state;
    header.data[16] = 1;
    petal_filter *filter = loaded(header, "redisbloom");
    int added = 0;
    while (added < 10000 && add_texts(filter, "", added, added + 1) >= 0) added++;
    assert_int_equal(add_texts(filter, "", added, added + 1), PETAL_ERR_FULL);
    assert_int_equal(info_of(filter).layers, 64);
    struct bytes all = written(filter, "redisbloom");
    assert_int_equal(little(all.data + 8, 4), 64);
    petal_filter *back = loaded(all, "redisbloom");
    require_that(content_of(filter), ==, content_of(back));
    petal_free(back);
    petal_free(filter);
    petal_free(empty);
    free(all.data);
    free(header.data);
}

static void a_mapped_petal_file_does_not_grow_and_a_loaded_one_does(void **state)
{
    char path[] = "/tmp/petal-redisbloom-XXXXXX";
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_error error;
    (void)state;
    int descriptor = mkstemp(path);
    require_that(descriptor, >=, 0);
    close(descriptor);
    petal_filter *filter = reserve(10, 0.01), *opened;
    add_texts(filter, "", 0, 10);
    expect_status(petal_save(filter, path, NULL, &error), PETAL_OK, &error);
    options.flags = PETAL_OPEN_WRITABLE;
    expect_status(petal_open(path, &options, &opened, &error), PETAL_OK, &error);
    assert_int_equal(petal_add(opened, "another", 7), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_add(opened, "1", 1), PETAL_SEEN);
    petal_free(opened);
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    expect_status(petal_open(path, &options, &opened, &error), PETAL_OK, &error);
    assert_int_equal(petal_add(opened, "another", 7), PETAL_OK);
    assert_int_equal(info_of(opened).layers, 2);
    petal_free(opened);
    petal_free(filter);
    unlink(path);
}

/* Merging two links of 80 keys each would give a link of 160 keys, but a link's capacity is only
 * 100 keys. */
static void chains_do_not_combine_since_the_sum_would_be_beyond_the_rate(void **state)
{
    petal_error error;
    (void)state;
    for (int layers = 1; layers <= 2; layers++) {
        petal_filter *a = reserve(100, 0.01), *b = reserve(100, 0.01);
        add_texts(a, "a", 0, layers == 1 ? 80 : 150);
        add_texts(b, "b", 0, layers == 1 ? 80 : 150);
        assert_int_equal(info_of(a).layers, layers);
        uint64_t before = content_of(a);
        expect_status(petal_merge(a, b, &error), PETAL_ERR_UNSUPPORTED, &error);
        assert_non_null(strstr(error.message, "add the keys"));
        expect_status(petal_intersect(a, b, &error), PETAL_ERR_UNSUPPORTED, &error);
        require_that(content_of(a), ==, before);
        petal_free(b);
        b = reserve(100, 0.001);
        expect_status(petal_merge(a, b, &error), PETAL_ERR_MISMATCH, &error);
        petal_free(b);
        petal_free(a);
    }
}

/* These filters have one layer and never add a second. So the union equals a filter of all the
 * keys, and it can be written and read. */
static void nonscaling_filters_combine_and_stay_full(void **state)
{
    petal_error error;
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_filter *filters[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        filters[i] = loaded_vector(CHUNKS "nonscaling_cap100_e0.01_hello.bin", "redisbloom");
    add_texts(filters[0], "a", 0, 60);
    add_texts(filters[1], "b", 0, 30);
    add_texts(filters[2], "a", 0, 60);
    add_texts(filters[2], "b", 0, 30);
    assert_false(info_of(filters[0]).abilities & PETAL_CAN_GROW);
    expect_status(petal_compare(filters[0], filters[1], &comparison, &error), PETAL_OK, &error);
    expect_status(petal_merge(filters[0], filters[1], &error), PETAL_OK, &error);
    assert_true(content_of(filters[0]) == content_of(filters[2]));
    expect_status(petal_merge(filters[0], filters[2], &error), PETAL_OK, &error);
    assert_true(content_of(filters[0]) == content_of(filters[2]));
    /* The number of items is the sum of the two filters' numbers. The merged filter is full and
     * accepts no new keys. */
    assert_true(info_of(filters[0]).items > 100);
    struct bytes image = written(filters[0], "redisbloom");
    petal_filter *back = loaded(image, "redisbloom");
    free(image.data);
    assert_int_equal(petal_add(back, "one more", 8), PETAL_ERR_FULL);
    assert_int_equal(petal_add(back, "a59", 3), PETAL_SEEN);
    petal_free(back);
    for (int i = 0; i < 3; i++) petal_free(filters[i]);
}

static void a_refused_merge_leaves_a_mapped_file_clean(void **state)
{
    char path[512];
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = reserve(10, 0.01), *mapped;
    petal_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/refused.petal", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    add_texts(filter, "", 0, 30);
    expect_status(petal_save(filter, path, NULL, &error), PETAL_OK, &error);
    options.flags = PETAL_OPEN_WRITABLE;
    expect_status(petal_open(path, &options, &mapped, &error), PETAL_OK, &error);
    expect_status(petal_intersect(mapped, filter, &error), PETAL_ERR_UNSUPPORTED, &error);
    expect_status(petal_merge(mapped, filter, &error), PETAL_ERR_UNSUPPORTED, &error);
    petal_free(mapped);
    /* No sync was made, so opening would fail if the file had been marked dirty. */
    options.flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY;
    expect_status(petal_open(path, &options, &mapped, &error), PETAL_OK, &error);
    petal_free(mapped);
    petal_free(filter);
    unlink(path);
}

static void what_redisbloom_does_not_make_is_not_planned(void **state)
{
    petal_filter *filter;
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    options.format = "redisbloom";
    options.rate = 0.01;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_ERR_ARGUMENT);
    options.capacity = 10;
    options.seed = 1;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_ERR_ARGUMENT);
    options.seed = 0;
    options.capacity = UINT64_MAX;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_ERR_LIMIT);
    options.capacity = 1;
    options.rate = 1e-323; /* half the rate is the smallest double, so 1,075 hashes */
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    petal_free(filter);
    options.rate = 5e-324; /* half the rate is 0 */
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_ERR_ARGUMENT);
    options.capacity = 0;
    options.bits = 1024;
    options.hashes = 7;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_ERR_ARGUMENT);
}

static void other_schemes_are_refused_by_it_and_it_by_others(void **state)
{
    petal_error error;
    uint8_t out[4096];
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = PETAL_SCHEME_CLASSIC;
    options.bits = 1024;
    options.hashes = 7;
    petal_filter *redis = reserve(100, 0.01), *classic;
    expect_status(petal_create(&options, &classic, &error), PETAL_OK, &error);
    assert_int_equal(petal_serialize(redis, SAVE_AS("guava"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_serialize(classic, SAVE_AS("redisbloom"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "redisbloom cannot hold a classic filter"));
    assert_int_equal(petal_serialize(classic, SAVE_AS("redisbloom-dump"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    petal_free(redis);
    petal_free(classic);
}

/* ---- the header of BF.SCANDUMP --------------------------------------------------------------- */

/* A change to one field of the file. The error message must contain `words`. */
struct damage {
    size_t at, count;
    uint64_t value;
    petal_status status;
    const char *words;
};

static void expect_damage_refused(const char *path, const char *format,
                                  const struct damage *damages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bytes bytes = vector(path);
        for (size_t j = 0; j < damages[i].count; j++)
            bytes.data[damages[i].at + j] = (uint8_t)(damages[i].value >> 8 * j);
        expect_refused(bytes, format, damages[i].status, damages[i].words);
        free(bytes.data);
    }
}

static void every_field_of_the_header_is_checked(void **state)
{
    static const struct damage damages[] = {
        {0, 8, 99, PETAL_ERR_DAMAGED, "byte 0 (the number of keys"},
        {8, 4, 0, PETAL_ERR_DAMAGED, "byte 0 (a filter has at least 1 layer"},
        {8, 4, 2, PETAL_ERR_TRUNCATED, "truncated"},
        {8, 4, 65, PETAL_ERR_LIMIT, "65 layers"},
        {8, 4, UINT32_MAX, PETAL_ERR_LIMIT, "4294967295 layers"},
        {12, 4, 16 | 5, PETAL_ERR_DAMAGED, "byte 0 (unknown options"},
        {20, 8, 0, PETAL_ERR_DAMAGED, "byte 73 (bytes after the end"},
        {20, 8, 143, PETAL_ERR_DAMAGED, "byte 216 (bytes after the end"},
        {20, 8, 152, PETAL_ERR_TRUNCATED, "truncated"},
        {20, 8, UINT64_MAX, PETAL_ERR_TRUNCATED, "truncated"},
        {28, 8, 0, PETAL_ERR_DAMAGED, "byte 20 (layer 0: bits, bytes"},
        {28, 8, 1151, PETAL_ERR_DAMAGED, "byte 20 (layer 0: bits, bytes"},
        {28, 8, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 20 (layer 0: bits, bytes"},
        {36, 8, 1, PETAL_ERR_DAMAGED, "byte 0 (the number of keys"},
        {44, 8, 0, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the error rate"},
        {44, 8, 0x3ff0000000000000, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the error rate"}, /* 1 */
        {44, 8, 0xbf747ae147ae147b, PETAL_ERR_DAMAGED,
         "byte 20 (layer 0: the error rate"}, /* negative */
        {44, 8, 0x7ff8000000000000, PETAL_ERR_DAMAGED,
         "byte 20 (layer 0: the error rate"}, /* NAN */
        {44, 8, 0x3f847ae147ae147b, PETAL_ERR_DAMAGED,
         "byte 20 (layer 0: the bits per entry"}, /* 0.01 */
        {52, 8, 0, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the bits per entry"},
        {52, 8, 0x7ff0000000000000, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the bits per entry"},
        {52, 8, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the bits per entry"},
        {60, 4, 0, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the hashes"},
        {60, 4, 9, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the hashes"},
        {60, 4, UINT32_MAX, PETAL_ERR_DAMAGED, "byte 20 (layer 0: the hashes"},
        {64, 8, 0, PETAL_ERR_DAMAGED, "byte 20 (layer 0: a capacity of 0"},
        {72, 1, 10, PETAL_ERR_DAMAGED, "byte 20 (layer 0: bits, bytes"},
        {72, 1, 11, PETAL_ERR_DAMAGED, "byte 20 (layer 0: bits, bytes"},
        {72, 1, 64, PETAL_ERR_DAMAGED, "byte 20 (layer 0: an impossible power of two"},
        {72, 1, 255, PETAL_ERR_DAMAGED, "byte 20 (layer 0: an impossible power of two"},
    };
    (void)state;
    expect_damage_refused(CHUNKS "default_cap100_e0.01_100keys.bin", "redisbloom", damages,
                          sizeof damages / sizeof *damages);
}

/* In the old encoding, a link may have fewer than 64 bits, so its only word contains bits that no
 * key can set. */
static void bits_beyond_a_small_power_of_two_are_refused(void **state)
{
    /* A capacity of 1 key at a rate of 0.25 gives a layer rate of 0.125, so 4.33 bits per entry, 3
     * hashes, and 2^3 bits in one word. */
    petal_filter *new = reserve(1, 0.25);
    struct bytes file = written(new, "redisbloom");
    (void)state;
    assert_int_equal(file.size, HEAD_BYTES + LINK_BYTES + 8);
    file.data[12] = 4; /* FORCE64 only */
    file.data[72] = 3;
    petal_filter *filter = loaded(file, "redisbloom");
    assert_int_equal(info_of(filter).bits, 8);
    struct bytes back = written(filter, "redisbloom");
    expect_same(back, file);
    file.data[HEAD_BYTES + LINK_BYTES + 1] = 1;
    require_that(expect_refused(file, "redisbloom", PETAL_ERR_DAMAGED, "bits set beyond the last"),
                 ==, HEAD_BYTES);
    petal_free(filter);
    petal_free(new);
    free(back.data);
    free(file.data);
}

/* C libraries can differ in the last bit of a logarithm. The value stored in a file must be
 * kept. */
static void bits_per_entry_of_another_c_library_are_kept(void **state)
{
    struct bytes bytes = vector(CHUNKS "scaled_cap10_e0.01_100keys.bin");
    (void)state;
    for (int i = 0; i < 4; i++)
        bytes.data[HEAD_BYTES + i * LINK_BYTES + 32] += (uint8_t)(i * 2 - 3); /* -3 .. 3 ulps */
    petal_filter *filter = loaded(bytes, "redisbloom");
    struct bytes petal = written(filter, "petal");
    petal_filter *through = loaded(petal, "petal");
    struct bytes back = written(through, "redisbloom");
    expect_same(back, bytes);
    bytes.data[HEAD_BYTES + 32] -= 1; /* now -4 */
    expect_refused(bytes, "redisbloom", PETAL_ERR_DAMAGED, "layer 0: the bits per entry");
    petal_free(filter);
    petal_free(through);
    free(petal.data);
    free(back.data);
    free(bytes.data);
}

/* Uses a sparse file of 2^33 bits, in which only the bits of "hello" are set. */
static void positions_reach_beyond_2_to_the_32(void **state)
{
    const uint64_t a = 0x5ba5b8a59803e699, b = 0xa7d451d588a0c2a4,
                   bytes = UINT64_C(1) << 30; /* MurmurHash64A of "hello" */
    char path[] = "/tmp/petal-redisbloom-XXXXXX";
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    struct bytes head = vector(CHUNKS "default_cap100_e0.01_empty.bin");
    for (int i = 0; i < 8; i++) {
        head.data[20 + i] = (uint8_t)(bytes >> 8 * i);
        head.data[28 + i] = (uint8_t)(8 * bytes >> 8 * i);
    }
    int file = mkstemp(path);
    assert_int_equal(pwrite(file, head.data, HEAD_BYTES + LINK_BYTES, 0), HEAD_BYTES + LINK_BYTES);
    assert_int_equal(ftruncate(file, (off_t)(HEAD_BYTES + LINK_BYTES + bytes)), 0);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t position = (a + i * b) % (8 * bytes);
        uint8_t byte = (uint8_t)(1u << position % 8); /* the eight bytes are all distinct */
        assert_int_equal(pwrite(file, &byte, 1, (off_t)(HEAD_BYTES + LINK_BYTES + position / 8)),
                         1);
    }
    close(file);
    options.format = "redisbloom";
    expect_status(petal_open(path, &options, &filter, &error), PETAL_OK, &error);
    unlink(path);
    assert_true(petal_contains(filter, "hello", 5));
    assert_false(petal_contains(filter, "hellp", 5));
    petal_free(filter);
    free(head.data);
}

static void its_header_is_recognized_as_possible(void **state)
{
    struct bytes bytes = vector(CHUNKS "scaled_cap10_e0.01_100keys.bin");
    const char *names[8] = {NULL};
    size_t fits = petal_recognize(bytes.data, bytes.size, names, 8), found = 0;
    (void)state;
    for (size_t i = 0; i < fits; i++) found += strcmp(names[i], "redisbloom") == 0;
    assert_int_equal(found, 1);
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_hash_as_redisbloom_hashes_them),
        cmocka_unit_test(sizes_are_those_of_redisbloom),
        cmocka_unit_test(what_a_layer_says_of_itself_stays_when_others_follow),
        cmocka_unit_test(a_filter_grows_to_the_layers_that_redisbloom_gives_it),
        cmocka_unit_test(a_batch_and_a_clone_grow_alike),
        cmocka_unit_test(filters_from_before_2020_grow_by_powers_of_two),
        cmocka_unit_test(nonscaling_filters_combine_and_stay_full),
        cmocka_unit_test(a_full_nonscaling_filter_refuses_new_keys_and_finds_the_old_ones),
        cmocka_unit_test(no_more_layers_than_fit_are_added),
        cmocka_unit_test(a_mapped_petal_file_does_not_grow_and_a_loaded_one_does),
        cmocka_unit_test(chains_do_not_combine_since_the_sum_would_be_beyond_the_rate),
        cmocka_unit_test(a_refused_merge_leaves_a_mapped_file_clean),
        cmocka_unit_test(what_redisbloom_does_not_make_is_not_planned),
        cmocka_unit_test(other_schemes_are_refused_by_it_and_it_by_others),
        cmocka_unit_test(every_field_of_the_header_is_checked),
        cmocka_unit_test(bits_beyond_a_small_power_of_two_are_refused),
        cmocka_unit_test(bits_per_entry_of_another_c_library_are_kept),
        cmocka_unit_test(positions_reach_beyond_2_to_the_32),
        cmocka_unit_test(its_header_is_recognized_as_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* redisbloom.c - tests what the common vectors can't show about RedisBloom's filters. Sizes, growth
 * and contents are as in RedisBloom, including its old versions, and files that RedisBloom would
 * refuse are refused. Redis's own encoding (lengths, compressed strings, type, checksum) is read
 * and written, but never trusted. */
#define _XOPEN_SOURCE 700 /* mkstemp, ftruncate, pwrite */

#include "support.h"

#include <unistd.h>

#define CHUNKS "redisbloom/"
#define DUMPS "redisbloom-dump/"
#define HEAD_BYTES 20
#define LINK_BYTES 53

/* ---- helpers --------------------------------------------------------------------------------- */

static petal_filter *reserve(uint64_t keys, double rate)
{
    return planned("redisbloom", keys, rate);
}

/* Adds "<text><number>" for from <= number < to. Returns the status of the last call. */
static petal_status add_texts(petal_filter *filter, const char *text, int from, int to)
{
    char key[64];
    petal_status status = PETAL_OK;
    for (int i = from; i < to; i++)
        status = petal_add(filter, key, (size_t)snprintf(key, sizeof key, "%s%d", text, i));
    return status;
}

static uint64_t little(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;
    while (count-- > 0) number = number << 8 | bytes[count];
    return number;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

/* RedisBloom uses two hash words. The first is MurmurHash64A with its seed. */
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

/* If there are many layers, the library spends less work on each to find the rate of the filter.
 * What it reports about a single layer must stay the same. */
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

/* Compares the layers with the output of BF.DEBUG. */
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

/* RedisBloom's own test expects these numbers from BF.DEBUG. The last sizes depend on false
 * positives. */
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

/* RedisBloom (commit b28c294) made filters from the same file and keys; these are their content
 * ids. Their bytes were compared when this test was written. */
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

/* With EXPANSION 1 and a capacity of 1, each of the first layers takes one key. */
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

/* Two links of 80 keys each would combine into one link of 160 keys, but it is rated for 100. */
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

/* These filters have one layer, and never a second. So the union equals a filter of all keys, and
 * can be written and read. */
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
    /* This is the sum of both. The filter is full and accepts no new key. */
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
    /* There was no sync, and a dirty file would be refused. */
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
    options.rate = 1e-323; /* half of it is the smallest double, so 1,075 hashes */
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    petal_free(filter);
    options.rate = 5e-324; /* half of it is 0 */
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

/* Changes one field. `words` is a part of the expected message. */
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

/* The old sizes may be below 64 bits. A link then has bits that no key can set. */
static void bits_beyond_a_small_power_of_two_are_refused(void **state)
{
    /* 1 key at 0.25 gives 0.125: 4.33 bits per entry, 3 hashes, 2^3 bits in one word. */
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

/* C libraries can differ in the last bit of a logarithm. A file keeps the value that was
 * written. */
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

/* Uses a file of 2^33 bits. It is all holes except for the bits of "hello". */
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
        uint8_t byte = (uint8_t)(1u << position % 8); /* the eight bytes are all different */
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

/* ---- DUMP ------------------------------------------------------------------------------------ */

/* Makes a payload from a bare value: the type in front, version and checksum at the end. Computes
 * the checksum bit by bit, following its definition in Redis. */
static struct bytes sealed(struct bytes value)
{
    struct bytes bytes = zeros(value.size + 11);
    uint64_t crc = 0;
    bytes.data[0] = 7;
    memcpy(bytes.data + 1, value.data, value.size);
    bytes.data[value.size + 1] = 10;
    for (size_t i = 0; i < value.size + 3; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x95ac9329ac4bc9b5u : 0);
    }
    for (size_t i = 0; i < 8; i++) bytes.data[value.size + 3 + i] = (uint8_t)(crc >> 8 * i);
    return bytes;
}

/* Returns the bare value in a DUMP file. */
static struct bytes value_of(const char *path)
{
    struct bytes bytes = vector(path);
    bytes.size -= 11;
    memmove(bytes.data, bytes.data + 1, bytes.size);
    return bytes;
}

/* The value must be refused both as a sealed payload and bare. */
static void expect_value_refused(struct bytes value, petal_status status, const char *words)
{
    struct bytes payload = sealed(value);
    expect_refused(value, "redisbloom-dump", status, words);
    expect_refused(payload, "redisbloom-dump", status, words);
    free(payload.data);
}

static void a_dump_and_its_chunks_are_the_same_filter(void **state)
{
    (void)state;
    petal_filter *dump = loaded_vector(DUMPS "scaled_cap10_e0.01_100keys.dump", "redisbloom-dump");
    petal_filter *chunks = loaded_vector(CHUNKS "scaled_cap10_e0.01_100keys.bin", "redisbloom");
    struct bytes a = written(dump, "redisbloom"),
                 b = vector(CHUNKS "scaled_cap10_e0.01_100keys.bin");
    expect_same(a, b);
    free(b.data);
    /* The footer names the first RDB version that supports the values, so every server accepts
     * it. */
    b = vector(DUMPS "scaled_cap10_e0.01_100keys.dump");
    struct bytes c = written(chunks, "redisbloom-dump");
    assert_int_equal(c.size, b.size);
    assert_memory_equal(c.data, b.data, b.size - 10);
    assert_int_equal(c.data[c.size - 10], 8);
    petal_free(dump);
    petal_free(chunks);
    free(a.data);
    free(b.data);
    free(c.data);
}

static void a_payload_is_recognized_by_its_type(void **state)
{
    static const char *const paths[] = {DUMPS "scaled_cap10_e0.01_100keys.dump",
                                        DUMPS "scaled_bare_value.rdb"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bytes bytes = vector(paths[i]);
        const char *name = NULL;
        assert_int_equal(petal_recognize(bytes.data, bytes.size, &name, 1), 1);
        assert_string_equal(name, "redisbloom-dump");
        free(bytes.data);
    }
}

static void a_wrong_checksum_is_damage_and_every_bit_is_under_it(void **state)
{
    struct bytes bytes = vector(DUMPS "default_cap100_e0.01_100keys.dump");
    petal_filter *filter;
    (void)state;
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!(load(bytes, "redisbloom-dump", &filter, NULL) < 0)) fail_msg("bit %zu", bit);
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bytes.data[bytes.size - 1] ^= 1;
    expect_refused(bytes, "redisbloom-dump", PETAL_ERR_DAMAGED, "checksum");
    free(bytes.data);
}

static void values_of_other_types_are_named(void **state)
{
    uint8_t text[] = {0, 5, 'h', 'e', 'l', 'l', 'o', 10, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump");
    (void)state;
    expect_refused((struct bytes){text, sizeof text}, "redisbloom-dump", PETAL_ERR_NOT_A_FILTER,
                   "not a value of a Redis module");
    value.data[8] = 0x05; /* the encoding version: the low 10 bits of the id */
    expect_value_refused(value, PETAL_ERR_NEWER, "encoding 5");
    memcpy(value.data + 1, "\x30\x16\xe5\xa2\x89\x82\x14\x04", 8);
    expect_value_refused(value, PETAL_ERR_NOT_A_FILTER, "type MBbloomCF");
    memcpy(value.data + 1, "\x6e\x5a\x28\x99\xf9\x6d\xac\x01", 8);
    expect_value_refused(value, PETAL_ERR_NOT_A_FILTER, "type bloomfltr");
    free(value.data);
}

/* Offsets of the fields in a value for 100 keys at 1 %. */
enum { VALUE_SIZE = 10, VALUE_LINKS = 12, VALUE_OPTIONS = 14, VALUE_STRING = 46 };

static void fields_of_a_value_are_checked(void **state)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump");
    (void)state;
    assert_int_equal(value.data[VALUE_STRING], 0xc3);
    value.data[VALUE_SIZE] = 1;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "number of keys");
    value.data[VALUE_SIZE] = 0;
    value.data[VALUE_LINKS] = 0;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "at least 1 layer");
    value.data[VALUE_LINKS] = 2;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "another kind");
    value.data[VALUE_LINKS] = 1;
    value.data[VALUE_OPTIONS] = 16;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "unknown options");
    value.data[VALUE_OPTIONS] = 0xc0; /* a string in place of a number */
    expect_value_refused(value, PETAL_ERR_DAMAGED, "a string in place of a number");
    value.data[VALUE_OPTIONS] = 0x82;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "no such length");
    value.data[VALUE_OPTIONS] = 5;
    value.data[VALUE_OPTIONS - 1] = 4;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "another kind");
    free(value.data);
}

/* Replaces an empty filter's string, which is normally 144 zero bytes. */
static struct bytes with_string(const char *string, size_t size)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump"),
                 made = zeros(VALUE_STRING + size + 3);
    memcpy(made.data, value.data, VALUE_STRING);
    memcpy(made.data + VALUE_STRING, string, size);
    memcpy(made.data + VALUE_STRING + size, "\x02\x00\x00", 3);
    free(value.data);
    return made;
}

/* First the payload ends within the header. Then come lengths larger than the bytes that follow. */
static void hostile_lengths_allocate_nothing(void **state)
{
    static const struct {
        const char *string;
        size_t size;
        petal_status status;
        const char *words;
    } cases[] = {
        {"\x81\xff\xff\xff\xff\xff\xff\xff\xff", 9, PETAL_ERR_TRUNCATED, "truncated"},
        {"\xc3\x01\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x00", 12, PETAL_ERR_DAMAGED,
         "impossible length"},
        {"\xc3\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, PETAL_ERR_TRUNCATED, "truncated"},
        {"\xc4\x01", 2, PETAL_ERR_DAMAGED, "no such form"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes value = with_string(cases[i].string, cases[i].size);
        struct counting count = {0};
        petal_filter *filter;
        petal_error error;
        expect_status(load_counted(value, "redisbloom-dump", &count, &filter, &error),
                      cases[i].status, &error);
        assert_non_null(strstr(error.message, cases[i].words));
        assert_int_equal(count.calls, 0);
        free(value.data);
    }
}

static void hostile_numbers_of_layers_are_over_the_limit(void **state)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump"),
                 more = zeros(value.size + 8);
    (void)state;
    memcpy(more.data, value.data, VALUE_LINKS);
    memcpy(more.data + VALUE_LINKS, "\x81\xff\xff\xff\xff\xff\xff\xff\xff", 9);
    memcpy(more.data + VALUE_LINKS + 9, value.data + VALUE_LINKS + 1, value.size - VALUE_LINKS - 1);
    expect_refused(more, "redisbloom-dump", PETAL_ERR_LIMIT, "18446744073709551615 layers");
    free(value.data);
    free(more.data);
}

static void compressed_strings_are_held_to_their_bounds(void **state)
{
    /* c3, the compressed length, 144 encoded as 40 90, and then LZF data. */
    static const struct {
        const char *string;
        size_t size;
        petal_status status;
    } cases[] = {
        {"\xc3\x09\x40\x90\x01\x00\x00\xe0\x83\x00\x01\x00\x00", 13, PETAL_OK}, /* Redis's own */
        {"\xc3\x06\x40\x90\x00\x00\xe0\x86\x00\x00", 10, PETAL_ERR_DAMAGED}, /* one byte too few */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x86\x00", 9, PETAL_OK},          /* 0, then 143 copies */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x87\x00", 9, PETAL_ERR_DAMAGED}, /* one copy too many */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x85\x00", 9, PETAL_ERR_DAMAGED}, /* one copy too few */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x86\x01", 9,
         PETAL_ERR_DAMAGED}, /* copies from before the start */
        /* Copies from far before the start. */
        {"\xc3\x05\x40\x90\x00\x00\xff\x86\xff", 9, PETAL_ERR_DAMAGED},
        {"\xc3\x03\x40\x90\xe0\x87\x00", 7, PETAL_ERR_DAMAGED}, /* copies nothing */
        {"\xc3\x02\x40\x90\x1f\x00", 6, PETAL_ERR_DAMAGED},     /* fewer literals than announced */
        {"\xc3\x03\x40\x90\x00\x00\xe0", 7, PETAL_ERR_DAMAGED}, /* a copy without length */
        {"\xc3\x04\x40\x90\x00\x00\xe0\x86", 8, PETAL_ERR_DAMAGED}, /* a copy without distance */
        /* A short copy without distance. */
        {"\xc3\x03\x40\x90\x00\x00\x20", 7, PETAL_ERR_DAMAGED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes value = with_string(cases[i].string, cases[i].size);
        petal_filter *filter;
        petal_error error;
        expect_status(load(value, "redisbloom-dump", &filter, &error), cases[i].status, &error);
        if (cases[i].status != PETAL_OK)
            assert_non_null(strstr(error.message, "compressed string"));
        petal_free(filter);
        free(value.data);
    }
}

/* If a string looks like a number, Redis stores the number. One in 10^11 of all 8-byte bit arrays
 * does. */
static void bits_that_look_like_a_number_are_read(void **state)
{
    petal_filter *empty = reserve(1, 0.25);
    struct bytes dump = written(empty, "redisbloom-dump"), made = zeros(dump.size - 11 - 4);
    /* .. 05 08 <8 zeros> 02 00 00 becomes .. 05 c2 <-1234567 in 32 bits> 02 00 00. */
    size_t at = dump.size - 10 - 3 - 9;
    (void)state;
    assert_int_equal(dump.data[at], 8);
    memcpy(made.data, dump.data + 1, at - 1);
    memcpy(made.data + at - 1, "\xc2\x79\x29\xed\xff\x02\x00\x00", 8);
    petal_filter *filter = loaded(made, "redisbloom-dump");
    struct bytes chunks = written(filter, "redisbloom");
    assert_memory_equal(chunks.data + HEAD_BYTES + LINK_BYTES, "-1234567", 8);
    petal_free(filter);
    petal_free(empty);
    free(dump.data);
    free(made.data);
    free(chunks.data);
}

/* Any bits must survive compression. Sparse bits shrink, and dense ones are stored unchanged. */
static void compressed_or_not_a_dump_gives_back_its_bits(void **state)
{
    (void)state;
    for (int keys = 0; keys <= 20000; keys = keys * 3 + 1) {
        petal_filter *filter = reserve(20000, 0.01);
        add_texts(filter, "k", 0, keys);
        struct bytes dump = written(filter, "redisbloom-dump");
        if (keys < 500) require_that(dump.size, <, info_of(filter).bytes / 2);
        petal_filter *back = loaded(dump, "redisbloom-dump");
        require_that(content_of(filter), ==, content_of(back));
        petal_free(filter);
        petal_free(back);
        free(dump.data);
    }
}

/* Decoding, copying and compressing allocate memory, and each allocation can fail. */
static void without_memory_there_is_no_harm(void **state)
{
    struct bytes dump = vector(DUMPS "scaled_cap10_e0.01_100keys.dump");
    struct counting count = {0};
    petal_filter *filter;
    petal_error error;
    uint8_t out[1024];
    (void)state;
    expect_harmless_without_memory(dump, "redisbloom-dump");
    struct bytes empty = vector(DUMPS "default_cap100_e0.01_empty.dump");
    expect_status(load_counted(empty, "redisbloom-dump", &count, &filter, &error), PETAL_OK,
                  &error);
    for (int i = 1; i <= 2; i++) {
        count.fail_at = count.calls + (uint64_t)i;
        assert_int_equal(
            petal_serialize(filter, SAVE_AS("redisbloom-dump"), out, sizeof out, &error),
            PETAL_ERR_MEMORY);
    }
    petal_free(filter);
    assert_int_equal(count.held_bytes, 0);
    free(empty.data);
    free(dump.data);
}

/* If n2 is 1, a link has 2 bits, in one word. */
static void the_smallest_power_of_two_is_written_as_it_was_read(void **state)
{
    (void)state;
    petal_filter *empty = reserve(1, 0.25);
    struct bytes header = written(empty, "redisbloom");
    require_that(little(header.data + HEAD_BYTES, 8), ==, 8);
    header.data[HEAD_BYTES + LINK_BYTES - 1] = 1;
    petal_filter *filter = loaded(header, "redisbloom");
    require_that(info_of(filter).bits, ==, 2);
    struct bytes back = written(filter, "redisbloom");
    expect_same(back, header);
    petal_free(filter);
    petal_free(empty);
    free(header.data);
    free(back.data);
}

/* A filter keeps its old encoding version unless it grows into something that needs a newer one. */
static void old_encodings_are_written_back_and_grow(void **state)
{
    static const struct {
        const char *path;
        uint8_t before, after;
    } files[] = {
        {DUMPS "model_hash32_encver0.dump", 0, 1},
        {DUMPS "legacy_pow2_hash32_encver1.dump", 1, 1},
        {DUMPS "legacy_pow2_force64_encver3.dump", 3, 3},
        {DUMPS "scaled_cap10_e0.01_100keys.dump", 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        petal_filter *filter = loaded_vector(files[i].path, "redisbloom-dump");
        struct bytes same = written(filter, "redisbloom-dump");
        assert_int_equal(same.data[9] & 7, files[i].before);
        uint32_t layers = info_of(filter).layers;
        add_texts(filter, "more", 0, 300);
        require_that(info_of(filter).layers, >, layers);
        struct bytes grown = written(filter, "redisbloom-dump");
        assert_int_equal(grown.data[9] & 7, files[i].after);
        petal_filter *back = loaded(grown, "redisbloom-dump");
        require_that(content_of(filter), ==, content_of(back));
        petal_free(filter);
        petal_free(back);
        free(same.data);
        free(grown.data);
    }
}

/* The current RedisBloom can read an old filter as chunks, but the header gives the number of bits
 * in whole bytes. */
static void old_dumps_become_chunks_where_a_header_can_say_them(void **state)
{
    petal_error error;
    uint8_t out[1024];
    (void)state;
    petal_filter *filter =
        loaded_vector(DUMPS "legacy_pow2_force64_encver3.dump", "redisbloom-dump");
    struct bytes a = written(filter, "redisbloom"),
                 b = vector(CHUNKS "legacy_pow2_force64_cap100_e0.01_100keys.bin");
    expect_same(a, b);
    petal_free(filter);
    filter = loaded_vector(DUMPS "model_hash32_encver0.dump", "redisbloom-dump");
    assert_int_equal(petal_serialize(filter, SAVE_AS("redisbloom"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "958 bits"));
    petal_free(filter);
    free(a.data);
    free(b.data);
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
        cmocka_unit_test(a_dump_and_its_chunks_are_the_same_filter),
        cmocka_unit_test(a_payload_is_recognized_by_its_type),
        cmocka_unit_test(a_wrong_checksum_is_damage_and_every_bit_is_under_it),
        cmocka_unit_test(values_of_other_types_are_named),
        cmocka_unit_test(fields_of_a_value_are_checked),
        cmocka_unit_test(hostile_lengths_allocate_nothing),
        cmocka_unit_test(hostile_numbers_of_layers_are_over_the_limit),
        cmocka_unit_test(compressed_strings_are_held_to_their_bounds),
        cmocka_unit_test(bits_that_look_like_a_number_are_read),
        cmocka_unit_test(compressed_or_not_a_dump_gives_back_its_bits),
        cmocka_unit_test(without_memory_there_is_no_harm),
        cmocka_unit_test(old_encodings_are_written_back_and_grow),
        cmocka_unit_test(the_smallest_power_of_two_is_written_as_it_was_read),
        cmocka_unit_test(old_dumps_become_chunks_where_a_header_can_say_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

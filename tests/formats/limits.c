/* limits.c - proves with a counting allocator that opening a file never allocates more than the
 * memory limit, whatever size the file declares, and that the error message suggests a remedy. */
#include "support.h"

#include <unistd.h>

#define MEBIBYTE ((uint64_t)1 << 20)

static petal_status open_within(struct bytes bytes, const char *format, uint64_t limit,
                                struct counting *count, petal_filter **filter, petal_error *error)
{
    petal_allocator allocator = {counting_alloc, counting_release, count};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = format;
    options.allocator = &allocator;
    options.memory_limit = limit;
    *count = (struct counting){0};
    return petal_load(bytes.data, bytes.size, &options, filter, error);
}

static uint64_t number_before(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    assert_non_null(at);
    while (at > text && at[-1] >= '0' && at[-1] <= '9') at--;
    return strtoull(at, NULL, 10);
}

/* If the memory limit is too low, opening must fail and report the number of bytes needed. With
 * this limit, opening must succeed without a memory leak. If the file must be decompressed, opening
 * may report a limit twice. */
static void expect_bounded(struct bytes bytes, const char *format, uint64_t too_small)
{
    struct counting count;
    petal_filter *filter;
    petal_error error;
    uint64_t limit = too_small;
    petal_status status = open_within(bytes, format, limit, &count, &filter, &error);
    expect_status(status, PETAL_ERR_LIMIT, &error);
    for (int i = 0; i < 4 && status == PETAL_ERR_LIMIT; i++) {
        require_that(count.peak_bytes, <=, limit);
        assert_int_equal(count.held_bytes, 0);
        assert_non_null(strstr(error.message, "--memory-limit"));
        assert_non_null(strstr(error.message, "options.memory_limit"));
        uint64_t needed = number_before(error.message, " bytes of memory");
        require_that(needed, >, limit);
        limit = needed;
        status = open_within(bytes, format, limit, &count, &filter, &error);
    }
    expect_status(status, PETAL_OK, &error);
    require_that(count.peak_bytes, <=, limit);
    petal_free(filter);
    assert_int_equal(count.held_bytes, 0);
    expect_status(open_within(bytes, format, UINT64_MAX, &count, &filter, &error), PETAL_OK,
                  &error);
    petal_free(filter);
}

/* No matter which byte is wrong or missing, no memory may stay allocated. */
static void expect_no_leak_of_damaged(struct bytes bytes, const char *format)
{
    struct counting count;
    petal_filter *filter;
    petal_error error;
    for (size_t i = 0; i < 32; i++) {
        size_t at = bytes.size * i / 32;
        uint8_t own = bytes.data[at];
        struct bytes cut = {bytes.data, at};
        bytes.data[at] = '!';
        (void)open_within(bytes, format, UINT64_MAX, &count, &filter, &error);
        petal_free(filter);
        assert_int_equal(count.held_bytes, 0);
        bytes.data[at] = own;
        (void)open_within(cut, format, UINT64_MAX, &count, &filter, &error);
        petal_free(filter);
        assert_int_equal(count.held_bytes, 0);
    }
}

static void expect_format_bounded(const char *format, uint64_t keys, uint64_t too_small)
{
    petal_filter *filter = planned(format, keys, 0.01);
    require_that(petal_add(filter, "key", 3), >=, 0);
    struct bytes bytes = written(filter, format);
    petal_free(filter);
    expect_bounded(bytes, format, too_small);
    expect_no_leak_of_damaged(bytes, format);
    free(bytes.data);
}

static void bits_that_a_file_leaves_out_are_within_the_limit(void **state)
{
    (void)state;
    struct bytes bytes = zeros(24); /* an empty 2 MiB DataSketches filter */
    memcpy(bytes.data, (uint8_t[]){3, 1, 21, 4, 3}, 5);
    bytes.data[18] = 4;
    expect_bounded(bytes, "datasketches", MEBIBYTE);
    free(bytes.data);
}

static void bits_that_are_unpacked_are_within_the_limit(void **state)
{
    (void)state;
    /* The compressed file is only a thousandth of this size. */
    expect_format_bounded("dcso-gzip", 2000000, MEBIBYTE);
    expect_format_bounded("redisbloom-dump", 2000000, MEBIBYTE);
    expect_format_bounded("bits-and-blooms-json", 100000, 100000);
    expect_format_bounded("bloom-filters", 100000, 100000);
    expect_format_bounded("bloomfilter", 100000, 100000);
    expect_format_bounded("js-tutorial", 100000, 100000);
}

static void copies_are_within_the_limit(void **state)
{
    (void)state;
    expect_format_bounded("guava", 100000, 100000);
    expect_format_bounded("redisbloom", 100000, 100000);
    expect_format_bounded("parquet", 100000, 100000);
    petal_filter *filter = planned(NULL, 100000, 0.01);
    struct bytes bytes = written(filter, "petal");
    petal_free(filter);
    expect_bounded(bytes, "petal", 100000);
    free(bytes.data);
}

static void a_map_does_not_count(void **state)
{
    char path[512];
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = planned(NULL, 1000000, 0.01);
    petal_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/limits.petal", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_int_equal(petal_add(filter, "key", 3), PETAL_OK);
    expect_status(petal_save(filter, path, NULL, &error), PETAL_OK, &error);
    petal_free(filter);
    options.memory_limit = 65536;
    expect_status(petal_open(path, &options, &filter, &error), PETAL_OK, &error);
    assert_true(petal_contains(filter, "key", 3));
    petal_free(filter);
    options.flags = PETAL_OPEN_LOAD;
    expect_status(petal_open(path, &options, &filter, &error), PETAL_ERR_LIMIT, &error);
    unlink(path);
}

/* The library used to report 0 for formats that use the default planner. */
static void a_format_can_create_just_if_it_can_be_planned(void **state)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    (void)state;
    for (uint32_t place = 0; petal_format_at(place, &info); place++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info plan = PETAL_INFO_INIT;
        options.format = info.name;
        options.capacity = 1000;
        options.rate = 0.01;
        bool can_create = info.abilities & PETAL_FORMAT_CAN_CREATE;
        assert_int_equal(can_create, petal_plan(&options, &plan, NULL, NULL) == PETAL_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_can_create_just_if_it_can_be_planned),
        cmocka_unit_test(bits_that_a_file_leaves_out_are_within_the_limit),
        cmocka_unit_test(bits_that_are_unpacked_are_within_the_limit),
        cmocka_unit_test(copies_are_within_the_limit),
        cmocka_unit_test(a_map_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

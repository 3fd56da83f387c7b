/* streams.c - proves that petal_write() writes the same image as petal_serialize(), in pieces, uses
 * the same amount of memory for any filter, and stops if the sink requests it. */
#include "kinds.h"

/* ---- sinks ----------------------------------------------------------------------------------- */

/* Compares the pieces with the expected bytes, and counts them. */
struct comparing {
    struct bytes expected;
    size_t at, largest;
    uint64_t calls, differences;
    uint64_t stop_at_call; /* 0 means never */
};

static int32_t compare(void *context, const void *bytes, size_t size_bytes)
{
    struct comparing *to = context;
    to->calls++;
    if (to->calls == to->stop_at_call) return 32;
    if (size_bytes > to->largest) to->largest = size_bytes;
    if (size_bytes > to->expected.size - to->at ||
        memcmp(to->expected.data + to->at, bytes, size_bytes) != 0)
        to->differences++;
    else
        to->at += size_bytes;
    return 0;
}

static struct bytes serialized_as(const petal_filter *filter, const char *format)
{
    struct bytes bytes = new_bytes((size_t)petal_serialized_bytes(filter, SAVE_AS(format)));
    petal_error error;
    require_status(PETAL_OK,
                   petal_serialize(filter, SAVE_AS(format), bytes.data, bytes.size, &error), error);
    return bytes;
}

static void require_same_stream(const petal_filter *filter, const char *format, const char *what)
{
    struct comparing to = {.expected = serialized_as(filter, format ? format : "petal")};
    petal_error error;
    require_status(PETAL_OK, petal_write(filter, SAVE_AS(format), compare, &to, &error), error);
    require(to.differences == 0 && to.at == to.expected.size, "%s: %zu of %zu bytes", what, to.at,
            to.expected.size);
    require(to.largest <= 262144, "%s: a piece of %zu bytes", what, to.largest);
    require(to.calls <= 4 + to.expected.size / 2048, "%s: %llu calls for %zu bytes", what,
            (unsigned long long)to.calls, to.expected.size);
    free(to.expected.data);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void every_kind_is_streamed_as_it_is_serialized(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = kind_filter(kind, NULL);
        require_same_stream(filter, NULL, kind_names[kind]);
        petal_free(filter);
    }
}

static void every_format_is_streamed_as_it_is_serialized(void **state)
{
    (void)state;
    petal_format_info about = PETAL_FORMAT_INFO_INIT;
    for (uint32_t i = 0; petal_format_at(i, &about); i++) {
        const char *format = about.name;
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = format;
        options.capacity = 20000;
        options.rate = 0.01;
        petal_filter *filter = NULL;
        if (petal_create(&options, &filter, NULL) != PETAL_OK) continue; /* hbase is read-only */
        add_numbers(filter, 0, 1000);
        require_same_stream(filter, format, format);
        petal_free(filter);
    }
}

static void sums_of_many_blocks_are_streamed_too(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, (uint64_t)8 * 65536 * 1500 + 64, 3, 0);
    add_numbers(filter, 0, 1000);
    require_same_stream(filter, "petal", "1500 blocks and a line");
    petal_free(filter);
}

static void writing_takes_no_memory(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        petal_filter *filter = kind_filter(kind, &allocator);
        struct comparing to = {.expected = serialized(filter)};
        petal_error error;
        count.calls = 0;
        require_status(PETAL_OK, petal_write(filter, NULL, compare, &to, &error), error);
        require(count.calls == 0, "%s: %llu allocations", kind_names[kind],
                (unsigned long long)count.calls);
        free(to.expected.data);
        petal_free(filter);
    }
}

static int32_t drop(void *context, const void *bytes, size_t size_bytes)
{
    (void)bytes;
    *(uint64_t *)context += size_bytes;
    return 0;
}

/* Returns the peak memory of this process in KiB, or 0 if the system doesn't report it. */
static uint64_t peak_kib(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib;
}

/* Set PETAL_TEST_STREAM_MIB=1024 to test the documented gigabyte. */
static void writing_raises_peak_memory_by_less_than_a_megabyte(void **state)
{
    (void)state;
    const char *given = getenv("PETAL_TEST_STREAM_MIB"); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t mib = given ? strtoull(given, NULL, 10) : 32, written = 0;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, mib << 23, 8, 1);
    petal_error error;
    add_numbers(filter, 0, mib << 14); /* touches every page */
    uint64_t before = peak_kib();
    if (before == 0) skip_because("this machine does not tell its peak memory");
    require_status(PETAL_OK, petal_write(filter, NULL, drop, &written, &error), error);
    uint64_t after = peak_kib();
    printf("# %llu MiB streamed, peak memory rose by %llu KiB\n",
           (unsigned long long)(written >> 20), (unsigned long long)(after - before));
    require_that(written, >, mib << 20);
    require_that(after - before, <, 1024);
    petal_free(filter);
}

static void a_sink_can_stop_the_stream_at_any_piece(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, (uint64_t)8 << 20, 8, 1);
    struct comparing to = {.expected = serialized(filter)};
    petal_error error;
    require_status(PETAL_OK, petal_write(filter, NULL, compare, &to, &error), error);
    uint64_t calls = to.calls;
    require_that(calls, >, 4);
    for (uint64_t at = 1; at <= calls; at++) {
        to = (struct comparing){.expected = to.expected, .stop_at_call = at};
        require_status(PETAL_ERR_IO, petal_write(filter, NULL, compare, &to, &error), error);
        assert_int_equal(error.system_errno, 32);
        assert_int_equal(to.calls, at);
        assert_int_equal(to.differences, 0);
    }
    /* a stop by the caller's sink isn't recorded as a failure */
    assert_int_equal(petal_last_error(filter, NULL), PETAL_OK);
    free(to.expected.data);
    petal_free(filter);
}

static void writing_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    petal_error error;
    uint64_t written = 0;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1024, 4, 1);
    require_status(PETAL_ERR_ARGUMENT,
                   petal_write(filter, SAVE_AS("no such"), drop, &written, &error), error);
    require_status(PETAL_ERR_ARGUMENT, petal_write(filter, NULL, NULL, NULL, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED,
                   petal_write(filter, SAVE_AS("guava"), drop, &written, &error), error);
    assert_int_equal(written, 0);
    petal_free(filter);
}

/* All four calls that save accept the same options. They also accept a longer struct if its
 * additional bytes are 0. */
static void the_options_of_saving_are_checked_by_every_call(void **state)
{
    (void)state;
    petal_error error;
    struct {
        petal_save_options known;
        uint64_t later;
    } newer = {{.struct_size = sizeof newer}, 0};
    petal_save_options bad[] = {PETAL_SAVE_OPTIONS_INIT, {.format = "petal"}};
    uint64_t written = 0;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1024, 4, 1);
    struct bytes image = new_bytes((size_t)petal_serialized_bytes(filter, NULL));
    bad[0].flags = PETAL_SAVE_NO_REPLACE | 8;
    newer.later = 1;
    const petal_save_options *refused[] = {&bad[0], &bad[1], &newer.known, SAVE_AS("no such")};
    for (int i = 0; i < 4; i++) {
        require_status(PETAL_ERR_ARGUMENT,
                       petal_save(filter, temporary("never"), refused[i], &error), error);
        require_status(PETAL_ERR_ARGUMENT, petal_write(filter, refused[i], drop, &written, &error),
                       error);
        require_status(PETAL_ERR_ARGUMENT,
                       petal_serialize(filter, refused[i], image.data, image.size, &error), error);
        require_that(petal_serialized_bytes(filter, refused[i]), ==, 0);
    }
    require_that(written, ==, 0);
    require_that(access(temporary("never"), F_OK), ==, -1);
    newer.later = 0;
    require_that(petal_serialized_bytes(filter, &newer.known), ==, image.size);
    require_status(PETAL_OK, petal_serialize(filter, &newer.known, image.data, image.size, &error),
                   error);
    /* The flags apply to the file that is replaced. Calls that write no file ignore the flags. */
    require_status(PETAL_OK,
                   petal_write(filter, SAVE_WITH(PETAL_SAVE_NO_REPLACE), drop, &written, &error),
                   error);
    require_that(written, ==, image.size);
    petal_free(filter);
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_streamed_as_it_is_serialized),
        cmocka_unit_test(every_format_is_streamed_as_it_is_serialized),
        cmocka_unit_test(sums_of_many_blocks_are_streamed_too),
        cmocka_unit_test(writing_takes_no_memory),
        cmocka_unit_test(writing_raises_peak_memory_by_less_than_a_megabyte),
        cmocka_unit_test(a_sink_can_stop_the_stream_at_any_piece),
        cmocka_unit_test(writing_refuses_what_it_cannot_do),
        cmocka_unit_test(the_options_of_saving_are_checked_by_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* datasketches.c - tests properties of DataSketches' filters that the common vectors don't cover.
 * Keys and sizes must match the C++ library. Other tests cover empty filters without bits, the
 * count of set bits (which may be wrong), the empty key, and sizes on which the C++ and Java
 * libraries disagree. */
#include "support.h"

#include "petal/petal_build.h"

#define FOLDER "datasketches/"

/* ---- helpers --------------------------------------------------------------------------------- */

static petal_filter *sized(uint64_t bits, uint32_t hashes, uint64_t seed)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = "datasketches";
    options.bits = bits;
    options.hashes = hashes;
    options.seed = seed;
    petal_filter *filter;
    petal_error error;
    expect_status(petal_create(&options, &filter, &error), PETAL_OK, &error);
    return filter;
}

/* Returns a file header with this preamble, flags, number of hashes and number of longs, without
 * bits. */
static struct bytes header(uint8_t preamble, uint8_t flags, uint16_t hashes, uint32_t longs)
{
    struct bytes bytes = zeros(24);
    memcpy(bytes.data, (uint8_t[]){preamble, 1, 21, flags, (uint8_t)hashes, (uint8_t)(hashes >> 8)},
           6);
    for (int i = 0; i < 4; i++) bytes.data[16 + i] = (uint8_t)(longs >> 8 * i);
    return bytes;
}

/* Checks that the bytes are unchanged after a round trip through a petal file. */
static void expect_round_trip(struct bytes bytes)
{
    petal_filter *filter = loaded(bytes, "datasketches");
    struct bytes petal = written(filter, "petal");
    petal_filter *through = loaded(petal, "petal");
    struct bytes back = written(through, "datasketches");
    expect_same(back, bytes);
    petal_free(filter);
    petal_free(through);
    free(petal.data);
    free(back.data);
}

/* Returns the count of set bits that is stored in the file when the filter is written. */
static int64_t written_count(const petal_filter *filter)
{
    struct bytes bytes = written(filter, "datasketches");
    int64_t count = 0;
    require_that(bytes.size, >, 24);
    for (int i = 7; i >= 0; i--) count = (int64_t)((uint64_t)count << 8 | bytes.data[24 + i]);
    free(bytes.data);
    return count;
}

/* ---- keys and sizes -------------------------------------------------------------------------- */

static void ten_thousand_numbers_make_the_bits_of_the_original(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    options.format = "datasketches";
    options.capacity = 10000;
    options.rate = 0.01;
    options.seed = 9001;
    petal_filter *filter;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    for (int64_t i = 0; i < 10000; i++) require_that(petal_add_i64(filter, i), >=, 0);
    struct bytes made = written(filter, "datasketches");
    struct bytes real = vector(FOLDER "i64_0to9999_n10000_p0.01_seed9001_dirty.sk");
    expect_same(made, real);
    petal_free(filter);
    free(made.data);
    free(real.data);
}

static void sizes_are_those_of_the_cpp_library(void **state)
{
    (void)state;
    expect_sizes("datasketches", FOLDER "sizing.txt", 93);
}

static void what_the_original_does_not_make_is_not_planned(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    options.format = "datasketches";
    options.rate = 0.01;
    assert_int_equal(petal_create(&options, &filter, &error), PETAL_ERR_ARGUMENT);
    options.capacity = 448079000; /* a million more keys would need more than 2^32 bits */
    assert_int_equal(petal_plan(&options, &PETAL_INFO_INIT, NULL, &error), PETAL_OK);
    options.capacity += 1000000;
    assert_int_equal(petal_create(&options, &filter, &error), PETAL_ERR_LIMIT);
    options.capacity = 10;
    options.rate = 5e-324; /* 1,075 hashes */
    assert_int_equal(petal_create(&options, &filter, &error), PETAL_ERR_ARGUMENT);
    options.capacity = 0;
    options.rate = 0;
    options.bits = UINT64_C(1) << 32;
    options.hashes = 3;
    assert_int_equal(petal_create(&options, &filter, &error), PETAL_ERR_LIMIT);
    assert_non_null(strstr(error.message, "Java and in C++ disagree"));
    options.bits = UINT64_MAX;
    assert_int_equal(petal_create(&options, &filter, &error), PETAL_ERR_LIMIT);
}

static void the_empty_key_is_refused_and_never_in(void **state)
{
    petal_filter *filter = sized(64, 1, 0);
    petal_key keys[] = {{"a", 1}, {NULL, 0}, {"b", 1}};
    uint8_t found[3];
    size_t new_count = 9;
    (void)state;
    for (int i = 0; i < 1000; i++) petal_add_i64(filter, i);
    assert_true(stats_of(filter).saturated); /* contains every key except the empty one */
    assert_int_equal(petal_add(filter, NULL, 0), PETAL_ERR_UNSUPPORTED);
    assert_false(petal_contains(filter, "", 0));
    assert_int_equal(contains_keys(filter, keys, 3, found), 2);
    assert_memory_equal(found, ((uint8_t[]){1, 0, 1}), 3);
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
    uint8_t was_new[3] = {9, 9, 9};
    assert_int_equal(add_key_batch(filter, keys, 3, was_new, &new_count), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(new_count, 0); /* a batch is added either completely or not at all */
    assert_memory_equal(was_new, ((uint8_t[]){0, 0, 0}), 3);
    assert_int_equal(stats_of(filter).bits_set, 0);
    assert_int_equal(info_of(filter).items, 0);
    petal_free(filter);
}

/* Tests a filter that is large enough to be built region by region, and a filter that is too small
 * for regions. */
static void a_builder_takes_no_batch_with_an_empty_key_and_goes_on_with_others(void **state)
{
    static const uint64_t bits[] = {(uint64_t)1 << 27, 1 << 16};
    petal_key keys[] = {{"a", 1}, {NULL, 0}, {"b", 1}};
    petal_builder *builder;
    petal_error error;
    uint32_t workers;
    (void)state;
    for (int i = 0; i < 2; i++) {
        petal_filter *filter = sized(bits[i], 3, 0);
        workers = 2;
        expect_status(petal_builder_create(filter, &workers, &builder, &error), PETAL_OK, &error);
        assert_int_equal(build_batch(builder, 0, batch_of_keys(keys, 3)), PETAL_ERR_UNSUPPORTED);
        assert_int_equal(build_batch(builder, workers - 1, batch_of_keys(&keys[2], 1)), PETAL_OK);
        expect_status(petal_builder_finish(builder, &error), PETAL_ERR_UNSUPPORTED, &error);
        assert_false(petal_contains(filter, "a", 1));
        assert_true(petal_contains(filter, "b", 1));
        assert_int_equal(info_of(filter).items, 1);
        petal_free(filter);
    }
}

/* ---- empty filters, and the count of bits ---------------------------------------------------- */

static void an_empty_filter_has_24_bytes_and_can_be_mapped_and_filled(void **state)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    struct bytes bytes = header(3, 4, 3, 1000);
    (void)state;
    options.format = "datasketches";
    expect_status(petal_view(bytes.data, bytes.size, &options, &filter, &error), PETAL_OK, &error);
    assert_int_equal(info_of(filter).bits, 64000);
    assert_int_equal(stats_of(filter).bits_set, 0);
    assert_false(petal_contains(filter, "a", 1));
    assert_int_equal(petal_add(filter, "a", 1), PETAL_ERR_READ_ONLY);
    petal_free(filter);
    filter = loaded(bytes, "datasketches");
    assert_int_equal(petal_add(filter, "a", 1), PETAL_OK);
    assert_true(petal_contains(filter, "a", 1));
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
    struct bytes back = written(filter, "datasketches");
    expect_same(back, bytes);
    petal_free(filter);
    free(back.data);
    free(bytes.data);
}

/* A 24-byte file can declare a filter of half a gigabyte. Opening it must not touch the filter's
 * pages, but the memory limit applies to their size. */
static void the_largest_empty_filter_opens_and_is_held_to_the_limit_of_the_caller(void **state)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    struct bytes bytes = header(3, 4, 3, (1u << 26) - 1);
    (void)state;
    options.format = "datasketches";
    options.memory_limit = 1 << 20;
    assert_int_equal(petal_load(bytes.data, bytes.size, &options, &filter, &error),
                     PETAL_ERR_LIMIT);
    assert_non_null(strstr(error.message, "--memory-limit"));
    options.memory_limit = 0;
    expect_status(petal_view(bytes.data, bytes.size, &options, &filter, &error), PETAL_OK, &error);
    assert_false(petal_contains(filter, "a", 1));
    petal_free(filter);
    free(bytes.data);
}

/* Tests the forms that Java and C++ write: with a correct count, without a count, and with a wrong
 * count. Also tests filters that C++ stores in the caller's memory; their bits are written even if
 * the filter is empty. */
static void every_form_comes_back_as_it_was(void **state)
{
    struct bytes forms[] = {header(3, 4, 3, 2), header(4, 4, 3, 2), zeros(48), zeros(48)};
    (void)state;
    for (int i = 2; i < 4; i++) {
        struct bytes head = header(4, 0, 3, 2);
        memcpy(forms[i].data, head.data, 24);
        free(head.data);
    }
    memset(forms[3].data + 24, 0xff, 8); /* marks the count as unknown, although no bits are set */
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        expect_round_trip(forms[i]);
        free(forms[i].data);
    }
}

static void a_count_is_believed_by_nobody_and_put_right(void **state)
{
    struct bytes clean = vector(FOLDER "str_hello_m128_k3_seed42_clean.sk");
    (void)state;
    clean.data[24] =
        0; /* C++ leaves the count 0 for filters in the caller's memory, so it sees them as empty */
    petal_filter *filter = loaded(clean, "datasketches");
    assert_true(petal_contains(filter, "hello", 5));
    assert_int_equal(stats_of(filter).bits_set, 3);
    assert_int_equal(written_count(filter), 3);
    petal_free(filter);
    free(clean.data);
}

static void what_is_added_leaves_the_bits_uncounted(void **state)
{
    struct bytes clean = vector(FOLDER "str_hello_m128_k3_seed42_clean.sk");
    petal_filter *filter = loaded(clean, "datasketches"), *other = loaded(clean, "datasketches");
    (void)state;
    assert_int_equal(written_count(filter), 3);
    assert_int_equal(petal_merge(filter, other, NULL), PETAL_OK);
    assert_int_equal(written_count(filter), 3);
    assert_int_equal(petal_add(filter, "hello", 5), PETAL_SEEN);
    assert_int_equal(written_count(filter), -1);
    petal_free(filter);
    petal_free(other);
    free(clean.data);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void every_field_of_the_header_is_checked(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        petal_status status;
        const char *words;
    } damages[] = {
        {0, 0x15010102, PETAL_ERR_NOT_A_FILTER, "not a Bloom filter of DataSketches"},
        {0, 0x00150105, PETAL_ERR_NOT_A_FILTER, "not a Bloom filter of DataSketches"},
        {0, 0x00150204, PETAL_ERR_NOT_A_FILTER, "not a Bloom filter of DataSketches"},
        {0, 0x00160104, PETAL_ERR_NOT_A_FILTER, "not a Bloom filter of DataSketches"},
        {0, 0x01150104, PETAL_ERR_DAMAGED, "byte 3 (unknown flags"},
        {0, 0x05150104, PETAL_ERR_DAMAGED, "byte 3 (unknown flags"},
        {0, 0x00150103, PETAL_ERR_DAMAGED,
         "byte 0 (3 longs before the bits, which only empty filters have"},
        {0, 0x04150104, PETAL_ERR_DAMAGED, "byte 24 (bytes after the end"},
        {4, 0, PETAL_ERR_DAMAGED, "byte 4 (a filter has at least 1 hash"},
        {4, 1025, PETAL_ERR_LIMIT, "1025 hashes"},
        {4, 0xffff, PETAL_ERR_LIMIT, "65535 hashes"},
        {4, 0x00010003, PETAL_ERR_DAMAGED, "byte 6 (unused bytes"},
        {16, 0, PETAL_ERR_DAMAGED, "byte 16 (an impossible number of longs"},
        {16, 1, PETAL_ERR_DAMAGED, "byte 40 (bytes after the end"},
        {16, 3, PETAL_ERR_TRUNCATED, "truncated"},
        {16, INT32_MAX, PETAL_ERR_TRUNCATED, "truncated"},
        {16, UINT32_MAX, PETAL_ERR_DAMAGED, "byte 16 (an impossible number of longs"},
        {20, 1, PETAL_ERR_DAMAGED, "byte 20 (unused bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct bytes bytes = vector(FOLDER "str_hello_m128_k3_seed42_dirty.sk");
        for (int j = 0; j < 4; j++)
            bytes.data[damages[i].at + (size_t)j] = (uint8_t)(damages[i].value >> 8 * j);
        expect_refused(bytes, "datasketches", damages[i].status, damages[i].words);
        free(bytes.data);
    }
}

static void from_2_to_the_32_bits_on_it_is_refused_with_the_reason(void **state)
{
    struct bytes bytes = header(3, 4, 3, 1u << 26);
    (void)state;
    expect_refused(bytes, "datasketches", PETAL_ERR_LIMIT, "Java and in C++ disagree");
    free(bytes.data);
}

static void its_header_is_recognized_for_certain(void **state)
{
    struct bytes bytes = vector(FOLDER "str_hello_m128_k3_seed42_dirty.sk");
    const char *name = NULL;
    (void)state;
    assert_int_equal(petal_recognize(bytes.data, bytes.size, &name, 1), 1);
    petal_free(loaded(bytes, "auto"));
    bytes.data[0] ^= 0xff;
    expect_refused(bytes, "auto", PETAL_ERR_NOT_A_FILTER, "not a filter of a known format");
    assert_string_equal(name, "datasketches");
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_numbers_make_the_bits_of_the_original),
        cmocka_unit_test(sizes_are_those_of_the_cpp_library),
        cmocka_unit_test(what_the_original_does_not_make_is_not_planned),
        cmocka_unit_test(the_empty_key_is_refused_and_never_in),
        cmocka_unit_test(a_builder_takes_no_batch_with_an_empty_key_and_goes_on_with_others),
        cmocka_unit_test(an_empty_filter_has_24_bytes_and_can_be_mapped_and_filled),
        cmocka_unit_test(the_largest_empty_filter_opens_and_is_held_to_the_limit_of_the_caller),
        cmocka_unit_test(every_form_comes_back_as_it_was),
        cmocka_unit_test(a_count_is_believed_by_nobody_and_put_right),
        cmocka_unit_test(what_is_added_leaves_the_bits_uncounted),
        cmocka_unit_test(every_field_of_the_header_is_checked),
        cmocka_unit_test(from_2_to_the_32_bits_on_it_is_refused_with_the_reason),
        cmocka_unit_test(its_header_is_recognized_for_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

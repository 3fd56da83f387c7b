/* rocksdb.c - tests properties of RocksDB's filters that the common vectors don't cover. Checksums
 * and false positives must equal those in RocksDB's own tests, sizes must follow from RocksDB's
 * bits per key, RocksDB's other kinds of filters must be refused with a message that names the
 * kind, and the rate model must be right. */
#include "support.h"

static petal_filter *of_lines(uint64_t lines, uint32_t hashes)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.format = "rocksdb";
    options.bits = lines * 512;
    options.hashes = hashes;
    expect_status(petal_create(&options, &filter, &error), PETAL_OK, &error);
    return filter;
}

/* Creates the same filter as RocksDB from the 4-byte integers first .. last. `millibits` is 1000
 * times the number of bits per key. */
static petal_filter *of_integers(uint32_t millibits, uint32_t hashes, int32_t first, int32_t last)
{
    uint64_t keys = (uint64_t)last - (uint64_t)first + 1;
    petal_filter *filter = of_lines((keys * millibits + 511999) / 512000, hashes);
    for (int32_t i = first; i <= last; i++) {
        uint8_t key[4];
        petal_encode_i32(i, key);
        petal_add(filter, key, sizeof key);
    }
    return filter;
}

/* RocksDB's tests identify a file by this 32-bit hash. If one byte remains at the end, as in all
 * files in this test, the hash function sign-extends this byte. */
static uint32_t file_hash(struct bytes file)
{
    uint32_t h = 0xbc9f1d34u ^ (uint32_t)file.size * 0xc6a4a793u;
    size_t at = 0;
    assert_int_equal(file.size % 4, 1);
    for (; at + 4 <= file.size; at += 4) {
        uint32_t word = (uint32_t)file.data[at] | (uint32_t)file.data[at + 1] << 8 |
                        (uint32_t)file.data[at + 2] << 16 | (uint32_t)file.data[at + 3] << 24;
        h = (h + word) * 0xc6a4a793u;
        h ^= h >> 16;
    }
    h = (h + (uint32_t)(int32_t)(int8_t)file.data[at]) * 0xc6a4a793u;
    return h ^ h >> 24;
}

/* Queries 1000000, 1000001 and so on. `wanted` lists the first numbers that must pass, minus
 * 1000000, and ends with -1. */
static void expect_false_positives(const petal_filter *filter, const int *wanted)
{
    for (int i = 0; *wanted >= 0; i++) {
        uint8_t key[4];
        petal_encode_i32(1000000 + i, key);
        if (petal_contains(filter, key, sizeof key)) assert_int_equal(i, *wanted++);
    }
}

/* Repeats the test "Schema" from RocksDB's bloom_test.cc. */
static void rocksdbs_own_checksums_and_false_positives_come_out(void **state)
{
    static const struct {
        uint32_t millibits, hashes;
        int32_t first, last;
        uint32_t hash;
        int false_positives[11];
    } rows[] = {
        {5000, 3, 0, 86, 4130687756u, {31, 38, 40, 43, 61, 83, 86, 112, 125, 131, -1}},
        {2000, 1, 0, 2086, 3817481309u, {11, 13, 17, 25, 29, 30, 35, 37, 45, 53, -1}},
        {3000, 2, 0, 2086, 2807269961u, {4, 15, 17, 24, 27, 28, 29, 53, 63, 70, -1}},
        {5000, 3, 0, 2086, 204628445u, {15, 24, 29, 39, 53, 87, 89, 100, 103, 104, -1}},
        {8000, 5, 0, 2086, 355564975u, {16, 60, 66, 126, 220, 238, 244, 256, 265, 287, -1}},
        {9000, 6, 0, 2086, 2137566013u, {156, 367, 791, 872, 945, 1015, 1139, 1159, 1265, -1}},
        {11000, 7, 0, 2086, 2561502687u, {34, 74, 130, 236, 643, 882, 962, 1015, 1035, 1110, -1}},
        {14000, 8, 0, 2086, 3709876890u, {130, 240, 522, 565, 989, 2002, 2526, 3147, 3543, -1}},
        {16000, 9, 0, 2086, 1087138490u, {3299, 3611, 3916, 6620, 7822, 8079, 8482, 8942, -1}},
        {10000, 6, 0, 2086, 2498541272u, {16, 126, 133, 422, 466, 472, 813, 1002, 1035, -1}},
        {10000, 6, 1, 2086, 2058382345u, {16, 126, 133, 422, 466, 472, 813, 1002, 1035, -1}},
        {10000, 6, 1, 2087, 23699164u, {16, 126, 133, 422, 466, 472, 813, 1002, 1035, -1}},
        {9500, 6, 1, 2087, 3166884174u, {126, 156, 367, 444, 458, 791, 813, 976, 1015, -1}},
        {10499, 7, 1, 2087, 4098502778u, {16, 236, 240, 472, 1015, 1045, 1111, 1409, 1465, -1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        petal_filter *filter =
            of_integers(rows[i].millibits, rows[i].hashes, rows[i].first, rows[i].last);
        struct bytes file = written(filter, "rocksdb");
        assert_int_equal(file_hash(file), rows[i].hash);
        expect_false_positives(filter, rows[i].false_positives);
        free(file.data);
        petal_free(filter);
    }
}

static void the_hash_is_the_preview_of_xxh3_and_not_xxh3(void **state)
{
    (void)state;
    petal_filter *filter = of_lines(1, 6);
    require_that(petal_hash_key(filter, "", 0), ==, 0x5342c3010fe1dd04u);
    require_that(petal_hash_key(filter, "hello", 5), ==, 0xa0bbc238c97657b5u);
    petal_free(filter);
}

static void a_rate_becomes_whole_bits_per_key_and_rocksdbs_hashes(void **state)
{
    static const struct {
        uint64_t keys;
        double rate;
        uint64_t lines;
        uint32_t hashes;
    } cases[] = {
        {512000, 0.01, 10000, 6},  /* 10 bits per key */
        {512000, 0.4, 2000, 1},    /* 2 bits per key */
        {512000, 0.001, 16000, 9}, /* 16 bits per key */
        {512000, 1e-5, 30000, 13}, /* 30 bits per key */
        {512000, 1e-8, 66000, 24}, /* 66 bits per key */
        {512001, 0.01, 10001, 6},  /* rounded up to whole lines */
        {1, 0.01, 1, 6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_info plan = plan_of("rocksdb", cases[i].keys, cases[i].rate);
        assert_int_equal(plan.bits, cases[i].lines * 512);
        assert_int_equal(plan.hashes, cases[i].hashes);
    }
}

static void what_rocksdb_cannot_make_is_refused(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    (void)state;
    options.format = "rocksdb";
    options.capacity = 1000;
    options.rate = 1e-9;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_UNREACHABLE, &error);
    options.rate = 0.01;
    options.capacity = (uint64_t)1 << 33;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_ARGUMENT, &error);
    options.capacity = UINT64_MAX;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_LIMIT, &error);
    options = PETAL_OPTIONS_INIT;
    options.format = "rocksdb";
    options.bits = 512;
    options.hashes = 31;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_ARGUMENT, &error);
}

static void other_filters_are_refused_and_named(void **state)
{
    static const struct {
        size_t array_bytes;
        uint8_t trailer[5];
        petal_status status;
        const char *why;
    } cases[] = {
        {64, {0xff, 0, 6, 0, 0}, PETAL_OK, ""},
        {64, {0xff, 0, 30, 0, 0}, PETAL_OK, ""},
        {64, {0xff, 0, 0, 0, 0}, PETAL_ERR_DAMAGED, "byte 66 "},
        {64, {0xff, 0, 31, 0, 0}, PETAL_ERR_UNSUPPORTED, "later kind"},
        {64, {0xff, 1, 6, 0, 0}, PETAL_ERR_UNSUPPORTED, "later kind"},
        {64, {0xff, 0, 0x26, 0, 0}, PETAL_ERR_UNSUPPORTED, "later kind"}, /* 128-byte lines */
        {64, {0xff, 0, 6, 1, 0}, PETAL_ERR_UNSUPPORTED, "later kind"},
        {64, {0xff, 0, 6, 0, 0x80}, PETAL_ERR_UNSUPPORTED, "later kind"},
        {63, {0xff, 0, 6, 0, 0}, PETAL_ERR_DAMAGED, "whole lines"},
        {65, {0xff, 0, 6, 0, 0}, PETAL_ERR_DAMAGED, "whole lines"},
        {0, {0xff, 0, 6, 0, 0}, PETAL_ERR_UNSUPPORTED, "0 keys"},
        {128, {0xfe, 7, 2, 0, 0}, PETAL_ERR_UNSUPPORTED, "Ribbon"},
        {64, {6, 1, 0, 0, 0}, PETAL_ERR_UNSUPPORTED, "before format_version 5"},
        {256,
         {6, 1, 0, 0, 0},
         PETAL_ERR_UNSUPPORTED,
         "before format_version 5"}, /* a single line of 256 bytes */
        {64, {6, 0, 0, 0, 0}, PETAL_ERR_NOT_A_FILTER, "last 5 bytes"},
        {64, {6, 3, 0, 0, 0}, PETAL_ERR_NOT_A_FILTER, "last 5 bytes"},
        {64, {0, 1, 0, 0, 0}, PETAL_ERR_NOT_A_FILTER, "last 5 bytes"},
        {64, {0x80, 1, 0, 0, 0}, PETAL_ERR_NOT_A_FILTER, "last 5 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[300] = {0};
        struct bytes file = {bytes, cases[i].array_bytes + 5};
        memcpy(bytes + cases[i].array_bytes, cases[i].trailer, 5);
        if (cases[i].status == PETAL_OK)
            petal_free(loaded(file, "rocksdb"));
        else
            expect_refused(file, "rocksdb", cases[i].status, cases[i].why);
    }
}

static void anything_shorter_than_a_trailer_is_truncated(void **state)
{
    uint8_t bytes[4] = {0xff, 0, 6, 0};
    (void)state;
    for (size_t size = 0; size < 5; size++)
        expect_refused((struct bytes){bytes, size}, "rocksdb", PETAL_ERR_TRUNCATED, "truncated");
}

/* The filter contains 100,000 keys at 10 bits per key. One side of the estimate's interval is 1.96
 * standard deviations wide, and the test allows 5. Given the bits, the number of absent keys that
 * pass is binomially distributed with variance n p (1 - p), and the test again allows 5 standard
 * deviations. */
static void estimates_and_rates_are_those_of_the_model(void **state)
{
    const double keys = 100000, questions = 1000000;
    double passed = 0;
    (void)state;
    petal_filter *filter = of_lines(1954, 6);
    for (int64_t i = 0; i < 100000; i++) petal_add_i64(filter, i);
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    double deviation =
        (info_stats.estimated_items.high - info_stats.estimated_items.low) / (2 * 1.96);
    require_that(info_stats.estimated_items.value, >, keys - 5 * deviation);
    require_that(info_stats.estimated_items.value, <, keys + 5 * deviation);
    for (int64_t i = 0; i < 1000000; i++) passed += petal_contains_i64(filter, 1000000 + i);
    double expected = questions * info_stats.estimated_rate, distance = passed - expected;
    require_that(distance * distance, <, 25 * expected);
    double predicted = petal_predict_rate(&info, 100000);
    require_that(info_stats.estimated_rate, >, predicted * 0.98);
    require_that(info_stats.estimated_rate, <, predicted * 1.02);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocksdbs_own_checksums_and_false_positives_come_out),
        cmocka_unit_test(the_hash_is_the_preview_of_xxh3_and_not_xxh3),
        cmocka_unit_test(a_rate_becomes_whole_bits_per_key_and_rocksdbs_hashes),
        cmocka_unit_test(what_rocksdb_cannot_make_is_refused),
        cmocka_unit_test(other_filters_are_refused_and_named),
        cmocka_unit_test(anything_shorter_than_a_trailer_is_truncated),
        cmocka_unit_test(estimates_and_rates_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

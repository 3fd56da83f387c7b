/* guava.c - tests properties of Guava's filters that the common vectors don't cover. The large
 * cases from Guava's own tests must give exactly the same false positives as in Guava, and the
 * sizes must equal Guava's. A file that neither Guava nor its ports can have written must be
 * refused with a message that names the field. */
#include "../require.h"
#include "../save_as.h"
#include <petal/petal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static petal_filter *make(const char *format, uint64_t keys, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.format = format;
    options.capacity = keys;
    options.rate = rate;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    return filter;
}

/* Writes a number in decimal digits, as UTF-8 or UTF-16LE. */
static size_t decimal(int number, bool utf16, char *key)
{
    char digits[16];
    size_t size = (size_t)snprintf(digits, sizeof digits, "%d", number);
    for (size_t i = 0; i < size; i++) {
        key[utf16 ? 2 * i : i] = digits[i];
        if (utf16) key[2 * i + 1] = 0;
    }
    return utf16 ? 2 * size : size;
}

/* Adds the even numbers below two million, and counts the odd numbers that pass. `first` lists the
 * odd numbers below 900 that must pass, and ends with 0. */
static void count_false_positives(const char *format, bool utf16, long expected, const int *first)
{
    petal_filter *filter = make(format, 1000000, 0.03);
    char key[32];
    long count = 0;
    for (int i = 0; i < 2000000; i += 2) petal_add(filter, key, decimal(i, utf16, key));
    for (int i = 1; i < 2000000; i += 2) {
        if (!petal_contains(filter, key, decimal(i, utf16, key))) continue;
        if (i < 900 && first) assert_int_equal(i, *first++);
        count++;
    }
    if (first) assert_int_equal(*first, 0);
    assert_int_equal(count, expected);
    petal_free(filter);
}

static void a_million_utf16_keys_give_guavas_29824_false_positives_under_mitz32(void **state)
{
    static const int first[] = {49,  51,  59,  163, 199, 321, 325, 363, 367,
                                469, 545, 561, 727, 769, 773, 781, 0};
    (void)state;
    count_false_positives("guava32", true, 29824, first);
}

static void a_million_utf16_keys_give_guavas_30104_false_positives_under_mitz64(void **state)
{
    (void)state;
    count_false_positives("guava", true, 30104, NULL);
}

static void a_million_utf8_keys_give_guavas_29763_false_positives_under_mitz64(void **state)
{
    static const int first[] = {89, 129, 471, 723, 751, 835, 871, 0};
    (void)state;
    count_false_positives("guava", false, 29763, first);
}

static void sizes_are_those_of_guavas_table(void **state)
{
    FILE *table = fopen("vectors/guava/sizing.txt", "r");
    char line[256];
    int rows = 0;
    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        unsigned long long keys, bits;
        double rate;
        unsigned hashes;
        if (sscanf(line, "%llu %lf %llu %u", &keys, &rate, &bits, &hashes) != 4) continue;
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info plan = PETAL_INFO_INIT;
        options.format = "guava";
        options.capacity = keys;
        options.rate = rate;
        petal_status status = petal_plan(&options, &plan, NULL, NULL);
        if (bits == 0) {
            assert_int_equal(status, PETAL_ERR_ARGUMENT);
        } else {
            assert_int_equal(status, PETAL_OK);
            assert_int_equal(plan.bits, (bits + 63) / 64 * 64);
            assert_int_equal(plan.hashes, hashes);
        }
        rows++;
    }
    fclose(table);
    require_that(rows, >=, 120);
}

static petal_status open_file(const char *path, const char *format, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    options.format = format;
    petal_status status = petal_open(path, &options, &filter, error);
    petal_free(filter);
    return status;
}

static void a_go_file_that_lost_its_zero_words_is_refused_and_the_cause_is_named(void **state)
{
    petal_error error;
    (void)state;
    static const char *const paths[] = {"vectors/oldpanda/go_sparse_n1000_1key_mitz64_BUGGY.bin",
                                        "vectors/oldpanda/go_empty_n1000_mitz64_BUGGY.bin"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_file(paths[i], "guava", &error), PETAL_ERR_TRUNCATED);
        assert_non_null(strstr(error.message, "OldPanda"));
    }
}

static void a_serialized_java_object_is_refused_as_what_it_is(void **state)
{
    static const uint8_t stream[] = {0xac, 0xed, 0x00, 0x05, 's', 'r', 0, 0, 0, 0, 0, 0, 0, 0};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    options.format = "guava";
    assert_int_equal(petal_view(stream, sizeof stream, &options, &filter, &error),
                     PETAL_ERR_NOT_A_FILTER);
    assert_non_null(strstr(error.message, "Java"));
}

static void the_other_strategy_is_refused_and_its_format_named(void **state)
{
    petal_error error;
    (void)state;
    assert_int_equal(open_file("vectors/guava/utf8_n1_p0.01_mitz32.bin", "guava", &error),
                     PETAL_ERR_NOT_A_FILTER);
    assert_non_null(strstr(error.message, "guava32"));
    require_that(error.offset, ==, 0);
}

static void every_field_of_the_header_is_checked(void **state)
{
    static const struct {
        uint8_t header[6]; /* strategy, hashes, longs */
        petal_status status;
        const char *why;
        uint64_t offset;
    } cases[] = {
        {{2, 7, 0, 0, 0, 1}, PETAL_ERR_DAMAGED, "strategy", 0},
        {{0, 7, 0, 0, 0, 1}, PETAL_ERR_NOT_A_FILTER, "MITZ_32", 0},
        {{1, 0, 0, 0, 0, 1}, PETAL_ERR_DAMAGED, "at least 1 hash", 1},
        {{1, 7, 0, 0, 0, 0}, PETAL_ERR_DAMAGED, "number of longs", 2},
        {{1, 7, 0x80, 0, 0, 0}, PETAL_ERR_DAMAGED, "number of longs", 2},
        {{1, 7, 0, 0, 0, 2}, PETAL_ERR_TRUNCATED, "promises 22 bytes", 14},
        {{1, 7, 0, 0, 0, 1}, PETAL_OK, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t file[14] = {0};
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        petal_filter *filter = NULL;
        petal_error error = {0};
        memcpy(file, cases[i].header, sizeof cases[i].header);
        options.format = "guava";
        require_status(cases[i].status, petal_load(file, sizeof file, &options, &filter, &error),
                       error);
        require(strstr(error.message, cases[i].why), "case %zu: %s", i, error.message);
        require_that(error.offset, ==, cases[i].offset);
        petal_free(filter);
    }
}

/* Returns the number of bytes of this process's resident memory that are not backed by a file, or 0
 * if the system doesn't report it. */
static uint64_t private_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %llu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

static void
a_filter_above_2_to_the_32_bits_is_written_sparse_and_queried_through_a_map(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    char path[512], key[32];
    const char *folder = getenv("TMPDIR");
    (void)state;
    snprintf(path, sizeof path, "%s/big.guava", folder ? folder : "/tmp");
    options.format = opening.format = "guava";
    options.bits = ((uint64_t)1 << 33) + 64;
    options.hashes = 5;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    for (int i = 0; i < 40; i++) petal_add(filter, key, decimal(i, false, key));
    assert_int_equal(petal_save(filter, path, SAVE_AS("guava"), NULL), PETAL_OK);
    petal_free(filter);
    uint64_t before = private_bytes();
    assert_int_equal(petal_open(path, &opening, &filter, NULL), PETAL_OK);
    for (int i = 0; i < 40; i++) assert_true(petal_contains(filter, key, decimal(i, false, key)));
    long passed = 0;
    for (int i = 40; i < 100000; i++) passed += petal_contains(filter, key, decimal(i, false, key));
    /* Only 200 of 2^33 bits are set, so the probability of a false positive is 6e-39. */
    assert_int_equal(passed, 0);
    require_that(private_bytes(), <, before + ((uint64_t)4 << 20));
    petal_free(filter);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_utf16_keys_give_guavas_29824_false_positives_under_mitz32),
        cmocka_unit_test(a_million_utf16_keys_give_guavas_30104_false_positives_under_mitz64),
        cmocka_unit_test(a_million_utf8_keys_give_guavas_29763_false_positives_under_mitz64),
        cmocka_unit_test(sizes_are_those_of_guavas_table),
        cmocka_unit_test(a_go_file_that_lost_its_zero_words_is_refused_and_the_cause_is_named),
        cmocka_unit_test(a_serialized_java_object_is_refused_as_what_it_is),
        cmocka_unit_test(the_other_strategy_is_refused_and_its_format_named),
        cmocka_unit_test(every_field_of_the_header_is_checked),
        cmocka_unit_test(
            a_filter_above_2_to_the_32_bits_is_written_sparse_and_queried_through_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

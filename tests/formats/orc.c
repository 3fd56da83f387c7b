/* orc.c - tests properties of ORC's filters that the common vectors don't cover. The older form
 * must contain the same filter as the newer form in a different encoding. Bytes that no protobuf
 * writer can have written must be refused. Hashes and sizes must equal ORC's. Byte keys must never
 * be mistaken for longs. */
#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include <petal/petal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "vectors/orc/"

struct bytes {
    uint8_t data[4096];
    size_t size;
};

static struct bytes load(const char *name)
{
    struct bytes bytes;
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    bytes.size = fread(bytes.data, 1, sizeof bytes.data, file);
    fclose(file);
    return bytes;
}

static struct bytes of_hex(const char *hex)
{
    struct bytes bytes = {.size = strlen(hex) / 2};
    for (size_t i = 0; i < bytes.size; i++) sscanf(hex + 2 * i, "%2hhx", &bytes.data[i]);
    return bytes;
}

/* Opens a copy of the data in a memory block of exactly its size, so that a sanitizer detects reads
 * past the end. */
static petal_status view(const uint8_t *data, size_t size, const char *format,
                         petal_filter **filter, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    if (size) memcpy(exact, data, size);
    options.format = format;
    petal_status status = petal_view(exact, size, &options, filter, error);
    free(exact); /* the bits were copied, so the input is no longer needed */
    return status;
}

static petal_filter *open_file(const char *name, const char *format)
{
    struct bytes bytes = load(name);
    petal_filter *filter;
    petal_error error;
    if (view(bytes.data, bytes.size, format, &filter, &error) != PETAL_OK)
        fail_msg("%s: %s", name, error.message);
    return filter;
}

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

static void expect_bytes(const petal_filter *filter, const char *format, const struct bytes *wanted)
{
    uint8_t bytes[4096];
    assert_int_equal(petal_serialized_bytes(filter, SAVE_AS(format)), wanted->size);
    assert_int_equal(petal_serialize(filter, SAVE_AS(format), bytes, sizeof bytes, NULL), PETAL_OK);
    assert_memory_equal(bytes, wanted->data, wanted->size);
}

/* ---- the older form -------------------------------------------------------------------------- */

static const struct {
    const char *format, *older, *newer;
} pairs[] = {
    {"orc", "older_n200_p0.05_overfilled.bin", "newer_n200_p0.05_overfilled.bin"},
    {"orc-long", "older_long_n200_p0.05.bin", "newer_long_n200_p0.05.bin"},
};

static void both_forms_of_the_same_keys_hold_the_same_filter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        petal_filter *older = open_file(pairs[i].older, pairs[i].format),
                     *newer = open_file(pairs[i].newer, pairs[i].format);
        require_that(content_of(older), ==, content_of(newer));
        petal_free(older);
        petal_free(newer);
    }
}

static void the_older_form_is_written_back_directly_and_through_a_petal_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        static uint8_t image[65536];
        struct bytes bytes = load(pairs[i].older);
        petal_filter *filter = open_file(pairs[i].older, pairs[i].format), *back;
        expect_bytes(filter, pairs[i].format, &bytes);
        assert_int_equal(petal_serialize(filter, NULL, image, sizeof image, NULL), PETAL_OK);
        assert_int_equal(
            petal_load(image, (size_t)petal_serialized_bytes(filter, NULL), NULL, &back, NULL),
            PETAL_OK);
        expect_bytes(back, pairs[i].format, &bytes);
        petal_free(back);
        petal_free(filter);
    }
}

/* A file in the older form that is cut off after a whole word is a valid smaller filter, so the
 * truncation can't be detected. A file that is cut off anywhere else must be refused. */
static void the_older_form_is_refused_when_cut_off_within_a_word(void **state)
{
    struct bytes bytes = load(pairs[0].older);
    petal_filter *filter;
    petal_error error;
    (void)state;
    for (size_t size = 0; size < bytes.size; size++) {
        bool whole_words = size > 2 && (size - 2) % 9 == 0;
        petal_status status = view(bytes.data, size, "orc", &filter, &error);
        assert_int_equal(status == PETAL_OK, whole_words);
        petal_free(filter);
    }
}

static void changed_bytes_of_the_older_form_do_no_harm(void **state)
{
    static const uint8_t values[] = {0, 1, 0x11, 0x7f, 0x80, 0xff};
    struct bytes bytes = load(pairs[0].older);
    (void)state;
    for (size_t at = 0; at < bytes.size; at++) {
        uint8_t old = bytes.data[at];
        for (size_t i = 0; i < sizeof values; i++) {
            petal_filter *filter;
            petal_error error = {0};
            bytes.data[at] = values[i];
            if (view(bytes.data, bytes.size, "orc", &filter, &error) == PETAL_OK)
                expect_bytes(filter, "orc", &bytes);
            else
                require_that(strlen(error.message), >, 0);
            petal_free(filter);
        }
        bytes.data[at] = old;
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void what_protobuf_does_not_write_is_refused_and_the_byte_is_named(void **state)
{
    static const struct {
        const char *bytes;
        petal_status status;
        uint64_t offset;
    } cases[] = {
        {"", PETAL_ERR_TRUNCATED, 0},
        {"08", PETAL_ERR_TRUNCATED, 1},
        {"0807", PETAL_ERR_TRUNCATED, 2},
        {"08001a080000000000000000", PETAL_ERR_DAMAGED, 1},         /* k = 0 */
        {"0881081a080000000000000000", PETAL_ERR_DAMAGED, 1},       /* k = 1025 */
        {"08ffffffff0f1a080000000000000000", PETAL_ERR_DAMAGED, 1}, /* k = 2^32 - 1 */
        {"08ffffffff1f1a080000000000000000", PETAL_ERR_DAMAGED, 1}, /* k has more than 32 bits */
        {"08ffffffffffffffffff011a08", PETAL_ERR_DAMAGED, 1},       /* k = -1 as an int64 */
        {"0887001a080000000000000000", PETAL_ERR_DAMAGED, 1},       /* 7 encoded in two bytes */
        {"08071a00", PETAL_ERR_DAMAGED, 3},                         /* no bits */
        {"08071a0700000000000000", PETAL_ERR_DAMAGED, 3}, /* not a whole number of words */
        {"08071a0900000000000000000000", PETAL_ERR_DAMAGED, 3},
        {"08071a0800000000000000", PETAL_ERR_TRUNCATED, 11},
        {"08071a08000000000000000000", PETAL_ERR_DAMAGED, 12}, /* the input is one byte too long */
        {"08071a0800000000000000001a080000000000000000", PETAL_ERR_DAMAGED,
         12}, /* the bits appear twice */
        /* The length is 2^31 - 8 bytes, which means more bits than ORC supports. */
        {"08071af8ffffff07", PETAL_ERR_DAMAGED, 3},
        {"08071af8ffffff0f", PETAL_ERR_DAMAGED, 3},
        {"08071af8ffff7f", PETAL_ERR_TRUNCATED, 7}, /* claims 256 MiB */
        /* The words are in packed encoding, which no writer uses. */
        {"080712080000000000000000", PETAL_ERR_DAMAGED, 2},
        {"0807110000000000000000190000000000000000", PETAL_ERR_DAMAGED, 11},
        {"08071100000000000000001a080000000000000000", PETAL_ERR_DAMAGED, 11}, /* both forms */
        {"0807080711", PETAL_ERR_DAMAGED, 2},
        {"1a0800000000000000000807", PETAL_ERR_NOT_A_FILTER, 0},     /* out of order */
        {"0a0c08071a080000000000000000", PETAL_ERR_NOT_A_FILTER, 0}, /* a list of one filter */
        /* These bytes are the start of an ORC file. */
        {"4f5243", PETAL_ERR_NOT_A_FILTER, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = of_hex(cases[i].bytes);
        petal_filter *filter;
        petal_error error = {0};
        petal_status status = view(bytes.data, bytes.size, "orc", &filter, &error);
        if (status != cases[i].status || error.offset != cases[i].offset)
            fail_msg("%s: %s at %llu (%s)", cases[i].bytes, petal_status_name(status),
                     (unsigned long long)error.offset, error.message);
    }
}

static void an_index_and_a_whole_file_are_named_as_such(void **state)
{
    struct bytes entry = of_hex("0a0c08071a080000000000000000"),
                 file = of_hex("4f52430a0612040833");
    petal_filter *filter;
    petal_error error;
    (void)state;
    assert_int_equal(view(entry.data, entry.size, "orc", &filter, &error), PETAL_ERR_NOT_A_FILTER);
    assert_non_null(strstr(error.message, "BloomFilterIndex"));
    assert_int_equal(view(file.data, file.size, "orc-long", &filter, &error),
                     PETAL_ERR_NOT_A_FILTER);
    assert_non_null(strstr(error.message, "ORC file"));
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static void hashes_are_those_of_orcs_own_tests(void **state)
{
    petal_filter *bytes = make("orc", 10, 0.05), *longs = make("orc-long", 10, 0.05);
    uint8_t wide[8], narrow[4];
    (void)state;
    petal_encode_i64(-1, wide);
    petal_encode_i32(-1, narrow);
    require_that(petal_hash_key(longs, wide, 8), ==, 6614246905173314819u);
    require_that(petal_hash_key(longs, narrow, 4), ==,
                 6614246905173314819u); /* ORC hashes the values of int columns as longs */
    petal_encode_i64(790302201, wide);
    petal_encode_i32(790302201, narrow);
    require_that(petal_hash_key(longs, wide, 8), ==, 1499534499340523007u);
    require_that(petal_hash_key(longs, narrow, 4), ==, 1499534499340523007u);
    require_that(petal_hash_key(bytes, "hello", 5), ==,
                 0x3928100018224141u); /* orc-core 2.1.1, Murmur3.hash64 */
    require_that(petal_hash_key(bytes, NULL, 0), ==, 0x74a18dc8f20adb48u);
    petal_free(bytes);
    petal_free(longs);
}

/* ORC assigns null its own hash. Petal has no null key, so null is added and queried by its
 * hash. */
static void null_is_asked_for_by_its_hash(void **state)
{
    petal_filter *filter = make("orc", 1000, 0.05);
    const uint64_t null = 2862933555777941757u;
    (void)state;
    petal_add(filter, "", 0);
    assert_false(petal_contains_hash(filter, null));
    petal_add_hash(filter, null);
    assert_true(petal_contains_hash(filter, null));
    petal_free(filter);
}

static void bytes_and_longs_are_not_taken_for_each_other(void **state)
{
    petal_filter *bytes = make("orc", 100, 0.05), *longs = make("orc-long", 100, 0.05);
    petal_error error;
    uint8_t out[4096];
    const char *names[8];
    (void)state;
    assert_int_equal(petal_merge(bytes, longs, &error), PETAL_ERR_MISMATCH);
    assert_int_equal(petal_serialize(bytes, SAVE_AS("orc-long"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "hashed by wang-orc"));
    assert_int_equal(petal_serialize(longs, SAVE_AS("orc"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    struct bytes file = load("newer_n1_p0.01_hello.bin");
    size_t count = petal_recognize(file.data, file.size, names, 8), orc = 0;
    for (size_t i = 0; i < count; i++) orc += strncmp(names[i], "orc", 3) == 0;
    /* The bytes don't record which of the two formats was used, so either both formats match or
     * neither does. */
    assert_int_equal(orc, 2);
    petal_free(bytes);
    petal_free(longs);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static petal_status plan(uint64_t keys, double rate, petal_info *info)
{
    petal_options options = PETAL_OPTIONS_INIT;
    *info = PETAL_INFO_INIT;
    options.format = "orc";
    options.capacity = keys;
    options.rate = rate;
    return petal_plan(&options, info, NULL, NULL);
}

static void sizes_are_those_of_orcs_table(void **state)
{
    FILE *table = fopen(FOLDER "sizing.txt", "r");
    char line[128];
    int rows = 0;
    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        unsigned long long keys, bits;
        unsigned hashes;
        double rate;
        petal_info info;
        if (sscanf(line, "%llu %lf %llu %u", &keys, &rate, &bits, &hashes) != 4) continue;
        rows++;
        assert_int_equal(plan(keys, rate, &info),
                         keys ? PETAL_OK : PETAL_ERR_ARGUMENT); /* 0 means "not given" */
        if (keys == 0) continue;
        if (info.bits != bits || info.hashes != hashes)
            fail_msg("%s: %llu bits, %u hashes", line, (unsigned long long)info.bits, info.hashes);
    }
    fclose(table);
    require_that(rows, >=, 170);
}

static petal_status plan_bits(uint64_t bits, uint32_t hashes, petal_info *info)
{
    petal_options options = PETAL_OPTIONS_INIT;
    *info = PETAL_INFO_INIT;
    options.format = "orc-long";
    options.bits = bits;
    options.hashes = hashes;
    return petal_plan(&options, info, NULL, NULL);
}

static void given_bits_are_rounded_up_to_words(void **state)
{
    petal_info info;
    (void)state;
    assert_int_equal(plan_bits(65, 3, &info), PETAL_OK);
    assert_int_equal(info.bits, 128);
    assert_int_equal(plan_bits(((uint64_t)1 << 31) - 64, 1024, &info), PETAL_OK);
    assert_int_equal(plan_bits(((uint64_t)1 << 31) - 63, 3, &info), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_bits(UINT64_MAX, 3, &info), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_bits(64, 1025, &info), PETAL_ERR_ARGUMENT);
}

static void sizes_beyond_orcs_are_refused(void **state)
{
    petal_info info;
    (void)state;
    assert_int_equal(plan(200000000, 0.01, &info), PETAL_OK);
    assert_int_equal(plan(230000000, 0.01, &info),
                     PETAL_ERR_LIMIT); /* 2.2e9 bits would overflow Java's int */
    assert_int_equal(plan(UINT64_MAX, 1e-9, &info), PETAL_ERR_LIMIT);
    assert_int_equal(plan(1, 5e-324, &info), PETAL_ERR_LIMIT); /* 1,109 hashes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_of_the_same_keys_hold_the_same_filter),
        cmocka_unit_test(the_older_form_is_written_back_directly_and_through_a_petal_file),
        cmocka_unit_test(the_older_form_is_refused_when_cut_off_within_a_word),
        cmocka_unit_test(changed_bytes_of_the_older_form_do_no_harm),
        cmocka_unit_test(what_protobuf_does_not_write_is_refused_and_the_byte_is_named),
        cmocka_unit_test(an_index_and_a_whole_file_are_named_as_such),
        cmocka_unit_test(hashes_are_those_of_orcs_own_tests),
        cmocka_unit_test(null_is_asked_for_by_its_hash),
        cmocka_unit_test(bytes_and_longs_are_not_taken_for_each_other),
        cmocka_unit_test(sizes_are_those_of_orcs_table),
        cmocka_unit_test(given_bits_are_rounded_up_to_words),
        cmocka_unit_test(sizes_beyond_orcs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

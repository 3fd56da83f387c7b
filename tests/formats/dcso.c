/* dcso.c - tests properties of DCSO's files that the common vectors don't cover. Keys must be
 * counted as in DCSO, attached data must become metadata, a gzip file must contain the same filter
 * as the plain file, and no memory may be allocated for a file that lies about its size. */
#include "support.h"

#include <math.h>

enum {
    AT_FLAGS = 0,
    AT_CAPACITY = 8,
    AT_RATE = 16,
    AT_HASHES = 24,
    AT_BITS = 32,
    AT_ITEMS = 40,
    HEADER_BYTES = 48
};

static void sizes_are_those_of_dcso(void **state)
{
    (void)state;
    expect_sizes("dcso", "dcso/sizing.txt", 150);
}

/* Both DCSO implementations test these positions of "bar" in a filter for 100,000 keys at 1 %. */
static void the_published_fingerprint_is_ours(void **state)
{
    static const unsigned positions[] = {20311, 36825, 412501, 835777, 658914, 853361, 307361};
    (void)state;
    petal_filter *filter = planned("dcso", 100000, 0.01);
    assert_int_equal(petal_add(filter, "bar", 3), PETAL_OK);
    assert_int_equal(stats_of(filter).bits_set, 7);
    struct bytes file = written(filter, "dcso");
    for (int i = 0; i < 7; i++)
        assert_true(file.data[HEADER_BYTES + positions[i] / 8] >> positions[i] % 8 & 1);
    free(file.data);
    petal_free(filter);
}

static void only_keys_that_change_a_bit_are_counted(void **state)
{
    (void)state;
    petal_filter *filter = planned("dcso", 10, 0.01);
    petal_key keys[] = {{"a", 1}, {"b", 1}, {"a", 1}};
    assert_int_equal(petal_add(filter, "a", 1), PETAL_OK);
    assert_int_equal(petal_add(filter, "a", 1), PETAL_SEEN);
    assert_int_equal(add_key_batch(filter, keys, 3, NULL, NULL), PETAL_OK);
    assert_int_equal(info_of(filter).items, 2);
    petal_free(filter);
}

static void attached_data_is_metadata_in_both_directions(void **state)
{
    static const char text[] = "meta data\nline2\n";
    size_t size;
    (void)state;
    petal_filter *filter = loaded_vector("dcso/n1_p0.01.bloom", "dcso");
    const void *data = petal_metadata(filter, &size);
    assert_int_equal(size, sizeof text - 1);
    assert_memory_equal(data, text, size);
    assert_int_equal(petal_set_metadata(filter, "other", 5, NULL), PETAL_OK);
    struct bytes file = written(filter, "dcso");
    assert_int_equal(file.size, HEADER_BYTES + 8 + 5);
    assert_memory_equal(file.data + HEADER_BYTES + 8, "other", 5);
    free(file.data);
    petal_free(filter);
}

static void attached_data_above_the_limit_of_metadata_is_refused(void **state)
{
    (void)state;
    struct bytes file = vector("dcso/n100_p0.01.bloom");
    size_t size = file.size;
    file.size = size + PETAL_METADATA_MAX_BYTES;
    memset(file.data + size, 'x', PETAL_METADATA_MAX_BYTES + 1);
    petal_free(loaded(file, "dcso"));
    file.size++;
    expect_refused(file, "dcso", PETAL_ERR_LIMIT, "attached data");
    free(file.data);
}

static void flags_that_mean_nothing_yet_are_kept(void **state)
{
    (void)state;
    struct bytes file = vector("dcso/n100_p0.01.bloom");
    for (int i = 1; i < 8; i++) file.data[i] = (uint8_t)(0xf0 + i);
    petal_filter *filter = loaded(file, "dcso");
    struct bytes petal = written(filter, "petal");
    petal_filter *carried = loaded(petal, "petal");
    struct bytes back = written(carried, "dcso");
    expect_same(back, file);
    petal_free(filter);
    petal_free(carried);
    free(petal.data);
    free(back.data);
    free(file.data);
}

/* Upstream's broken.bloom has k = 2^63. Each file in this test has one field with an impossible
 * value. */
static void impossible_header_fields_are_refused_by_name(void **state)
{
    static const struct {
        uint64_t at, value;
        petal_status status;
        const char *why;
    } cases[] = {
        {AT_FLAGS, 0, PETAL_ERR_NOT_A_FILTER, "version 0"},
        {AT_FLAGS, 2, PETAL_ERR_NOT_A_FILTER, "version 2"},
        {AT_FLAGS, 0x1f, PETAL_ERR_NOT_A_FILTER, "neither"},
        {AT_CAPACITY, 0, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_RATE, 0, PETAL_ERR_DAMAGED, "byte 16 "},
        {AT_RATE, 0x3ff0000000000000, PETAL_ERR_DAMAGED, "byte 16 "}, /* 1 */
        {AT_RATE, 0x7ff8000000000000, PETAL_ERR_DAMAGED, "byte 16 "}, /* NaN */
        {AT_RATE, 0xbf847ae147ae147b, PETAL_ERR_DAMAGED, "byte 16 "}, /* -0.01 */
        {AT_HASHES, 0, PETAL_ERR_DAMAGED, "byte 24 "},
        {AT_HASHES, (uint64_t)1 << 63, PETAL_ERR_DAMAGED, "byte 24 "},
        {AT_HASHES, ((uint64_t)1 << 32) + 7, PETAL_ERR_DAMAGED, "byte 24 "},
        {AT_BITS, 0, PETAL_ERR_DAMAGED, "byte 32 "},
        {AT_BITS, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 32 "},
        {AT_BITS, UINT64_MAX - 62, PETAL_ERR_DAMAGED, "byte 32 "},
        {AT_BITS, (uint64_t)1 << 48, PETAL_ERR_TRUNCATED, "promises 35184372088880 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = vector("dcso/n100_p0.01.bloom");
        for (int byte = 0; byte < 8; byte++)
            file.data[cases[i].at + byte] = (uint8_t)(cases[i].value >> 8 * byte);
        uint64_t at = expect_refused(file, "dcso", cases[i].status, cases[i].why);
        if (cases[i].status != PETAL_ERR_TRUNCATED) require_that(at, ==, cases[i].at);
        free(file.data);
    }
}

static void a_bit_beyond_the_last_is_refused(void **state)
{
    (void)state;
    struct bytes file = vector("dcso/n100_p0.01.bloom");
    file.data[HEADER_BYTES + 958 / 8] |= (uint8_t)(1 << 958 % 8);
    require_that(expect_refused(file, "dcso", PETAL_ERR_DAMAGED, "bits set beyond the last"), ==,
                 HEADER_BYTES + 958 / 64 * 8);
    free(file.data);
}

/* The number of classes is the largest power of two that divides the number of bits. The test
 * searches for a capacity that gives 1024 classes, and for a capacity that gives more. */
static void the_rate_of_more_than_1024_classes_is_not_known(void **state)
{
    bool had_most = false, had_more = false;
    (void)state;
    for (uint64_t keys = 1000; !had_most || !had_more; keys++) {
        uint64_t bits = plan_of("dcso", keys, 0.01).bits;
        if (bits % 1024 != 0 || (bits % 2048 != 0 ? had_most : had_more)) continue;
        petal_filter *filter = planned("dcso", keys, 0.01);
        for (int64_t key = 0; key < 1000; key++) petal_add_i64(filter, key);
        double rate = stats_of(filter).estimated_rate;
        require((bool)isnan(rate) == (bits % 2048 == 0), "%llu bits: %g", (unsigned long long)bits,
                rate);
        *(bits % 2048 == 0 ? &had_more : &had_most) = true;
        petal_free(filter);
    }
}

/* ---- gzip ------------------------------------------------------------------------------------ */

static void a_packed_file_stays_packed_and_dcso_writes_it_plain(void **state)
{
    (void)state;
    petal_filter *filter = loaded_vector("dcso/n100_p0.01.bloom.gz", "dcso");
    assert_string_equal(info_of(filter).format_name, "dcso-gzip");
    struct bytes plain = vector("dcso/n100_p0.01.bloom"), unpacked = written(filter, "dcso");
    expect_same(unpacked, plain);
    struct bytes packed = written(filter, "dcso-gzip"), again = written(filter, "dcso-gzip");
    expect_same(packed, again);
    assert_int_equal(packed.data[0], 0x1f);
    for (int i = 4; i < 8; i++) assert_int_equal(packed.data[i], 0); /* no timestamp */
    petal_free(filter);
    free(plain.data);
    free(unpacked.data);
    free(packed.data);
    free(again.data);
}

static const char *file_format_of(const petal_filter *filter)
{
    return file_info_of(filter).format_name;
}

static void a_filter_names_the_format_of_the_file_that_it_was_opened_from(void **state)
{
    (void)state;
    petal_filter *packed = loaded_vector("dcso/n100_p0.01.bloom.gz", "dcso"), *copy = NULL,
                 *plain = loaded_vector("dcso/n100_p0.01.bloom", "dcso"), *kept = NULL;
    petal_error error;
    assert_string_equal(file_format_of(packed), "dcso-gzip");
    assert_string_equal(file_format_of(plain), "dcso");
    struct bytes petal_file = written(packed, "petal");
    expect_status(petal_load(petal_file.data, petal_file.size, NULL, &kept, &error), PETAL_OK,
                  &error);
    assert_string_equal(file_format_of(kept), "petal");
    assert_string_equal(info_of(kept).format_name, "dcso-gzip");
    expect_status(petal_clone(kept, &copy, &error), PETAL_OK, &error);
    assert_null(file_format_of(copy));
    petal_free(packed);
    petal_free(plain);
    petal_free(kept);
    petal_free(copy);
    free(petal_file.data);
}

static void a_name_of_the_other_form_is_refused(void **state)
{
    (void)state;
    struct bytes plain = vector("dcso/n100_p0.01.bloom");
    expect_refused(plain, "dcso-gzip", PETAL_ERR_NOT_A_FILTER, "its format is dcso");
    free(plain.data);
}

static void a_packed_file_is_refused_wherever_it_is_cut_and_with_bytes_behind(void **state)
{
    (void)state;
    struct bytes file = vector("dcso/data_n10_p0.01.bloom.gz");
    size_t whole = file.size;
    for (file.size = 2; file.size < whole; file.size++)
        expect_refused(file, "dcso", PETAL_ERR_TRUNCATED, "truncated");
    file.data[whole] = 0;
    file.size = whole + 1;
    expect_refused(file, "dcso", PETAL_ERR_DAMAGED, "bytes after the end");
    file.size = whole;
    file.data[whole - 8] ^= 1; /* changes a byte of the checksum */
    expect_refused(file, "dcso", PETAL_ERR_DAMAGED, "gzip");
    free(file.data);
}

/* In `bomb`, the header declares 8 bytes of bits, but 16 MiB of zeros follow. In `promise`, the
 * header declares 2^48 bits, but nothing follows. In `twice`, the file is compressed twice. None of
 * the three files may use more memory than zlib itself requires. */
static void packed_lies_get_no_memory(void **state)
{
    static const struct {
        const char *name;
        petal_status status;
    } lies[] = {{"dcso/reject/bomb.gz", PETAL_ERR_DAMAGED},
                {"dcso/reject/promise.gz", PETAL_ERR_TRUNCATED},
                {"dcso/reject/twice.gz", PETAL_ERR_NOT_A_FILTER}};
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct counting count = {0};
        petal_filter *filter = NULL;
        petal_error error;
        struct bytes file = vector(lies[i].name);
        expect_status(load_counted(file, "dcso", &count, &filter, &error), lies[i].status, &error);
        require_that(count.peak_bytes, <, 65536);
        assert_int_equal(count.held_bytes, 0);
        free(file.data);
    }
}

/* gzip expands data by at most a factor of 1032. If the header declares the largest size that this
 * compressed file could contain, the file passes the size check and is refused because its checksum
 * is 0. If the header declares one more word, the file is refused as truncated. */
static void a_promise_is_refused_from_the_first_byte_that_gzip_cannot_hold(void **state)
{
    enum { FRAME = 10 + 5, STORED = HEADER_BYTES + 64, SIZE = FRAME + STORED + 8 };
    static const uint8_t frame[FRAME] = {0x1f, 0x8b,          8,   0, 0, 0, 0, 0, 0, 3, 1, STORED,
                                         0,    0xff ^ STORED, 0xff};
    const uint64_t most = (uint64_t)(SIZE + 1) * 1032 / 8 * 8 - 8; /* whole words */
    (void)state;
    for (int beyond = 0; beyond <= 1; beyond++) {
        struct bytes plain = vector("dcso/n100_p0.01.bloom");
        struct bytes file = {calloc(1, SIZE), SIZE};
        uint64_t bits = 8 * (most + 8 * (uint64_t)beyond - HEADER_BYTES);
        memcpy(file.data, frame, FRAME);
        memcpy(file.data + FRAME, plain.data, HEADER_BYTES);
        for (int byte = 0; byte < 8; byte++)
            file.data[FRAME + AT_BITS + byte] = (uint8_t)(bits >> 8 * byte);
        if (beyond)
            expect_refused(file, "dcso", PETAL_ERR_TRUNCATED, "promises");
        else
            expect_refused(file, "dcso", PETAL_ERR_DAMAGED, "gzip");
        free(plain.data);
        free(file.data);
    }
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct bytes file = vector("dcso/data_n10_p0.01.bloom.gz");
    expect_harmless_without_memory(file, "dcso");
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_dcso),
        cmocka_unit_test(the_published_fingerprint_is_ours),
        cmocka_unit_test(only_keys_that_change_a_bit_are_counted),
        cmocka_unit_test(attached_data_is_metadata_in_both_directions),
        cmocka_unit_test(attached_data_above_the_limit_of_metadata_is_refused),
        cmocka_unit_test(flags_that_mean_nothing_yet_are_kept),
        cmocka_unit_test(impossible_header_fields_are_refused_by_name),
        cmocka_unit_test(a_bit_beyond_the_last_is_refused),
        cmocka_unit_test(the_rate_of_more_than_1024_classes_is_not_known),
        cmocka_unit_test(a_packed_file_stays_packed_and_dcso_writes_it_plain),
        cmocka_unit_test(a_filter_names_the_format_of_the_file_that_it_was_opened_from),
        cmocka_unit_test(a_name_of_the_other_form_is_refused),
        cmocka_unit_test(a_packed_file_is_refused_wherever_it_is_cut_and_with_bytes_behind),
        cmocka_unit_test(packed_lies_get_no_memory),
        cmocka_unit_test(a_promise_is_refused_from_the_first_byte_that_gzip_cannot_hold),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

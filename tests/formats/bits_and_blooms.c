/* bits-and-blooms' files: what the common vectors cannot say of them. Sizes are the package's own, positions those it published, and
 * impossible headers are refused by name. */
#include "support.h"

enum { AT_BITS = 0, AT_HASHES = 8, AT_LENGTH = 16, HEADER_BYTES = 24 };

static void put(struct bytes file, int at, uint64_t value)
{
    for (int i = 0; i < 8; i++) file.data[at + i] = (uint8_t)(value >> (56 - 8 * i));
}

static void sizes_are_those_of_the_package(void **state)
{
    (void)state;
    expect_sizes("bits-and-blooms", "bits-and-blooms/sizing.txt", 190);
}

/* What the package's Locations() gives, before it takes them mod m. The last key fills a block of the hash with its 0x01. */
static void positions_are_those_of_locations(void **state)
{
    static const struct {
        const char *key;
        uint64_t locations[6];
        uint32_t hashes;
    } cases[] = {
        {"hello",
         {14688674573012802306u, 13376297196575953845u, 9862836706629027898u, 9645822788820425343u,
          12646398142986098570u, 3724621463808405029u},
         6},
        {"", {0, 8613248517421295493u, 17226497034842590986u, 8100592207030843970u}, 4},
        {"0123456789abcde",
         {11974462240020439889u, 13251138349096082877u, 8529514348063868139u, 1533015916051162209u},
         4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *filter;
        petal_error error;
        options.format = "bits-and-blooms";
        options.bits = 100003;
        options.hashes = cases[i].hashes;
        expect_status(petal_create(&options, &filter, &error), PETAL_OK, &error);
        petal_add(filter, cases[i].key, strlen(cases[i].key));
        assert_int_equal(info_of(filter).bits_set, options.hashes);
        struct bytes file = written(filter, "bits-and-blooms");
        for (uint32_t k = 0; k < options.hashes; k++) {
            uint64_t bit = cases[i].locations[k] % options.bits;
            assert_true(file.data[HEADER_BYTES + bit / 64 * 8 + 7 - bit % 64 / 8] >> bit % 8 & 1);
        }
        free(file.data);
        petal_free(filter);
    }
}

static void impossible_header_fields_are_refused_by_name(void **state)
{
    static const struct {
        int at;
        uint64_t value;
        petal_status status;
        const char *why;
    } cases[] = {
        {AT_BITS, 0, PETAL_ERR_DAMAGED, "byte 0 "},
        {AT_BITS, 960, PETAL_ERR_DAMAGED, "shorter"},
        {AT_BITS, 64, PETAL_ERR_DAMAGED, "longer"},
        {AT_BITS, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 0 "},
        {AT_HASHES, 0, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_HASHES, 1025, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_HASHES, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_LENGTH, 0, PETAL_ERR_DAMAGED, "byte 16 "},
        {AT_LENGTH, 958, PETAL_ERR_DAMAGED, "shorter"},
        {AT_LENGTH, 961, PETAL_ERR_DAMAGED, "longer"},
        {AT_LENGTH, UINT64_MAX, PETAL_ERR_DAMAGED, "longer"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
        put(file, cases[i].at, cases[i].value);
        expect_refused(file, "bits-and-blooms", cases[i].status, cases[i].why);
        free(file.data);
    }
}

static void a_promise_of_2_to_48_bits_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
    put(file, AT_BITS, (uint64_t)1 << 48);
    put(file, AT_LENGTH, (uint64_t)1 << 48);
    struct counting count = {0};
    petal_filter *filter;
    petal_error error;
    expect_status(load_counted(file, "bits-and-blooms", &count, &filter, &error), PETAL_ERR_TRUNCATED, &error);
    assert_int_equal(count.calls, 0);
    free(file.data);
}

static void a_bit_beyond_the_last_is_refused(void **state)
{
    (void)state;
    struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
    file.data[HEADER_BYTES + 959 / 64 * 8] |= 0x80; /* bit 959 of 0 .. 958 */
    expect_refused(file, "bits-and-blooms", PETAL_ERR_DAMAGED, "bits set beyond the last");
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_package),
        cmocka_unit_test(positions_are_those_of_locations),
        cmocka_unit_test(impossible_header_fields_are_refused_by_name),
        cmocka_unit_test(a_promise_of_2_to_48_bits_is_refused_before_memory_is_taken),
        cmocka_unit_test(a_bit_beyond_the_last_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

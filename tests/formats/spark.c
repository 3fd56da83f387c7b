/* spark.c - proves that a header that Spark would never write is refused with the offset of the
 * wrong byte, and that version 2 files keep the seed. (tests/formats/vectors.c checks bits and
 * answers.) */
#include "support.h"

static void every_field_of_the_header_is_checked(void **state)
{
    static const struct {
        size_t at;
        uint32_t value; /* stored big-endian */
        petal_status status;
        const char *why;
        uint64_t offset;
    } cases[] = {
        {0, 0, PETAL_ERR_NOT_A_FILTER, "version", 0},
        {0, 3, PETAL_ERR_NOT_A_FILTER, "version", 0},
        {4, 0, PETAL_ERR_DAMAGED, "number of hashes", 4},
        {4, UINT32_MAX, PETAL_ERR_DAMAGED, "number of hashes", 4},
        {12, 0, PETAL_ERR_DAMAGED, "number of longs", 12},
        {12, UINT32_MAX, PETAL_ERR_DAMAGED, "number of longs", 12},
        {12, INT32_MAX, PETAL_ERR_TRUNCATED, "promises 17179869192 bytes", 24},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = vector("spark/hello_n1_p0.01_v2.bin");
        for (size_t j = 0; j < 4; j++)
            file.data[cases[i].at + j] = (uint8_t)(cases[i].value >> (24 - 8 * j));
        uint64_t offset = expect_refused(file, "spark", cases[i].status, cases[i].why);
        require_that(offset, ==, cases[i].offset);
        free(file.data);
    }
}

static void version_2_records_the_seed_and_version_1_takes_none(void **state)
{
    static const struct {
        const char *format;
        uint64_t seed;
        petal_status status;
        uint8_t header[12]; /* version, number of hashes, and seed or number of longs */
    } cases[] = {
        {"spark", 0x01020304, PETAL_OK, {0, 0, 0, 2, 0, 0, 0, 5, 1, 2, 3, 4}},
        {"spark-v1", 0, PETAL_OK, {0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2}},
        {"spark-v1", 0x01020304, PETAL_ERR_ARGUMENT, {0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *filter;
        petal_error error;
        options.format = cases[i].format;
        options.bits = 128;
        options.hashes = 5;
        options.seed = cases[i].seed;
        expect_status(petal_create(&options, &filter, &error), cases[i].status, &error);
        if (cases[i].status != PETAL_OK) continue;
        require_that(info_of(filter).seed, ==, cases[i].seed);
        struct bytes file = written(filter, cases[i].format);
        assert_memory_equal(file.data, cases[i].header, sizeof cases[i].header);
        free(file.data);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_the_header_is_checked),
        cmocka_unit_test(version_2_records_the_seed_and_version_1_takes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

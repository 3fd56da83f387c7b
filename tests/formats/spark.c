/* spark.c - proves that a header that Spark doesn't write is refused, with the offset of the wrong
 * byte. (tests/formats/vectors.c checks bits and answers.) */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_the_header_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

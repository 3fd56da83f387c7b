/* cmocka.h - implements the parts of cmocka that tests/formats/vectors.c uses, for platforms
 * without cmocka. */
#ifndef PETAL_TEST_CMOCKA_H
#define PETAL_TEST_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define print_message printf
#define print_error printf
#define fail() exit(1)
#define fail_msg(...) (printf(__VA_ARGS__), putchar('\n'), exit(1))
#define assert_true(holds) ((holds) ? (void)0 : fail_msg("%s:%d: %s", __FILE__, __LINE__, #holds))
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define cmocka_unit_test(test) \
    { \
#test, test \
    }
#define cmocka_run_group_tests(tests, setup, teardown) \
    run_tests(tests, sizeof(tests) / sizeof *(tests))

static inline int run_tests(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) tests[i].run(NULL);
    return 0;
}

#endif

/* cmocka.h - the few words of cmocka that tests/formats/vectors.c uses, for platforms without
 * it. */
#ifndef PETAL_TEST_CMOCKA_H
#define PETAL_TEST_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define fail_msg(...) (printf(__VA_ARGS__), putchar('\n'), exit(1))
#define require_that(holds) ((holds) ? (void)0 : fail_msg("%s:%d: %s", __FILE__, __LINE__, #holds))
#define assert_true(holds) require_that(holds)
#define assert_non_null(pointer) require_that((pointer) != NULL)
#define assert_int_equal(a, b) require_that((a) == (b))
#define print_message printf
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

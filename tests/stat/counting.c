/* counting.c - proves that a counting filter misses no key, counts exactly, and refuses to remove
 * absent keys, at its planned load and far above it. The test makes 10^7 random steps and compares
 * the filter with an exact multiset. */
#include "../unit/multiset.h"

static void ten_million_steps_at_the_planned_load_miss_no_key_and_leave_no_trace(void **state)
{
    (void)state;
    petal_options options = options_of(PETAL_SCHEME_COUNTING, 0, 0, 0);
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    options.capacity = 100000;
    options.rate = 0.01;
    require_status(PETAL_OK, petal_plan(&options, &plan, NULL, &error), error);
    struct workload work = {plan.bits, plan.hashes, 200000, 1, 100000, 10000000, 61};
    struct multiset set = run_multiset(&work);
    require_no_trace(&set);
    set_free(&set);
}

static void ten_million_steps_with_counters_that_stick_miss_no_key(void **state)
{
    (void)state;
    struct workload work = {40000, 4, 30000, 12, 60000, 10000000, 62};
    struct multiset set = run_multiset(&work);
    require_that(stats_of(set.filter).saturated_counters, >, 1000);
    set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_million_steps_at_the_planned_load_miss_no_key_and_leave_no_trace),
        cmocka_unit_test(ten_million_steps_with_counters_that_stick_miss_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

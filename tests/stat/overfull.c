/* overfull.c - proves that a filter with exactly the planned number of keys is never reported as
 * overfull, and that a filter with 25 % more keys always is.
 *
 * The number of set bits at capacity is random. If the bound were the end of a 95 % interval, one
 * in 40 full filters would be reported as overfull. The actual bound is 5 standard deviations,
 * which one filter in 3.5 million exceeds if the estimate is normally distributed. With few keys,
 * the estimate is not normally distributed, so capacities from 1 to 64 keys are tested with several
 * seeds. */
#include "statistics.h"

static const double rates[] = {0.99, 0.9, 0.5, 0.1, 0.01, 0.001, 1e-5};

struct tried {
    petal_info plan;
    uint64_t filters;
    double max_sd; /* largest estimate minus capacity, in standard deviations */
};

static bool plan_for(uint32_t scheme, double rate, uint64_t keys, petal_info *plan)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = scheme;
    options.rate = rate;
    options.capacity = keys;
    *plan = PETAL_INFO_INIT;
    return petal_plan(&options, plan, NULL, NULL) == PETAL_OK;
}

/* Creates the planned filter, adds `keys` keys, and returns its statistics. */
static petal_stats filled(const petal_info *plan, uint64_t keys, uint64_t seed)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = plan->scheme;
    options.bits = plan->bits;
    options.hashes = plan->hashes;
    options.lines_per_key = plan->lines_per_key;
    options.capacity = plan->capacity;
    options.seed = seed;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, keys);
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    require_that(info.bits, ==, plan->bits);
    assert_true((info_stats.overfull || !petal_is_overfull(filter)));
    petal_free(filter);
    return info_stats;
}

static void try_seeds(struct tried *tried, uint64_t seeds)
{
    for (uint64_t seed = 0; seed < seeds; seed++, tried->filters++) {
        petal_stats stats = filled(&tried->plan, tried->plan.capacity, seed);
        double sd = (stats.estimated_items.value - stats.estimated_items.low) / 1.96;
        double above = isfinite(sd) && sd > 0
                           ? (stats.estimated_items.value - (double)tried->plan.capacity) / sd
                           : 0;
        require(!stats.overfull, "%s, %llu keys at %g, seed %llu: %g to %g",
                tried->plan.scheme_name, (unsigned long long)tried->plan.capacity,
                tried->plan.target_rate, (unsigned long long)seed, stats.estimated_items.low,
                stats.estimated_items.high);
        if (above > tried->max_sd) tried->max_sd = above;
    }
}

static void a_filter_that_holds_just_its_capacity_is_never_overfull(void **state)
{
    (void)state;
    for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_COUNTING; scheme++)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            struct tried tried = {.filters = 0};
            for (uint64_t keys = 1; keys <= 64; keys++)
                if (plan_for((uint32_t)scheme, rates[i], keys, &tried.plan)) try_seeds(&tried, 10);
            for (uint64_t keys = 70; keys < 100000; keys += keys / 4)
                if (plan_for((uint32_t)scheme, rates[i], keys, &tried.plan)) try_seeds(&tried, 2);
            printf("# %s, rate %g: %llu filters, at most %.1f sd above\n", tried.plan.scheme_name,
                   rates[i], (unsigned long long)tried.filters, tried.max_sd);
            require_that(tried.filters, >, 600);
        }
}

/* Tests rates up to 50 %. A filter planned for a higher rate is nearly full at its capacity, so its
 * bits reveal too little about the number of keys. */
static void a_quarter_more_keys_make_a_filter_overfull(void **state)
{
    (void)state;
    for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_COUNTING; scheme++)
        for (size_t i = 2; i < sizeof rates / sizeof *rates; i++)
            for (uint64_t keys = 1000; keys < 200000; keys += keys / 3) {
                petal_info plan;
                assert_true(plan_for((uint32_t)scheme, rates[i], keys, &plan));
                for (uint64_t seed = 0; seed < 3; seed++) {
                    petal_stats stats = filled(&plan, keys + keys / 4, seed);
                    require(stats.overfull, "%s, %llu keys at %g: %g to %g", plan.scheme_name,
                            (unsigned long long)keys, rates[i], stats.estimated_items.low,
                            stats.estimated_items.high);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_that_holds_just_its_capacity_is_never_overfull),
        cmocka_unit_test(a_quarter_more_keys_make_a_filter_overfull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

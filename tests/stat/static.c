/* static.c - proves that static filters have the rates that they report, and are as small as
 * promised.
 *
 *  1. The rate given the codes. Among N absent keys, the number of hits is binomially distributed
 *     with the exact rate p that follows from the codes (petal_stats.estimated_rate). |z| < 5 fails
 *     by chance with probability 6e-7. Each seed gives a different set of keys.
 *  2. The promise: p must be at most the requested rate.
 *  3. The size, which must be as stated in docs/compare.md for at least 10^6 keys. With this many
 *     keys, the number of bumped keys has a standard deviation of a few hundredths of a percent of
 *     its mean, which changes the size by less than 1e-4. */
#include "../amount.h"
#include "statistics.h"

#include "petal/petal_build.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BATCH 4096
#define ABSENT ((int64_t)1 << 40)

static petal_filter *build(uint64_t keys, double rate, uint64_t seed)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_filter *filter;
    petal_error error;
    int64_t numbers[BATCH];
    options.rate = rate;
    options.seed = seed;
    require_status(PETAL_OK, petal_static_create(&options, 1, &builder, &error), error);
    for (uint64_t from = 0, count; from < keys; from += count) {
        count = keys - from < BATCH ? keys - from : BATCH;
        for (uint64_t i = 0; i < count; i++) numbers[i] = (int64_t)(from + i);
        petal_batch batch = batch_of_numbers(numbers, (size_t)count);
        require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    }
    require_status(PETAL_OK, petal_static_finish(builder, NULL, NULL, &filter, &error), error);
    return filter;
}

static uint64_t hits_of(const petal_filter *filter, uint64_t queries)
{
    int64_t numbers[BATCH];
    uint64_t hits = 0;
    petal_error error;
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    for (uint64_t from = 0; from < queries; from += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) numbers[i] = ABSENT + (int64_t)(from + i);
        petal_batch batch = batch_of_numbers(numbers, BATCH);
        require_status(PETAL_OK, petal_contains_batch(filter, &batch, NULL, &outcome, &error),
                       error);
        hits += outcome.positive;
    }
    return hits;
}

static void require_rate(uint64_t keys, double rate, uint64_t seed)
{
    petal_filter *filter = build(keys, rate, seed);
    uint64_t queries = rate < 1e-4 ? (uint64_t)BATCH << 12 : (uint64_t)BATCH << 7;
    petal_stats stats = PETAL_STATS_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, &error), error);
    double p = stats.estimated_rate, n = (double)queries,
           z = ((double)hits_of(filter, queries) - n * p) / sqrt(n * p * (1 - p) + 1e-9);
    require(fabs(z) < 5, "%llu keys, rate %g, seed %llu: z = %.2f", (unsigned long long)keys, rate,
            (unsigned long long)seed, z);
    require(p <= rate, "%llu keys: %g asked, %g made", (unsigned long long)keys, rate, p);
    petal_free(filter);
}

static void rates_are_those_of_the_codes_and_at_most_those_asked(void **state)
{
    static const double rates[] = {0.9, 0.5, 0.3, 0.1, 0.01, 1. / 128, 1e-3, 1e-5};
    static const uint64_t sizes[] = {10, 100, 1000, 10000, 100000};
    (void)state;
    for (size_t r = 0; r < COUNT(rates); r++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint64_t seed = 0; seed < (is_nightly() ? 20 : 2); seed++)
                require_rate(sizes[s], rates[r], seed);
}

static void sizes_are_near_the_limit(void **state)
{
    static const struct {
        double rate, most_bits;
    } goals[] = {{0.01, 6.80}, {1e-3, 10.05}, {1e-6, 20.2}};
    (void)state;
    for (size_t i = 0; i < COUNT(goals); i++) {
        petal_filter *filter = build(1000000, goals[i].rate, 0);
        petal_info info = PETAL_INFO_INIT;
        assert_int_equal(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
        double bits = (double)info.bytes * 8 / 1e6;
        require(bits < goals[i].most_bits, "rate %g: %.4f bits per key", goals[i].rate, bits);
        petal_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_the_codes_and_at_most_those_asked),
        cmocka_unit_test(sizes_are_near_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

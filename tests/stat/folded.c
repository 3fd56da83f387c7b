/* folded.c - proves that a filter folded to a rate keeps that rate. The test queries absent keys.
 * The number of hits is binomially distributed with the model's rate for the number of keys in the
 * filter.
 *
 * The score is z = (hits - N p) / sqrt(N p (1 - p) + (N sd)^2), where sd is the standard deviation
 * of p between filters, assumed to be 3 % of p. |z| < 5 fails by chance with probability 6e-7, but
 * the seeds are fixed. */
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SPREAD 0.03
#define ABSENT ((int64_t)1 << 40)

static double share_of_absent(const petal_filter *filter, uint64_t count)
{
    uint64_t hits = 0;
    for (uint64_t i = 0; i < count; i++) hits += petal_contains_i64(filter, ABSENT + (int64_t)i);
    return (double)hits / (double)count;
}

static void require_rate(uint32_t scheme, double rate, uint64_t keys, uint64_t seed)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *folded = NULL;
    petal_error error;
    options.scheme = scheme;
    options.rate = rate;
    options.memory_bytes = (uint64_t)1 << 24;
    options.foldable = 1;
    options.seed = seed;
    petal_filter *large = create(&options);
    add_numbers(large, 0, keys);
    require_status(PETAL_OK, petal_fold(large, NULL, &folded, &error), error);
    petal_info info = info_of(folded);
    double p = petal_predict_rate(&info, keys), n = fmin(5e6, 20000 / rate);
    double got = share_of_absent(folded, (uint64_t)n);
    double sd = sqrt(p * (1 - p) / n + p * p * SPREAD * SPREAD);
    require(fabs(got - p) < 5 * sd, "scheme %u, %g, %llu keys: %g, predicted %g", scheme, rate,
            (unsigned long long)keys, got, p);
    require_that(p, <=, rate);
    require_that(got, <, rate + 5 * sd);
    petal_free(large);
    petal_free(folded);
}

static void a_folded_filter_has_the_rate_of_the_model(void **state)
{
    (void)state;
    static const double rates[] = {0.1, 0.01, 0.001, 1e-4};
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++)
        for (size_t r = 0; r < COUNT(rates); r++)
            for (uint64_t keys = 10000; keys <= 300000; keys = keys * 5 + 17)
                require_rate(scheme, rates[r], keys, keys + r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folded_filter_has_the_rate_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

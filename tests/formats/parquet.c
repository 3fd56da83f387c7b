/* parquet.c - tests properties of Parquet's filters that the common vectors don't cover. Sizes must
 * equal arrow-rs's, and rates and estimates must match the model. parquet_list.c tests files and
 * headers. */
#define _XOPEN_SOURCE 700 /* pwrite, ftruncate */

#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include <petal/petal.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

static petal_status plan(uint64_t keys, double rate, uint64_t bits, uint32_t hashes,
                         petal_info *info)
{
    petal_options options = PETAL_OPTIONS_INIT;
    *info = PETAL_INFO_INIT;
    options.format = "parquet";
    options.capacity = keys;
    options.rate = rate;
    options.bits = bits;
    options.hashes = hashes;
    return petal_plan(&options, info, NULL, NULL);
}

static void sizes_are_those_of_arrow_rs(void **state)
{
    FILE *table = fopen("vectors/parquet/sizing.txt", "r");
    char line[128];
    int rows = 0;
    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        unsigned long long keys, bytes;
        double rate;
        petal_info info;
        if (sscanf(line, "%llu %lf %llu", &keys, &rate, &bytes) != 3) continue;
        rows++;
        assert_int_equal(plan(keys, rate, 0, 0, &info),
                         keys ? PETAL_OK : PETAL_ERR_ARGUMENT); /* 0 means "not given" */
        if (keys == 0) continue;
        if (info.bytes != bytes) fail_msg("%s: %llu bytes", line, (unsigned long long)info.bytes);
        assert_int_equal(info.hashes, 8);
    }
    fclose(table);
    require_that(rows, >=, 280);
}

static void sizes_end_at_128_mib_and_the_plan_says_at_which_rate(void **state)
{
    petal_info info;
    (void)state;
    assert_int_equal(plan(200000000, 0.01, 0, 0, &info), PETAL_OK);
    assert_int_equal(info.bytes, 128 << 20);
    require_that(info.predicted_rate, >, 0.1435);
    require_that(info.predicted_rate, <, 0.1445);
    /* The rate is too low for the model's doubles, so the planner chooses the largest size. */
    assert_int_equal(plan(10, 1e-300, 0, 0, &info), PETAL_OK);
    assert_int_equal(info.bytes, 128 << 20);
}

static void given_bits_become_a_power_of_two_of_bytes(void **state)
{
    static const uint64_t cases[][2] = {
        {1, 256}, {256, 256}, {257, 512}, {768, 1024}, {(uint64_t)1 << 30, (uint64_t)1 << 30}};
    petal_info info;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(plan(0, 0, cases[i][0], 8, &info), PETAL_OK);
        assert_int_equal(info.bits, cases[i][1]);
    }
    assert_int_equal(plan(0, 0, ((uint64_t)1 << 30) + 8, 8, &info), PETAL_ERR_LIMIT);
    assert_int_equal(plan(0, 0, UINT64_MAX, 8, &info), PETAL_ERR_LIMIT);
    assert_int_equal(plan(0, 0, 256, 7, &info), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan(0, 0, 256, 9, &info), PETAL_ERR_ARGUMENT);
}

/* Maps a sparse file of the largest size that a header allows, 2^31 - 32 bytes. The only key must
 * be found among the 17 * 10^9 bits. */
static void the_largest_file_is_mapped_and_asked(void **state)
{
    const uint64_t blocks = 67108863, header_bytes = 19;
    const uint8_t header[] = {0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0,
                              0x1c, 0x1c, 0,    0,    0x1c, 0x1c, 0,    0,    0};
    /* The block for "hello", whose hash h is in docs/formats/parquet.md: h >> 32 = 26c7827d. */
    const uint8_t hello[32] = {
        [2] = 0x10, [5] = 2, [9] = 4, [12] = 0x80, [17] = 2, [23] = 0x80, [27] = 0x10, [31] = 8};
    char path[512];
    const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): no thread is running */
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/petal-large-%ld.sbbf", folder && *folder ? folder : "/tmp",
             (long)getpid());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    off_t at = (off_t)(header_bytes + 32 * (0x26c7827d * blocks >> 32));
    assert_int_equal(fwrite(header, 1, sizeof header, file), header_bytes);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(pwrite(fileno(file), hello, sizeof hello, at), sizeof hello);
    assert_int_equal(ftruncate(fileno(file), (off_t)(header_bytes + 32 * blocks)), 0);
    fclose(file);
    options.format = "parquet";
    if (petal_open(path, &options, &filter, &error) != PETAL_OK) fail_msg("%s", error.message);
    unlink(path);
    assert_true(petal_contains(filter, "hello", 5));
    assert_false(petal_contains(filter, "hallo", 5));
    petal_free(filter);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static petal_filter *filter_of(uint64_t blocks, uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.format = "parquet";
    options.bits = blocks * 256;
    options.hashes = 8;
    options.capacity = capacity;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    return filter;
}

/* Returns a different number for each i, spread over all 64 bits. */
static int64_t number(uint64_t i)
{
    return (int64_t)(i * 0x9e3779b97f4a7c15u);
}

/* Returns the mean of (1 - (31/32)^j)^8, where j is the binomially distributed number of keys in a
 * block. This formula computes the model's rate without the alternating sum. */
static double rate_by_load(uint64_t blocks, uint64_t keys)
{
    double n = (double)keys, z = (double)blocks, sum = 0;
    for (double j = 1; j <= n && j < 2000; j++) {
        double log_choose = lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1);
        double log_rest = blocks == 1 ? (j == n ? 0 : -INFINITY) : (n - j) * log1p(-1 / z);
        sum += exp(log_choose - j * log(z) + log_rest) * pow(-expm1(j * log(31.0 / 32.0)), 8);
    }
    return sum;
}

static void the_model_is_the_mean_over_the_loads_of_a_block(void **state)
{
    (void)state;
    for (uint64_t blocks = 1; blocks <= (uint64_t)1 << 20; blocks *= 4)
        for (uint64_t load = 2; load <= 128; load *= 2) {
            petal_filter *filter = filter_of(blocks, 0);
            petal_info info = info_of(filter);
            double model = petal_predict_rate(&info, blocks * load),
                   mean = rate_by_load(blocks, blocks * load);
            /* The model also includes the probabilities of equal patterns and equal hashes. Its sum
             * is accurate to 1e-14, because an exponent contains three lgamma() values, each
             * accurate to 2e-16. */
            double equal = (1 - mean) * (double)load * 0x1p-32 + (double)(blocks * load) * 0x1p-64;
            if (fabs(model - mean - equal) >
                2e-14 + 6e-16 * (1 + lgamma((double)(blocks * load) + 1)) * mean)
                fail_msg("%llu blocks, load %llu: %g, not %g", (unsigned long long)blocks,
                         (unsigned long long)load, model, mean);
            petal_free(filter);
        }
}

/* For a fixed set of bits, the number of hits among Q absent keys is binomially distributed and
 * must be within 5 standard deviations of its mean. The keys come from number(), so the result is
 * reproducible. */
static void measured_rates_are_those_of_the_bits(void **state)
{
    static const uint64_t cases[][2] = {
        {1, 26}, {4, 60}, {64, 1664}, {1024, 16384}, {4096, 200000}};
    const uint64_t queries = 1000000;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_filter *filter = filter_of(cases[i][0], cases[i][1]);
        uint64_t found = 0;
        for (uint64_t k = 0; k < cases[i][1]; k++) petal_add_i64(filter, number(k));
        for (uint64_t k = 0; k < queries; k++)
            found += petal_contains_i64(filter, number(k + ((uint64_t)1 << 32)));
        double rate = stats_of(filter).estimated_rate, mean = rate * (double)queries,
               sd = sqrt(mean * (1 - rate));
        if (fabs((double)found - mean) > 5 * sd + 1)
            fail_msg("%g found, %g expected, sd %g", (double)found, mean, sd);
        petal_free(filter);
    }
}

/* Tests 2,000 filters of 64 blocks with 1,664 keys each. The mean of the rates computed from the
 * bits must agree with the model within 5 standard errors, as must the mean and the variance of the
 * number of set bits (the relative standard error of the variance is sqrt(2/2000)). The 95 %
 * intervals must contain the true number of keys for at least 1,900 - 5 sqrt(2000 * .95 * .05) =
 * 1,851 filters. */
static void rates_bits_and_estimates_agree_with_the_model(void **state)
{
    const uint64_t blocks = 64, keys = 1664;
    const double filters = 2000, clear = exp((double)keys * log1p(-1.0 / (32.0 * (double)blocks)));
    double rates = 0, rates2 = 0, bits = 0, bits2 = 0, covered = 0, items = 0, predicted = 0,
           width = 0;
    petal_filter *filter = filter_of(blocks, keys);
    uint64_t next = 0;
    (void)state;
    for (int i = 0; i < (int)filters; i++) {
        assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
        for (uint64_t k = 0; k < keys; k++) petal_add_i64(filter, number(++next));
        petal_info info = info_of(filter);
        petal_stats info_stats = stats_of(filter);
        rates += info_stats.estimated_rate;
        rates2 += info_stats.estimated_rate * info_stats.estimated_rate;
        bits += (double)info_stats.bits_set;
        bits2 += (double)info_stats.bits_set * (double)info_stats.bits_set;
        items += info_stats.estimated_items.value;
        covered += info_stats.estimated_items.low <= (double)keys &&
                   (double)keys <= info_stats.estimated_items.high;
        width += info_stats.estimated_items.high - info_stats.estimated_items.low;
        predicted = info.predicted_rate;
    }
    double mean = rates / filters, error = sqrt((rates2 / filters - mean * mean) / filters);
    if (fabs(mean - predicted) > 5 * error)
        fail_msg("rate %g, model %g, error %g", mean, predicted, error);
    double bits_mean = bits / filters, sd = sqrt(bits2 / filters - bits_mean * bits_mean);
    double expected = 256 * (double)blocks * (1 - clear);
    if (fabs(bits_mean - expected) > 5 * sd / sqrt(filters))
        fail_msg("%g bits, %g expected", bits_mean, expected);
    /* Half of the interval's width is 1.96 standard deviations of the number of set bits, converted
     * to keys: one more key sets 8 * clear bits, where `clear` is the share of clear bits. */
    double model_sd = width / filters / 2 / 1.959964 * 8 * clear;
    if (fabs(sd / model_sd - 1) > 0.01 + 5 * sqrt(0.5 / filters))
        fail_msg("sd %g, model %g", sd, model_sd);
    if (covered < 1851) fail_msg("%g of %g intervals hold the number", covered, filters);
    require_that(fabs(items / filters / (double)keys - 1), <,
                 0.002); /* the bias is +7 / (512 blocks) = 0.02 %, the standard error 0.016 % */
    petal_free(filter);
}

/* ---- containers ------------------------------------------------------------------------------ */

static void other_containers_and_other_schemes_are_refused_by_name(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *parquet = filter_of(2, 0), *guava;
    petal_error error;
    uint8_t bytes[4096];
    (void)state;
    options.format = "guava";
    options.capacity = 10;
    options.rate = 0.01;
    assert_int_equal(petal_create(&options, &guava, NULL), PETAL_OK);
    assert_int_equal(petal_serialize(parquet, SAVE_AS("guava"), bytes, sizeof bytes, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "parquet"));
    assert_int_equal(petal_serialize(guava, SAVE_AS("parquet"), bytes, sizeof bytes, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "guava-mitz64"));
    petal_free(parquet);
    petal_free(guava);
}

static void filters_of_equal_blocks_merge_and_others_do_not(void **state)
{
    petal_filter *a = filter_of(2, 0), *b = filter_of(2, 0), *c = filter_of(4, 0);
    petal_error error;
    (void)state;
    petal_add(a, "a", 1);
    petal_add(b, "b", 1);
    assert_int_equal(petal_merge(a, b, &error), PETAL_OK);
    assert_true(petal_contains(a, "a", 1));
    assert_true(petal_contains(a, "b", 1));
    assert_int_equal(petal_merge(a, c, &error), PETAL_ERR_MISMATCH);
    petal_free(a);
    petal_free(b);
    petal_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_arrow_rs),
        cmocka_unit_test(sizes_end_at_128_mib_and_the_plan_says_at_which_rate),
        cmocka_unit_test(given_bits_become_a_power_of_two_of_bytes),
        cmocka_unit_test(the_largest_file_is_mapped_and_asked),
        cmocka_unit_test(the_model_is_the_mean_over_the_loads_of_a_block),
        cmocka_unit_test(measured_rates_are_those_of_the_bits),
        cmocka_unit_test(rates_bits_and_estimates_agree_with_the_model),
        cmocka_unit_test(other_containers_and_other_schemes_are_refused_by_name),
        cmocka_unit_test(filters_of_equal_blocks_merge_and_others_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

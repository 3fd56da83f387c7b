/* courses.c - proves that small filters in other libraries' formats have the rates that they
 * report. Every format that can be created is tested with 30, 100 and 1,000 keys at 0.01 %, where
 * double hashing causes 2 to 30 times as many false positives as k independent positions would.
 *
 *  1. The rate given the bits. Absent keys are queried in many filters with different keys. The
 *     number of hits in each filter is binomially distributed with the rate p that
 *     petal_get_stats() reports, so the variance of the total is the sum of all N p (1 - p). The
 *     test allows 5 standard deviations. In addition, it allows the share TOLD of the total, since
 *     reported rates are computed from a sample of the ways to wrap, or above 4,096 bits from a
 *     model.
 *  2. The model. The mean rate of the filters is compared with the predicted rate. The test allows
 *     5 standard errors of the mean, which include the variation between filters, plus the share
 *     PREDICTED of the rate.
 *
 * The seeds are fixed. A test exceeds 5 standard deviations by chance with probability 6e-7, and
 * there are 150 tests. ./dev nightly uses ten times as many filters and bounds a third as wide. */
#include "../amount.h"
#include "../unit/support.h"

#define FILTERS 400 /* number per format and size in ./dev nightly */
#define QUERIES 40000
#define BATCH 4096
#define KEY_BYTES 16
#define RATE 1e-4
#define TOLD 0.06
#define PREDICTED 0.15

static const uint64_t sizes[] = {30, 100, 1000};

static uint64_t unknown; /* number of rates that the library can't provide */

static void make_keys(uint8_t (*bytes)[KEY_BYTES], size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = next_random(random);
        for (size_t j = 0; j < KEY_BYTES; j++, number >>= 4)
            bytes[i][j] = (uint8_t) "0123456789abcdef"[number & 15];
    }
}

static petal_batch batch_of_texts(uint8_t (*bytes)[KEY_BYTES], size_t count)
{
    petal_batch batch = batch_of(PETAL_LAYOUT_FIXED, bytes, count);
    batch.key_bytes = KEY_BYTES;
    return batch;
}

static petal_filter *filled(const char *format, uint64_t keys, uint64_t *random)
{
    static uint8_t bytes[BATCH][KEY_BYTES];
    petal_options options = PETAL_OPTIONS_INIT;
    petal_error error = {0};
    options.format = format;
    options.capacity = keys;
    options.rate = RATE;
    petal_filter *filter = NULL;
    require_status(PETAL_OK, petal_create(&options, &filter, &error), error);
    make_keys(bytes, (size_t)keys, random);
    petal_batch batch = batch_of_texts(bytes, (size_t)keys);
    require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, NULL, &error), error);
    return filter;
}

static double hits_of(const petal_filter *filter, uint64_t *random)
{
    static uint8_t bytes[BATCH][KEY_BYTES];
    uint64_t hits = 0;
    for (size_t done = 0, part; done < QUERIES; done += part) {
        part = QUERIES - done < BATCH ? QUERIES - done : BATCH;
        make_keys(bytes, part, random);
        hits += contains_batch(filter, batch_of_texts(bytes, part), NULL);
    }
    return (double)hits;
}

static void try_format(const char *format, uint64_t keys)
{
    uint64_t random = keys, filters = nightly_amount(FILTERS);
    double hits = 0, squares = 0, told = 0, variance = 0, count = (double)filters;
    double queries = count * QUERIES;
    petal_info info = PETAL_INFO_INIT;
    for (uint64_t i = 0; i < filters; i++) {
        petal_filter *filter = filled(format, keys, &random);
        petal_stats stats = PETAL_STATS_INIT;
        petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, NULL);
        petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
        double found = hits_of(filter, &random);
        hits += found;
        squares += found * found;
        told += QUERIES * stats.estimated_rate;
        variance += QUERIES * stats.estimated_rate * (1 - stats.estimated_rate);
        petal_free(filter);
    }
    double spread = sqrt(fmax(squares - hits * hits / count, 0) * count / (count - 1)) / queries,
           rate = hits / queries;
    printf("# %-20s %4llu keys: %.3g of absent keys are found, by the bits %.3g, predicted %.3g\n",
           format, (unsigned long long)keys, rate, told / queries, info.predicted_rate);
    bool has_rate = strncmp(format, "js-tutorial", strlen("js-tutorial")) != 0;
    require(isnan(told) != has_rate, "%s: a rate without a model, or none with one", format);
    unknown += isnan(info.predicted_rate);
    if (!has_rate) {
        assert_true(isnan(info.predicted_rate));
        return;
    }
    require(fabs(hits - told) < 5 * sqrt(variance) + TOLD * told, "%s, %llu keys: %g hits, told %g",
            format, (unsigned long long)keys, hits, told);
    require(isnan(info.predicted_rate) ||
                fabs(rate - info.predicted_rate) < 5 * spread + PREDICTED * info.predicted_rate,
            "%s, %llu keys: %g, predicted %g, standard error %g", format, (unsigned long long)keys,
            rate, info.predicted_rate, spread);
}

static void small_filters_of_all_formats_are_wrong_as_often_as_they_say(void **state)
{
    (void)state;
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    uint64_t tried = 0;
    for (uint32_t i = 0; petal_format_at(i, &format); i++) {
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE) || strcmp(format.name, "petal") == 0)
            continue;
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++, tried++)
            try_format(format.name, sizes[j]);
    }
    printf("# %llu of %llu predicted rates are unknown\n", (unsigned long long)unknown,
           (unsigned long long)tried);
    assert_true(tried > 60 && unknown < tried / 3);
}

/* ---- formats without a rate ------------------------------------------------------------------ */

/* With many keys, the predicted rate of every kind of filter equals the rate for k independent
 * positions, so the textbook formula is good enough. */
static void large_filters_are_as_good_as_independent(void **state)
{
    (void)state;
    const char *const formats[] = {"guava",           "guava32",     "spark",
                                   "redisbloom",      "orc",         "datasketches",
                                   "bits-and-blooms", "bloomfilter", "cassandra"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info info = PETAL_INFO_INIT;
        petal_error error = {0};
        options.format = formats[i];
        options.capacity = 10000000;
        options.rate = 0.01;
        require_status(PETAL_OK, petal_plan(&options, &info, NULL, &error), error);
        double keys_per_bit = (double)options.capacity / (double)info.bits,
               textbook = pow(-expm1(-(double)info.hashes * keys_per_bit), info.hashes);
        require(fabs(info.predicted_rate / textbook - 1) < 0.003, "%s: %g, textbook %g", formats[i],
                info.predicted_rate, textbook);
    }
}

static void a_rate_is_a_number_between_0_and_1_or_none(void **state)
{
    (void)state;
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    for (uint32_t i = 0; petal_format_at(i, &format); i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info info = PETAL_INFO_INIT;
        options.format = format.name;
        options.capacity = 500;
        options.rate = 0.001;
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE)) continue;
        if (petal_plan(&options, &info, NULL, NULL) != PETAL_OK) continue;
        for (uint64_t keys = 0; keys < UINT64_MAX / 3; keys = keys * 3 + 1) {
            double rate = petal_predict_rate(&info, keys);
            require(isnan(rate) || (rate >= 0 && rate <= 1), "%s, %llu keys: %g", format.name,
                    (unsigned long long)keys, rate);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_filters_of_all_formats_are_wrong_as_often_as_they_say),
        cmocka_unit_test(large_filters_are_as_good_as_independent),
        cmocka_unit_test(a_rate_is_a_number_between_0_and_1_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

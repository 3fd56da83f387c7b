/* estimates.c - proves that the values that a filter computes from its bits are right: the number
 * of distinct keys with its interval, the rate, and whether the filter is full.
 *
 * Each case is tested with 1,000 seeds. If an unbiased estimate has standard deviation s, the mean
 * over 1,000 filters has standard error s / sqrt(1000), and must be within 4 standard errors of the
 * true value (a case fails by chance with probability 6e-5, but the seeds are fixed). The share of
 * 1,000 95 % intervals that contain the true value has standard deviation sqrt(0.05 * 0.95 / 1000)
 * = 0.7 %. */
#include "../stat/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SEEDS 1000

struct tried {
    uint32_t scheme;
    uint64_t bits;
    uint32_t hashes, lines_per_key;
    uint64_t keys;
};

static const struct tried cases[] = {
    {PETAL_SCHEME_CLASSIC, 9600, 7, 0, 100},    {PETAL_SCHEME_CLASSIC, 9600, 7, 0, 1000},
    {PETAL_SCHEME_CLASSIC, 9600, 7, 0, 2500},   {PETAL_SCHEME_CLASSIC, 100003, 4, 0, 10000},
    {PETAL_SCHEME_CLASSIC, 5000, 1, 0, 5000},   {PETAL_SCHEME_CLASSIC, 64000, 16, 0, 2000},
    {PETAL_SCHEME_BLOCKED, 10240, 6, 1, 100},   {PETAL_SCHEME_BLOCKED, 10240, 6, 1, 1000},
    {PETAL_SCHEME_BLOCKED, 10240, 6, 1, 2500},  {PETAL_SCHEME_BLOCKED, 102400, 4, 1, 10000},
    {PETAL_SCHEME_BLOCKED, 51200, 16, 1, 500},  {PETAL_SCHEME_BLOCKED, 51200, 1, 1, 20000},
    {PETAL_SCHEME_BLOCKED, 65536, 11, 2, 500},  {PETAL_SCHEME_BLOCKED, 65536, 11, 2, 3000},
    {PETAL_SCHEME_BLOCKED, 65536, 22, 2, 2000}, {PETAL_SCHEME_COUNTING, 9600, 7, 0, 1000},
};

struct outcome {
    double mean, sd, coverage;
};

static petal_stats filled(const struct tried *tried, uint64_t seed)
{
    petal_options options =
        options_of(tried->scheme, tried->bits, tried->hashes, tried->lines_per_key);
    options.seed = seed;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, tried->keys);
    petal_stats stats = stats_of(filter);
    petal_free(filter);
    return stats;
}

static struct outcome try_seeds(const struct tried *tried)
{
    double sum = 0, squares = 0, truth = (double)tried->keys;
    int inside = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        petal_stats stats = filled(tried, seed);
        double error = stats.estimated_items.value - truth;
        sum += error;
        squares += error * error;
        inside += stats.estimated_items.low <= truth && truth <= stats.estimated_items.high;
        require(stats.estimated_items.low <= stats.estimated_items.value &&
                    stats.estimated_items.value <= stats.estimated_items.high,
                "seed %llu: %g .. %g .. %g", (unsigned long long)seed, stats.estimated_items.low,
                stats.estimated_items.value, stats.estimated_items.high);
    }
    double mean = sum / SEEDS;
    return (struct outcome){mean, sqrt(squares / SEEDS - mean * mean), (double)inside / SEEDS};
}

static void the_estimate_of_items_is_unbiased_and_its_interval_holds_95_of_100(void **state)
{
    (void)state;
    double coverage = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct outcome out = try_seeds(&cases[i]);
        double error = out.sd / sqrt(SEEDS);
        printf("# case %zu: %llu keys, bias %+.3f (standard error %.3f, sd %.2f), coverage %.3f\n",
               i, (unsigned long long)cases[i].keys, out.mean, error, out.sd, out.coverage);
        require(fabs(out.mean) <= 4 * error, "case %zu: bias %g, standard error %g", i, out.mean,
                error);
        require(out.coverage > 0.92 && out.coverage < 0.98, "case %zu: %g of the intervals hold", i,
                out.coverage);
        coverage += out.coverage / COUNT(cases);
    }
    require(coverage > 0.93 && coverage < 0.97, "%g of all intervals hold", coverage);
}

/* According to Swamidass and Baldi, the standard deviation of a classic filter's estimate is sqrt(m
 * (e^c - c - 1)) / k, where c = kn/m. */
static void the_interval_is_as_wide_as_theory_says(void **state)
{
    (void)state;
    struct tried tried = {PETAL_SCHEME_CLASSIC, 96000, 7, 0, 10000};
    petal_stats stats = filled(&tried, 3);
    double m = 96000, c = 7 * 10000 / m, sd = sqrt(m * (exp(c) - c - 1)) / 7;
    double half = (stats.estimated_items.high - stats.estimated_items.low) / 2;
    require(fabs(half - 1.96 * sd) < 0.02 * half, "half width %g, theory %g", half, 1.96 * sd);
}

/* With 32 hashes in two lines, a key sets one bit in every word of both lines. Two keys with 16
 * hashes set the same number of bits in one line. */
static void the_interval_of_two_lines_is_that_of_one_line_with_twice_the_keys(void **state)
{
    (void)state;
    const struct tried two = {PETAL_SCHEME_BLOCKED, 1 << 20, 32, 2, 22500},
                       one = {PETAL_SCHEME_BLOCKED, 1 << 20, 16, 1, 45000};
    petal_estimate of_two = filled(&two, 3).estimated_items,
                   of_one = filled(&one, 3).estimated_items;
    double width = (of_two.high - of_two.low) / of_two.value,
           wanted = (of_one.high - of_one.low) / of_one.value;
    require(fabs(width - wanted) < 0.005 * wanted, "width %g, wanted %g", width, wanted);
}

/* With this many bits, no two keys collide, so adding the keys again changes nothing. */
static void repeats_do_not_change_the_estimate(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 51200, 6, 1);
    add_numbers(filter, 0, 3000);
    petal_info once = info_of(filter);
    petal_stats once_stats = stats_of(filter);
    uint64_t once_id = content_of(filter);
    add_numbers(filter, 0, 3000);
    petal_info twice = info_of(filter);
    petal_stats twice_stats = stats_of(filter);
    uint64_t twice_id = content_of(filter);
    require_that(once_stats.estimated_items.value, ==, twice_stats.estimated_items.value);
    require_that(once_id, ==, twice_id);
    assert_int_equal(once.items, 3000);
    assert_int_equal(twice.items, 6000);
    petal_free(filter);
}

static void an_empty_filter_holds_nothing_and_is_never_wrong(void **state)
{
    (void)state;
    static const struct {
        uint32_t scheme, hashes;
        const char *format;
    } kinds[] = {{PETAL_SCHEME_BLOCKED, 5, NULL},
                 {PETAL_SCHEME_CLASSIC, 5, NULL},
                 {0, 8, "parquet"},
                 {0, 5, "rocksdb"}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        petal_options options = options_of(kinds[i].scheme, 16384, kinds[i].hashes, 0);
        options.format = kinds[i].format;
        petal_filter *filter = create(&options);
        petal_stats info_stats = stats_of(filter);
        require_that(info_stats.bits_set, ==, 0);
        require_that(info_stats.fill, ==, 0);
        assert_true(!info_stats.saturated);
        require_that(info_of(filter).items, ==, 0);
        require_that(info_stats.estimated_items.value, ==, 0);
        require_that(info_stats.estimated_items.low, ==, 0);
        require_that(info_stats.estimated_items.high, ==, 0);
        require_that(info_stats.estimated_rate, ==, 0);
        petal_free(filter);
    }
}

/* Returns a filter to which keys were added until every bit was set. */
static petal_filter *full(uint32_t scheme, uint64_t bits, uint32_t hashes)
{
    petal_filter *filter = make(scheme, bits, hashes, 0);
    for (uint64_t from = 0; stats_of(filter).bits_set < info_of(filter).bits; from += 1000)
        add_numbers(filter, from, 1000);
    return filter;
}

static void a_full_filter_is_saturated_and_says_probably_of_everything(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 11, 512, 513, 1024};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++) {
            petal_filter *filter = full((uint32_t)scheme, sizes[i], 3);
            petal_stats info_stats = stats_of(filter);
            require(info_stats.saturated && info_stats.fill == 1 && info_stats.estimated_rate == 1,
                    "scheme %d, %llu bits", scheme, (unsigned long long)sizes[i]);
            require(isinf(info_stats.estimated_items.value) &&
                        info_stats.estimated_items.value > 0 &&
                        isinf(info_stats.estimated_items.high),
                    "scheme %d, %llu bits: %g", scheme, (unsigned long long)sizes[i],
                    info_stats.estimated_items.value);
            require(isfinite(info_stats.estimated_items.low) && info_stats.estimated_items.low >= 0,
                    "scheme %d, %llu bits: low %g", scheme, (unsigned long long)sizes[i],
                    info_stats.estimated_items.low);
            assert_true(petal_contains(filter, "never added", 11));
            petal_free(filter);
        }
}

static void one_bit_short_of_full_is_not_saturated(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, 2, 1, 0);
    petal_add_hash(filter, 0); /* sets one of the two bits */
    petal_stats info_stats = stats_of(filter);
    require_that(info_stats.bits_set, ==, 1);
    assert_true(!info_stats.saturated);
    assert_true(isfinite(info_stats.estimated_items.value));
    require_that(info_stats.estimated_rate, ==, 0.5);
    petal_free(filter);
}

static void no_number_of_an_info_is_nan_but_those_documented(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 5000; bits = bits * 3 / 2 + 1)
        for (uint32_t k = 1; k <= 64; k *= 4) {
            petal_filter *filter = make(PETAL_SCHEME_CLASSIC, bits, k, 0);
            for (uint64_t keys = 0; keys < 1000; keys = keys * 2 + 1) {
                add_numbers(filter, keys, keys + 1);
                petal_stats info_stats = stats_of(filter);
                require(!isnan(info_stats.fill) && !isnan(info_stats.estimated_items.value) &&
                            !isnan(info_stats.estimated_items.low) &&
                            !isnan(info_stats.estimated_items.high) &&
                            info_stats.estimated_rate >= 0 && info_stats.estimated_rate <= 1,
                        "m = %llu, k = %u, %llu keys", (unsigned long long)bits, k,
                        (unsigned long long)keys);
                require(isnan(info_of(filter).predicted_rate) && isnan(info_of(filter).target_rate),
                        "m = %llu", (unsigned long long)bits);
            }
            petal_free(filter);
        }
}

/* Measures the rate for the given bits. The number of hits among N random hashes is binomially
 * distributed. */
static void the_rate_now_is_what_asking_finds(void **state)
{
    (void)state;
    const uint64_t asked = 400000;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t hits = 0, random = 77 + i;
        petal_filter *filter =
            make(cases[i].scheme, cases[i].bits, cases[i].hashes, cases[i].lines_per_key);
        add_numbers(filter, 0, cases[i].keys);
        double p = stats_of(filter).estimated_rate;
        for (uint64_t n = 0; n < asked; n++)
            hits += petal_contains_hash(filter, next_random(&random));
        double expected = p * (double)asked, sd = sqrt(expected * (1 - p));
        require(fabs((double)hits - expected) <= 5 * sd + 3,
                "case %zu: %llu hits, expected %g, sd %g", i, (unsigned long long)hits, expected,
                sd); /* 3 more for cases that expect almost no hits */
        petal_free(filter);
    }
}

static void the_rate_now_follows_the_keys_not_the_capacity(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 10000;
    options.rate = 0.01;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, 10000);
    petal_info rated = info_of(filter);
    petal_stats rated_stats = stats_of(filter);
    add_numbers(filter, 10000, 10000);
    petal_info twice = info_of(filter);
    petal_stats twice_stats = stats_of(filter);
    require_that(fabs(rated_stats.estimated_rate - rated.predicted_rate), <,
                 0.1 * rated.predicted_rate);
    require_that(twice.predicted_rate, ==, rated.predicted_rate);
    double wanted = petal_predict_rate(&twice, 20000);
    require(fabs(twice_stats.estimated_rate - wanted) < 0.1 * wanted && wanted > 0.1,
            "%g, wanted %g", twice_stats.estimated_rate, wanted);
    petal_free(filter);
}

/* Compares the reported rate with a rate computed bit by bit. */
static void the_rate_now_is_that_of_the_very_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].scheme == PETAL_SCHEME_COUNTING) continue;
        petal_filter *filter =
            make(cases[i].scheme, cases[i].bits, cases[i].hashes, cases[i].lines_per_key);
        add_numbers(filter, 0, cases[i].keys);
        struct bytes image = serialized(filter);
        petal_info info = info_of(filter);
        double wanted = rate_given_bits(&info, payload_of(image), (double)cases[i].keys).rate,
               told = stats_of(filter).estimated_rate;
        require(fabs(told - wanted) <= 1e-12 * wanted, "case %zu: %.17g, wanted %.17g", i, told,
                wanted);
        free(image.data);
        petal_free(filter);
    }
}

/* Adds hashes that belong to this line until all bits of the line are set. */
static void fill_line(petal_filter *filter, uint64_t line, uint64_t lines, uint64_t *random)
{
    static uint64_t hashes[300];
    for (size_t i = 0; i < COUNT(hashes); i++) /* a hash belongs to the line mulhi64(hash, lines) */
        hashes[i] = (uint64_t)(((double)line + 0.5) / (double)lines * 0x1p64) >> 32 << 32 |
                    next_random(random) >> 32;
    assert_int_equal(add_hash_batch(filter, hashes, COUNT(hashes), NULL, NULL), PETAL_OK);
}

/* The chosen keys fill the last 11.8 % of the lines. If the sample were always the first 262,144 of
 * the 297,208 lines, it would miss all of these lines. */
static void no_chosen_lines_hide_from_the_rate_of_a_big_filter(void **state)
{
    (void)state;
    const uint64_t lines = 297208, first = 262144;
    uint64_t random = 1, passed = 0;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, lines * 512, 16, 1);
    for (uint64_t line = first; line < lines; line++) fill_line(filter, line, lines, &random);
    for (int i = 0; i < 100000; i++) passed += petal_contains_hash(filter, next_random(&random));
    double rate = stats_of(filter).estimated_rate;
    require(fabs(rate - 0.118) < 0.003, "%g", rate);
    require(fabs(rate - (double)passed / 100000) < 0.005, "%g, measured %g", rate,
            (double)passed / 100000);
    petal_free(filter);
}

/* The filter has twice as many lines as the sample, so the sample contains one line of each pair.
 * If a single line is full, the rate shows whether the sample contains this line. This way, the
 * test finds 24 lines outside the sample, and then fills all of them. If the sample did not depend
 * on all the bytes, it would still contain none of these 24 lines. (A fair sample misses all of
 * them with a probability of 1 in 2^24.) */
static void lines_that_were_not_counted_once_are_no_hiding_place(void **state)
{
    (void)state;
    const uint64_t lines = 2 * 262144;
    uint64_t random = 1, hidden[24];
    petal_error error;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, lines * 512, 16, 1);
    for (uint64_t pair = 0; pair < COUNT(hidden); pair++) {
        uint64_t line = 2 * 10007 * pair;
        require_status(PETAL_OK, petal_clear(filter, &error), error);
        fill_line(filter, line, lines, &random);
        hidden[pair] = line + (stats_of(filter).estimated_rate > 0);
    }
    require_status(PETAL_OK, petal_clear(filter, &error), error);
    for (size_t i = 0; i < COUNT(hidden); i++) fill_line(filter, hidden[i], lines, &random);
    assert_true(stats_of(filter).estimated_rate > 0);
    petal_free(filter);
}

/* Simulates the attack in docs/security.md: the attacker tries each candidate key on a copy, and
 * adds the key only if all its bits are clear. */
static void keys_that_share_no_bits_raise_the_rate_but_are_not_more_than_planned(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = PETAL_SCHEME_CLASSIC;
    options.capacity = 100;
    options.rate = 0.01;
    petal_filter *filter = create(&options);
    petal_info info = info_of(filter);
    uint64_t random = 1;
    for (uint64_t keys = 0, bits = 0; keys < info.capacity;) {
        uint64_t hash = next_random(&random);
        petal_filter *copy = clone_of(filter);
        petal_add_hash(copy, hash);
        bool all_new = stats_of(copy).bits_set == bits + info.hashes;
        petal_free(copy);
        if (!all_new) continue;
        petal_add_hash(filter, hash);
        bits += info.hashes;
        keys++;
    }
    double rate = stats_of(filter).estimated_rate, times = pow(1.386, info.hashes);
    require(!petal_is_overfull(filter), "as many keys as planned are called too many");
    require(rate > 0.9 * times * options.rate && rate < 1.1 * times * options.rate, "rate %g",
            rate);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_share_no_bits_raise_the_rate_but_are_not_more_than_planned),
        cmocka_unit_test(the_estimate_of_items_is_unbiased_and_its_interval_holds_95_of_100),
        cmocka_unit_test(the_interval_is_as_wide_as_theory_says),
        cmocka_unit_test(the_interval_of_two_lines_is_that_of_one_line_with_twice_the_keys),
        cmocka_unit_test(repeats_do_not_change_the_estimate),
        cmocka_unit_test(an_empty_filter_holds_nothing_and_is_never_wrong),
        cmocka_unit_test(a_full_filter_is_saturated_and_says_probably_of_everything),
        cmocka_unit_test(one_bit_short_of_full_is_not_saturated),
        cmocka_unit_test(no_number_of_an_info_is_nan_but_those_documented),
        cmocka_unit_test(the_rate_now_is_what_asking_finds),
        cmocka_unit_test(the_rate_now_is_that_of_the_very_bits),
        cmocka_unit_test(the_rate_now_follows_the_keys_not_the_capacity),
        cmocka_unit_test(no_chosen_lines_hide_from_the_rate_of_a_big_filter),
        cmocka_unit_test(lines_that_were_not_counted_once_are_no_hiding_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* algebra.c - proves the statements in petal.h about sets: edge cases of comparing, filters created
 * like another filter, overfull filters, and shards. (tests/stat/overlap.c proves that estimates
 * are right on average.) */
#include "../amount.h"
#include "petal/petal_build.h"
#include "petal/petal_host.h"
#include "petal/petal_inline.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static petal_comparison compare(const petal_filter *a, const petal_filter *b)
{
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_compare(a, b, &comparison, &error), error);
    return comparison;
}

static bool holds(petal_estimate estimate, double truth)
{
    return estimate.low <= truth && truth <= estimate.high;
}

static bool is(petal_estimate estimate, double value, double low, double high)
{
    return estimate.value == value && estimate.low == low && estimate.high == high;
}

static bool is_unknown(petal_estimate estimate)
{
    return isnan(estimate.value) && isnan(estimate.low) && isnan(estimate.high);
}

/* Compares two filters: one contains the a[1] integers from a[0] on, the other contains the b[1]
 * integers from b[0] on. */
static petal_comparison compare_ranges(uint32_t scheme, const uint64_t a[2], const uint64_t b[2])
{
    petal_filter *one = make(scheme, 51200, 6, 0), *other = make(scheme, 51200, 6, 0);
    add_numbers(one, a[0], a[1]);
    add_numbers(other, b[0], b[1]);
    petal_comparison comparison = compare(one, other);
    petal_free(one);
    petal_free(other);
    return comparison;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void sizes_and_union_are_those_that_info_and_merge_give(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *a = make(scheme, 51200, 6, 0), *b = make(scheme, 51200, 6, 0);
        add_numbers(a, 0, 3000);
        add_numbers(b, 2000, 2000);
        petal_filter *before = clone_of(a);
        petal_comparison comparison = compare(a, b);
        petal_stats of_a_stats = stats_of(a);
        petal_stats of_b_stats = stats_of(b);
        assert_true(same_image(a, before)); /* comparing changes nothing */
        assert_int_equal(petal_merge(a, b, NULL), PETAL_OK);
        petal_stats of_union_stats = stats_of(a);
        assert_true(is(comparison.items_a, of_a_stats.estimated_items.value,
                       of_a_stats.estimated_items.low, of_a_stats.estimated_items.high));
        assert_true(is(comparison.items_b, of_b_stats.estimated_items.value,
                       of_b_stats.estimated_items.low, of_b_stats.estimated_items.high));
        assert_true(is(comparison.union_items, of_union_stats.estimated_items.value,
                       of_union_stats.estimated_items.low, of_union_stats.estimated_items.high));
        double common = of_a_stats.estimated_items.value + of_b_stats.estimated_items.value -
                        of_union_stats.estimated_items.value;
        require_that(fabs(comparison.intersection.value - common), <, 1e-9);
        require_that(fabs(comparison.jaccard.value - common / of_union_stats.estimated_items.value),
                     <, 1e-12);
        require_that(
            fabs(comparison.containment_a_in_b.value - common / of_a_stats.estimated_items.value),
            <, 1e-12);
        require_that(
            fabs(comparison.containment_b_in_a.value - common / of_b_stats.estimated_items.value),
            <, 1e-12);
        petal_free(a);
        petal_free(b);
        petal_free(before);
    }
}

/* Two filters with equal bits contain each other. However, since a key may set no new bit, their
 * sets may still differ by a few keys, so the interval is wider than zero. */
static void a_filter_holds_all_of_itself_and_may_yet_differ_by_a_few_keys(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_comparison c = compare_ranges(scheme, (uint64_t[2]){0, 4000}, (uint64_t[2]){0, 4000});
        require_that(c.jaccard.value, ==, 1);
        require_that(c.jaccard.high, ==, 1);
        require_that(c.containment_a_in_b.value, ==, 1);
        require(c.jaccard.low < 1 && c.jaccard.low > 0.995, "at least %g", c.jaccard.low);
        assert_true(holds(c.intersection, 4000));
        require_that(c.intersection.value, ==, c.items_a.value);
        require_that(fabs(c.intersection.high - c.items_a.high), <, 1e-3 * c.items_a.high);
    }
}

static void a_part_is_contained_and_the_whole_is_not(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_comparison c = compare_ranges(scheme, (uint64_t[2]){0, 1000}, (uint64_t[2]){0, 5000});
        require_that(c.containment_a_in_b.value, ==, 1);
        require_that(c.containment_a_in_b.high, ==, 1);
        require(c.containment_a_in_b.low > 0.97 && c.containment_a_in_b.low < 1, "at least %g",
                c.containment_a_in_b.low);
        assert_true(holds(c.containment_b_in_a, 0.2));
        assert_true(holds(c.jaccard, 0.2));
        assert_true(holds(c.intersection, 1000));
        require(c.containment_b_in_a.high < 0.22, "at most %g", c.containment_b_in_a.high);
    }
}

/* If the true value is at the end of the possible range, a 95 % interval may contain it in more
 * than 95 % of cases, since only one side of the interval can miss it, which happens in 2.5 % of
 * cases. Over 400 seeds, the share of intervals that contain the value has a standard deviation of
 * 0.8 %. */
static void intervals_hold_for_disjoint_sets_parts_and_equal_ones(void **state)
{
    (void)state;
    int disjoint = 0, part = 0, equal = 0, one_more = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        petal_options options = options_of(PETAL_SCHEME_BLOCKED, 16384, 6, 1);
        options.seed = seed;
        petal_filter *a = create(&options), *b = create(&options), *both = create(&options);
        add_numbers(a, 0, 1500);
        add_numbers(b, 10000, 800);
        add_numbers(both, 0, 1500);
        petal_comparison c = compare(a, b);
        disjoint +=
            holds(c.intersection, 0) && holds(c.jaccard, 0) && holds(c.containment_a_in_b, 0);
        c = compare(a, both);
        equal += holds(c.jaccard, 1) && holds(c.containment_b_in_a, 1);
        add_numbers(both, 20000, 1);
        c = compare(a, both);
        one_more += holds(c.jaccard, 1500.0 / 1501);
        add_numbers(both, 10000, 800);
        c = compare(b, both);
        part += holds(c.containment_a_in_b, 1) && holds(c.intersection, 800);
        petal_free(a);
        petal_free(b);
        petal_free(both);
    }
    require(disjoint > 0.93 * 400 && part > 0.93 * 400 && equal == 400 && one_more > 0.93 * 400,
            "of 400: disjoint %d, part %d, equal %d, one more %d", disjoint, part, equal, one_more);
}

/* Intervals must be neither too narrow nor too wide. The sets have different sizes and share some
 * keys. Each interval must contain the true value for 95 % of the 400 seeds, plus or minus 3 %. */
static void intervals_are_as_wide_as_they_say(void **state)
{
    (void)state;
    enum { SEEDS = 400, A = 1500, B = 800, COMMON = 400 };
    int common = 0, jaccard = 0, a_in_b = 0, b_in_a = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        petal_options options = options_of(PETAL_SCHEME_BLOCKED, 16384, 6, 1);
        options.seed = seed;
        petal_filter *a = create(&options), *b = create(&options);
        add_numbers(a, 0, A);
        add_numbers(b, A - COMMON, B);
        petal_comparison c = compare(a, b);
        common += holds(c.intersection, COMMON);
        jaccard += holds(c.jaccard, (double)COMMON / (A + B - COMMON));
        a_in_b += holds(c.containment_a_in_b, (double)COMMON / A);
        b_in_a += holds(c.containment_b_in_a, (double)COMMON / B);
        petal_free(a);
        petal_free(b);
    }
    const int held[] = {common, jaccard, a_in_b, b_in_a};
    for (size_t i = 0; i < 4; i++)
        require(held[i] > 0.92 * SEEDS && held[i] < 0.98 * SEEDS,
                "of 400: intersection %d, Jaccard %d, a in b %d, b in a %d", common, jaccard,
                a_in_b, b_in_a);
}

static void of_nothing_there_is_no_share(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_comparison c = compare_ranges(scheme, (uint64_t[2]){0, 0}, (uint64_t[2]){0, 0});
        assert_true(is(c.items_a, 0, 0, 0));
        assert_true(is(c.union_items, 0, 0, 0));
        assert_true(is(c.intersection, 0, 0, 0));
        assert_true(is_unknown(c.jaccard));
        assert_true(is_unknown(c.containment_a_in_b));
        assert_true(is_unknown(c.containment_b_in_a));
        c = compare_ranges(scheme, (uint64_t[2]){0, 0}, (uint64_t[2]){0, 100});
        assert_true(is(c.intersection, 0, 0, 0));
        require_that(c.jaccard.value, ==, 0);
        require_that(c.containment_b_in_a.value, ==, 0);
        assert_true(is_unknown(c.containment_a_in_b));
    }
}

static void a_saturated_union_leaves_bounds_only(void **state)
{
    (void)state;
    petal_filter *full = make(PETAL_SCHEME_CLASSIC, 500, 5, 0),
                 *half = make(PETAL_SCHEME_CLASSIC, 500, 5, 0);
    add_numbers(full, 0, 3000);
    add_numbers(half, 0, 100);
    assert_true(stats_of(full).saturated);
    petal_comparison c = compare(full, half);
    assert_true(c.saturated);
    assert_true(isinf(c.items_a.value));
    assert_true(isinf(c.items_a.high));
    assert_true(isfinite(c.items_a.low));
    assert_true(isinf(c.union_items.value));
    assert_true(isfinite(c.items_b.value));
    assert_true(isnan(c.intersection.value));
    require_that(c.intersection.low, ==, 0);
    require_that(c.intersection.high, ==, c.items_b.high);
    assert_true(isnan(c.jaccard.value));
    require_that(c.jaccard.low, ==, 0);
    require_that(c.jaccard.high, ==, 1);
    assert_true(isnan(c.containment_a_in_b.value));
    assert_true(isnan(c.containment_b_in_a.value));
    petal_free(full);
    petal_free(half);
}

/* For any size, every estimate in a comparison must be finite and within its interval. */
static void numbers_of_tiny_and_nearly_full_filters_are_sound(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 3000; bits = bits * 3 / 2 + 1)
        for (uint64_t keys = 1; keys < 3000; keys *= 3) {
            petal_filter *a = make(PETAL_SCHEME_CLASSIC, bits, 3, 0),
                         *b = make(PETAL_SCHEME_CLASSIC, bits, 3, 0);
            add_numbers(a, 0, keys);
            add_numbers(b, keys / 2, keys);
            petal_comparison c = compare(a, b);
            if (!c.saturated) {
                const petal_estimate all[] = {c.intersection, c.jaccard, c.containment_a_in_b,
                                              c.containment_b_in_a};
                for (size_t i = 0; i < COUNT(all); i++)
                    require(all[i].low >= 0 && all[i].low <= all[i].value &&
                                all[i].value <= all[i].high && (i == 0 || all[i].high <= 1),
                            "m = %llu, %llu keys, %zu: %g .. %g .. %g", (unsigned long long)bits,
                            (unsigned long long)keys, i, all[i].low, all[i].value, all[i].high);
            }
            petal_free(a);
            petal_free(b);
        }
}

static void unlike_filters_are_not_compared_and_the_field_is_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t scheme;
        uint64_t bits, seed;
        uint32_t hashes, lines;
        const char *field;
    } others[] = {
        {PETAL_SCHEME_CLASSIC, 5120, 0, 6, 0, "scheme"},
        {PETAL_SCHEME_BLOCKED, 5632, 0, 6, 1, "bits"},
        {PETAL_SCHEME_BLOCKED, 5120, 1, 6, 1, "seed"},
        {PETAL_SCHEME_BLOCKED, 5120, 0, 7, 1, "hashes"},
        {PETAL_SCHEME_BLOCKED, 5120, 0, 6, 2, "lines"},
    };
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 5120, 6, 1);
    for (size_t i = 0; i < COUNT(others); i++) {
        petal_options options =
            options_of(others[i].scheme, others[i].bits, others[i].hashes, others[i].lines);
        petal_comparison comparison = PETAL_COMPARISON_INIT;
        petal_error error;
        options.seed = others[i].seed;
        petal_filter *other = create(&options);
        assert_int_equal(petal_compare(filter, other, &comparison, &error), PETAL_ERR_MISMATCH);
        require(strstr(error.message, others[i].field) != NULL, "%s: %s", others[i].field,
                error.message);
        petal_free(other);
    }
    petal_comparison unset = {0};
    assert_int_equal(petal_compare(filter, filter, &unset, NULL), PETAL_ERR_ARGUMENT);
    petal_free(filter);
}

/* Different keys may set the same bit in the two filters, and the intersection keeps this bit, as
 * petal_intersect() documents. To estimate the number of common keys, petal_compare() must be
 * used. */
static void an_intersection_seems_to_hold_more_keys_than_are_common(void **state)
{
    (void)state;
    petal_filter *a = make(PETAL_SCHEME_BLOCKED, 51200, 6, 1),
                 *b = make(PETAL_SCHEME_BLOCKED, 51200, 6, 1);
    add_numbers(a, 0, 5000);
    add_numbers(b, 4000, 5000);
    petal_comparison comparison = compare(a, b);
    assert_int_equal(petal_intersect(a, b, NULL), PETAL_OK);
    petal_info both = info_of(a);
    petal_stats both_stats = stats_of(a);
    require_numbers(a, 4000, 1000);
    assert_true(holds(comparison.intersection, 1000));
    require(both_stats.estimated_items.value > 1500, "%g", both_stats.estimated_items.value);
    assert_int_equal(both.items, 5000);
    petal_free(a);
    petal_free(b);
}

/* ---- alike ----------------------------------------------------------------------------------- */

static void partial_filters_made_alike_merge_to_the_bytes_of_one_build(void **state)
{
    (void)state;
    static const uint8_t secret[PETAL_SECRET_BYTES] = "sixteen bytes ..";
    FOR_NATIVE_SCHEMES(scheme)
    for (int keyed = 0; keyed <= 1; keyed++) {
        petal_options options = PETAL_OPTIONS_INIT;
        options.scheme = scheme;
        options.capacity = 10000;
        options.rate = 0.001;
        options.secret = keyed ? secret : NULL;
        options.seed = keyed ? 0 : 77;
        petal_filter *whole = create(&options), *sum = NULL;
        add_numbers(whole, 0, 8000);
        assert_int_equal(petal_create_like(whole, &sum, NULL), PETAL_OK);
        assert_int_equal(stats_of(sum).bits_set, 0);
        for (uint64_t i = 0; i < 8; i++) {
            petal_filter *part = NULL;
            assert_int_equal(petal_create_like(whole, &part, NULL), PETAL_OK);
            add_numbers(part, i * 1000, 1000);
            assert_int_equal(petal_merge(sum, part, NULL), PETAL_OK);
            petal_free(part);
        }
        assert_true(same_image(sum, whole));
        petal_free(sum);
        petal_free(whole);
    }
}

static void what_is_made_like_another_has_no_metadata_and_can_fail_for_memory_only(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 100;
    options.rate = 0.01;
    options.metadata = "note";
    options.metadata_bytes = 4;
    options.allocator = &allocator;
    petal_filter *filter = create(&options), *like = NULL;
    uint64_t before = count.live_blocks, calls;
    for (uint64_t i = 1;; i++) {
        count.fail_at = count.calls + i;
        petal_status status = petal_create_like(filter, &like, NULL);
        if (status == PETAL_OK) break;
        assert_int_equal(status, PETAL_ERR_MEMORY);
        require_that(like, ==, NULL);
        require_that(count.live_blocks, ==, before);
        require(i < 20, "never worked");
    }
    count.fail_at = 0;
    calls = count.calls;
    require_that(petal_metadata(like, NULL), ==, NULL);
    require_that(calls, >, 0);
    petal_free(like);
    petal_free(filter);
    require_that(count.live_blocks, ==, 0);
    require_that(count.bad_releases, ==, 0);
}

/* ---- overfull -------------------------------------------------------------------------------- */

static petal_filter *rated_for(uint32_t scheme, uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = scheme;
    options.capacity = capacity;
    options.rate = 0.01;
    return create(&options);
}

/* Filters for these capacities occupy from a few cache lines to more than a megabyte. */
/* The largest capacity is tested only in ./dev nightly. */
static const uint64_t capacities[] = {20, 1000, 100000, 1000000};

static size_t capacity_count(void)
{
    return is_nightly() ? COUNT(capacities) : COUNT(capacities) - 1;
}

static void add_number(petal_filter *filter, uint64_t number)
{
    petal_status status = petal_add_i64(filter, (int64_t)number);
    require(status == PETAL_OK || status == PETAL_SEEN, "key %llu: %s", (unsigned long long)number,
            petal_status_name(status));
}

/* Adds the numbers from *next on until the filter is overfull. The filter already contains `in`
 * keys, and must become overfull soon after it contains more than `capacity` keys. */
static void overfill(petal_filter *filter, uint64_t capacity, uint64_t in, uint64_t *next)
{
    for (; !petal_is_overfull(filter) && in < 3 * capacity; in++) add_number(filter, (*next)++);
    petal_stats info_stats = stats_of(filter);
    /* The margin is 2.5 times the lower half of the estimate's interval, which matters for small
     * filters, plus 1/30 of the capacity. */
    double margin = (double)capacity / 30 +
                    2.5 * (info_stats.estimated_items.value - info_stats.estimated_items.low) + 2;
    require(in > capacity && (double)in < (double)capacity + margin, "%llu of %llu",
            (unsigned long long)in, (unsigned long long)capacity);
    assert_true(info_stats.overfull);
}

static void a_filter_is_overfull_soon_after_its_capacity_and_never_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) FOR_NATIVE_SCHEMES(scheme)
        {
            uint64_t capacity = capacities[i], next = 0;
            petal_filter *filter = rated_for(scheme, capacity);
            overfill(filter, capacity, 0, &next);
            for (; next < 3 * capacity; next++) { /* the filter must stay overfull */
                add_number(filter, next);
                require(petal_is_overfull(filter), "%llu of %llu", (unsigned long long)next,
                        (unsigned long long)capacity);
            }
            petal_free(filter);
        }
}

static void repeats_make_no_filter_overfull(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) {
        uint64_t capacity = capacities[i];
        petal_filter *filter = rated_for(PETAL_SCHEME_BLOCKED, capacity);
        for (int round = 0; round < 5; round++)
            for (uint64_t n = 0; n < capacity * 9 / 10; n++) {
                add_number(filter, n);
                require(!petal_is_overfull(filter), "capacity %llu, round %d, key %llu",
                        (unsigned long long)capacity, round, (unsigned long long)n);
            }
        petal_stats info_stats = stats_of(filter);
        require_that(info_of(filter).items, >, 4 * capacity);
        assert_true(!info_stats.overfull);
        petal_free(filter);
    }
}

/* The following functions add keys in different ways, which must all give the same bits, items and
 * capacity. */
static void come_one_by_one(petal_filter *filter, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) (void)petal_add_i64(filter, values[i]);
}

static void come_in_batches(petal_filter *filter, const int64_t *values, size_t count)
{
    assert_int_equal(add_number_batch(filter, values, count / 3, NULL, NULL), PETAL_OK);
    assert_int_equal(add_number_batch(filter, values + count / 3, count - count / 3, NULL, NULL),
                     PETAL_OK);
}

static void come_from_a_builder(petal_filter *filter, const int64_t *values, size_t count)
{
    petal_builder *builder = NULL;
    uint32_t workers = 2;
    petal_batch second = batch_of_numbers(values + count / 2, count - count / 2);
    assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_OK);
    assert_int_equal(build_batch(builder, 0, batch_of_numbers(values, count / 2)), PETAL_OK);
    assert_int_equal(build_batch(builder, workers - 1, second), PETAL_OK);
    assert_int_equal(petal_builder_finish(builder, NULL), PETAL_OK);
}

static void come_from_threads(petal_filter *filter, const int64_t *values, size_t count)
{
    assert_int_equal(petal_allow_threads(filter, NULL), PETAL_OK);
    come_in_batches(filter, values, count);
}

static void come_from_another_filter(petal_filter *filter, const int64_t *values, size_t count)
{
    petal_filter *other = NULL;
    assert_int_equal(petal_create_like(filter, &other, NULL), PETAL_OK);
    come_in_batches(filter, values, count / 2);
    come_in_batches(other, values + count / 2, count - count / 2);
    assert_int_equal(petal_merge(filter, other, NULL), PETAL_OK);
    petal_free(other);
}

typedef void come(petal_filter *filter, const int64_t *values, size_t count);
static come *const ways[] = {come_one_by_one, come_in_batches, come_from_a_builder,
                             come_from_threads, come_from_another_filter};

static bool is_so_when_loaded(const petal_filter *filter)
{
    struct bytes image = serialized(filter);
    petal_filter *loaded = NULL;
    assert_int_equal(petal_load(image.data, image.size, NULL, &loaded, NULL), PETAL_OK);
    bool is_overfull = petal_is_overfull(loaded);
    petal_free(loaded);
    free(image.data);
    return is_overfull;
}

/* A filter for 4,000,000 keys needs 4.6 MB, which is large enough for a builder to divide it into
 * regions. */
static void it_is_the_same_however_the_keys_came(void **state)
{
    (void)state;
    static const uint64_t some[] = {1000, 50000, 4000000};
    static const unsigned percent[] = {95, 100, 101, 104, 130};
    int64_t *values = malloc(4000000 * 13 / 10 * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < 4000000 * 13 / 10; i++) values[i] = i;
    for (size_t i = 0; i < COUNT(some); i++)
        for (size_t j = 0; j < COUNT(percent); j++) {
            bool answers[COUNT(ways)];
            if (some[i] > 1000000 && percent[j] != 130) continue; /* skipped to save time */
            for (size_t way = 0; way < COUNT(ways); way++) {
                petal_filter *filter = rated_for(PETAL_SCHEME_BLOCKED, some[i]);
                ways[way](filter, values, some[i] * percent[j] / 100);
                answers[way] = petal_is_overfull(filter);
                require(answers[way] == answers[0] && answers[way] == stats_of(filter).overfull &&
                            answers[way] == is_so_when_loaded(filter),
                        "way %zu of %llu keys, %u %%", way, (unsigned long long)some[i],
                        percent[j]);
                petal_free(filter);
            }
            if (percent[j] <= 100 || percent[j] == 130)
                assert_int_equal(answers[0], percent[j] > 100);
        }
    free(values);
}

static void clearing_ends_it_and_merging_brings_it(void **state)
{
    (void)state;
    petal_filter *filter = rated_for(PETAL_SCHEME_CLASSIC, 1000),
                 *other = rated_for(PETAL_SCHEME_CLASSIC, 1000);
    add_numbers(filter, 0, 900);
    add_numbers(other, 1000, 900);
    assert_true(!petal_is_overfull(filter));
    assert_true(!stats_of(filter).overfull);
    assert_int_equal(petal_merge(filter, other, NULL), PETAL_OK);
    assert_true(petal_is_overfull(filter));
    assert_true(stats_of(filter).overfull);
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
    assert_true(!petal_is_overfull(filter));
    assert_true(!stats_of(filter).overfull);
    petal_free(filter);
    petal_free(other);
}

/* Merging a filter with itself raises `items` above the capacity without setting a bit, so the
 * cached result of petal_is_overfull() must be dropped. */
static void a_change_of_all_bits_is_seen_at_the_same_number_of_items(void **state)
{
    (void)state;
    petal_filter *filter = rated_for(PETAL_SCHEME_CLASSIC, 1000),
                 *fuller = rated_for(PETAL_SCHEME_CLASSIC, 1000);
    petal_filter *other = rated_for(PETAL_SCHEME_CLASSIC, 1000);
    for (int round = 0; round < 2; round++) add_numbers(filter, 0, 600);
    add_numbers(fuller, 1000, 1200);
    assert_false(petal_is_overfull(filter));
    assert_true(petal_is_overfull(fuller));
    assert_int_equal(petal_clear(other, NULL), PETAL_OK);
    assert_int_equal(petal_merge(other, fuller, NULL), PETAL_OK);
    assert_true(petal_is_overfull(other));
    assert_int_equal(petal_intersect(other, filter, NULL), PETAL_OK); /* 1,200 items, few bits */
    assert_int_equal(info_of(other).items, 1200);
    assert_false(petal_is_overfull(other));
    petal_free(filter);
    petal_free(fuller);
    petal_free(other);
}

static void remove_range(petal_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        require(petal_remove_i64(filter, (int64_t)(from + i)) == PETAL_OK, "%llu",
                (unsigned long long)(from + i));
}

static void removing_keys_ends_it_and_new_ones_bring_it_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) {
        uint64_t capacity = capacities[i], first = 0, next = 0;
        petal_filter *filter = rated_for(PETAL_SCHEME_COUNTING, capacity);
        for (int round = 0; round < 3; round++) {
            overfill(filter, capacity, next - first, &next);
            remove_range(filter, first, capacity / 2);
            first += capacity / 2;
            assert_false(petal_is_overfull(filter) || stats_of(filter).overfull);
        }
        petal_free(filter);
    }
}

/* Tests removing keys while `items` stays above the capacity, because it counts repeats. */
static void where_repeats_came_removing_keys_ends_it_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) {
        uint64_t capacity = capacities[i], next = 0;
        petal_filter *filter = rated_for(PETAL_SCHEME_COUNTING, capacity);
        overfill(filter, capacity, 0, &next);
        for (uint64_t n = capacity; n < 2 * capacity; n++)
            assert_int_equal(petal_add_i64(filter, (int64_t)(n / 2)), PETAL_SEEN);
        assert_true(petal_is_overfull(filter));
        remove_range(filter, 0, capacity / 2);
        assert_false(petal_is_overfull(filter));
        require_that(info_of(filter).items, >, capacity);
        petal_free(filter);
    }
}

/* A key that was added twice and removed once is still present and still counts as one key, so it
 * leaves no room for another key. */
static void removed_repeats_do_not_hide_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) {
        uint64_t capacity = capacities[i], in = capacity * 9 / 10, next = in;
        petal_filter *filter = rated_for(PETAL_SCHEME_COUNTING, capacity);
        for (uint64_t n = 0; n < 2 * in; n++) {
            add_number(filter, n / 2);
            require(!petal_is_overfull(filter), "key %llu of %llu", (unsigned long long)n / 2,
                    (unsigned long long)capacity);
        }
        remove_range(filter, 0, in);
        assert_int_equal(info_of(filter).items, in);
        overfill(filter, capacity, in, &next);
        petal_free(filter);
    }
}

static void without_a_capacity_no_filter_is_overfull_and_none_that_grows(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 1000;
    options.rate = 0.01;
    options.growth = true;
    petal_filter *filter = make(PETAL_SCHEME_CLASSIC, 500, 5, 0), *growing = create(&options);
    for (uint64_t i = 0; i < 1000; i++) add_number(filter, i);
    for (uint64_t i = 0; i < 5000; i++) add_number(growing, i);
    assert_true(stats_of(filter).saturated);
    assert_true(!stats_of(filter).overfull);
    assert_true(!petal_is_overfull(filter));
    assert_false(stats_of(growing).overfull || petal_is_overfull(growing));
    petal_free(filter);
    petal_free(growing);
}

/* ---- refusing more --------------------------------------------------------------------------- */

static petal_filter *refusing(uint32_t scheme, uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = scheme;
    options.capacity = capacity;
    options.rate = 0.01;
    options.refuse_overfull = true;
    return create(&options);
}

static uint64_t add_until_full(petal_filter *filter, uint64_t max)
{
    uint64_t next = 0;
    petal_status status = PETAL_OK;
    while (status >= 0 && next < max) status = petal_add_i64(filter, (int64_t)next++);
    assert_int_equal(status, PETAL_ERR_FULL);
    return next - 1;
}

static void a_filter_that_refuses_takes_no_more_keys_when_it_is_overfull(void **state)
{
    (void)state;
    for (size_t i = 0; i < capacity_count(); i++) FOR_NATIVE_SCHEMES(scheme)
        {
            uint8_t was_new[2] = {7, 7};
            size_t new_count = 7;
            int64_t values[2] = {-1, -2};
            uint64_t hashes[2] = {mix(1), mix(2)};
            petal_key keys[2] = {{"a", 1}, {"b", 1}};
            petal_error error;
            petal_filter *filter = refusing(scheme, capacities[i]);
            uint64_t in = add_until_full(filter, 3 * capacities[i]);
            require(in > capacities[i], "%llu", (unsigned long long)in);
            petal_filter *before = clone_of(filter);
            assert_int_equal(petal_add(filter, "a", 1), PETAL_ERR_FULL);
            assert_int_equal(petal_add_hash(filter, hashes[0]), PETAL_ERR_FULL);
            assert_int_equal(add_f64(filter, 0.5), PETAL_ERR_FULL);
            assert_int_equal(add_key_batch(filter, keys, 2, was_new, &new_count), PETAL_ERR_FULL);
            assert_int_equal(new_count, 0);
            assert_int_equal(add_number_batch(filter, values, 2, NULL, NULL), PETAL_ERR_FULL);
            assert_int_equal(add_hash_batch(filter, hashes, 2, NULL, NULL), PETAL_ERR_FULL);
            assert_true(petal_is_overfull(filter));
            assert_true(same_image(filter, before));
            assert_int_equal(petal_last_error(filter, &error), PETAL_ERR_FULL);
            /* A copy of the full filter must also refuse keys. */
            assert_int_equal(petal_add(before, "a", 1), PETAL_ERR_FULL);
            assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
            assert_int_equal(petal_add(filter, "a", 1), PETAL_OK);
            petal_free(before);
            petal_free(filter);
        }
}

/* No matter how the keys are divided into batches, the same key must be refused. */
static void a_batch_stops_at_the_key_that_would_be_refused_alone(void **state)
{
    (void)state;
    static int64_t values[2000];
    static uint8_t was_new[2000];
    for (int i = 0; i < 2000; i++) values[i] = i;
    FOR_NATIVE_SCHEMES(scheme)
    for (uint64_t first = 0; first < 1100; first += 1 + first / 3) {
        petal_filter *single = refusing(scheme, 1000), *batch = refusing(scheme, 1000);
        size_t new_count = 0, sum = 0;
        uint64_t in = add_until_full(single, 2000);
        assert_int_equal(add_number_batch(batch, values, first, NULL, NULL),
                         first > in ? PETAL_ERR_FULL : PETAL_OK);
        if (first > in) first = in;
        assert_int_equal(add_number_batch(batch, values + first, 2000 - first, was_new, &new_count),
                         PETAL_ERR_FULL);
        for (uint64_t i = 0; i < in - first; i++) sum += was_new[i];
        require(same_image(single, batch) && sum == new_count, "first %llu, %llu fit",
                (unsigned long long)first, (unsigned long long)in);
        petal_free(single);
        petal_free(batch);
    }
}

static void a_filter_is_opened_to_refuse_and_removing_makes_room(void **state)
{
    (void)state;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = rated_for(PETAL_SCHEME_COUNTING, 1000), *loaded = NULL;
    add_numbers(filter, 0, 1500);
    struct bytes image = serialized(filter);
    options.flags = PETAL_OPEN_LOAD;
    options.refuse_overfull = true;
    assert_int_equal(petal_load(image.data, image.size, &options, &loaded, NULL), PETAL_OK);
    assert_int_equal(petal_add_i64(loaded, 5000), PETAL_ERR_FULL);
    remove_range(loaded, 0, 700);
    assert_int_equal(petal_add_i64(loaded, 5000), PETAL_OK);
    free(image.data);
    petal_free(loaded);
    petal_free(filter);
}

static void builders_and_shared_filters_refuse_too(void **state)
{
    (void)state;
    static int64_t values[4000];
    petal_builder *builder = NULL;
    petal_inline hot = PETAL_INLINE_INIT;
    uint32_t workers = 2;
    petal_filter *built = refusing(PETAL_SCHEME_BLOCKED, 4000000),
                 *shared = refusing(PETAL_SCHEME_BLOCKED, 10000);
    assert_int_equal(petal_inline_begin_adding(built, &hot, NULL),
                     PETAL_ERR_UNSUPPORTED); /* a builder counts keys only when it finishes */
    assert_int_equal(petal_builder_create(built, &workers, &builder, NULL), PETAL_OK);
    petal_status status = PETAL_OK;
    for (int64_t from = 0; status == PETAL_OK && from < 6000000; from += 4000) {
        for (int64_t i = 0; i < 4000; i++) values[i] = from + i;
        status = build_batch(builder, workers - 1, batch_of_numbers(values, 4000));
    }
    assert_int_equal(status, PETAL_ERR_FULL);
    assert_int_equal(petal_builder_finish(builder, NULL), PETAL_ERR_FULL);
    assert_in_range(info_of(built).items, 4000001, 4000000 * 33 / 32 + 8000);
    petal_free(built);

    assert_int_equal(petal_allow_threads(shared, NULL), PETAL_OK);
    uint64_t in = add_until_full(shared, 20000);
    assert_in_range(in, 10001, 10000 * 33 / 32 + 1000);
    petal_free(shared);
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* Converts hex digits to bytes and returns the number of bytes. For example, "6162" gives two
 * bytes. "-" stands for the empty key. */
static size_t bytes_of_hex(const char *text, uint8_t bytes[16])
{
    char pair[3] = "";
    size_t size = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    for (size_t i = 0; i < size; i++) {
        memcpy(pair, text + 2 * i, 2);
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return size;
}

static void shards_are_those_of_the_vectors(void **state)
{
    (void)state;
    char line[256], hex[40];
    unsigned long long hash;
    unsigned shards, shard;
    int rows = 0;
    FILE *file = fopen("vectors/shards/shards.txt", "r");
    require(file != NULL, "cannot read the vectors; tests run from the top of the tree");
    while (fgets(line, sizeof line, file)) {
        uint8_t key[16];
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%39s %llx %u %u", hex, &hash, &shards, &shard),
                         4); /* NOLINT(cert-err34-c) */
        size_t size = bytes_of_hex(hex, key);
        require(petal_shard_of(key, size, shards) == shard &&
                    petal_shard_of_hash(hash, shards) == shard,
                "%s", line);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 105);
}

static void no_shards_are_taken_for_one(void **state)
{
    (void)state;
    assert_int_equal(petal_shard_of("key", 3, 0), 0);
    assert_int_equal(petal_shard_of("key", 3, 1), 0);
    assert_int_equal(petal_shard_of(NULL, 0, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_union_are_those_that_info_and_merge_give),
        cmocka_unit_test(a_filter_holds_all_of_itself_and_may_yet_differ_by_a_few_keys),
        cmocka_unit_test(a_part_is_contained_and_the_whole_is_not),
        cmocka_unit_test(intervals_hold_for_disjoint_sets_parts_and_equal_ones),
        cmocka_unit_test(intervals_are_as_wide_as_they_say),
        cmocka_unit_test(of_nothing_there_is_no_share),
        cmocka_unit_test(a_saturated_union_leaves_bounds_only),
        cmocka_unit_test(numbers_of_tiny_and_nearly_full_filters_are_sound),
        cmocka_unit_test(unlike_filters_are_not_compared_and_the_field_is_named),
        cmocka_unit_test(an_intersection_seems_to_hold_more_keys_than_are_common),
        cmocka_unit_test(partial_filters_made_alike_merge_to_the_bytes_of_one_build),
        cmocka_unit_test(what_is_made_like_another_has_no_metadata_and_can_fail_for_memory_only),
        cmocka_unit_test(a_filter_is_overfull_soon_after_its_capacity_and_never_before),
        cmocka_unit_test(repeats_make_no_filter_overfull),
        cmocka_unit_test(it_is_the_same_however_the_keys_came),
        cmocka_unit_test(clearing_ends_it_and_merging_brings_it),
        cmocka_unit_test(a_change_of_all_bits_is_seen_at_the_same_number_of_items),
        cmocka_unit_test(removing_keys_ends_it_and_new_ones_bring_it_back),
        cmocka_unit_test(where_repeats_came_removing_keys_ends_it_too),
        cmocka_unit_test(removed_repeats_do_not_hide_it),
        cmocka_unit_test(without_a_capacity_no_filter_is_overfull_and_none_that_grows),
        cmocka_unit_test(a_filter_that_refuses_takes_no_more_keys_when_it_is_overfull),
        cmocka_unit_test(a_batch_stops_at_the_key_that_would_be_refused_alone),
        cmocka_unit_test(a_filter_is_opened_to_refuse_and_removing_makes_room),
        cmocka_unit_test(builders_and_shared_filters_refuse_too),
        cmocka_unit_test(shards_are_those_of_the_vectors),
        cmocka_unit_test(no_shards_are_taken_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

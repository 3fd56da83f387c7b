/* overlap.c - proves that the estimates of petal_compare() are right on average and as accurate as
 * reported, for all layouts and six fill levels.
 *
 * Each case is tested with N seeds (4,000 in ./dev nightly, otherwise 400), and each seed with two
 * filters, A and B. The keys are divided into 7 equal parts: A contains 5 of them and B contains 4,
 * of which 2 are common. (In one lopsided case, B is small.) If an unbiased estimate has standard
 * deviation s, the mean over N seeds has standard error s / sqrt(N), and it must be within 4
 * standard errors of the true value. The share of the N 95 % intervals that contain the true value
 * has standard deviation sqrt(0.05 * 0.95 / N), which is 0.35 % for N = 4,000. This share must be
 * within 5.7 standard deviations of 95 %, which is 2 % for N = 4,000. */
#include "../amount.h"
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SEEDS nightly_amount(4000)

/* The numbers of keys only in A, only in B, and in both filters. */
struct overlap {
    uint64_t a, b, common;
};

struct layout {
    uint32_t scheme;
    uint32_t hashes, lines_per_key;
    const char *format; /* another library's format; NULL for Petal's own */
};

static const struct layout layouts[] = {
    {PETAL_SCHEME_CLASSIC, 7, 0, NULL},
    {PETAL_SCHEME_BLOCKED, 6, 1, NULL},
    {PETAL_SCHEME_BLOCKED, 13, 2, NULL},
};

/* Other libraries' layouts: with nearly uniform positions, with split blocks, and with lines. */
static const struct layout foreign_layouts[] = {
    {0, 7, 0, "guava"},
    {0, 8, 0, "parquet"},
    {0, 6, 0, "rocksdb"},
};

#define BITS 65536
static const double fills[] = {0.05, 0.2, 0.4, 0.6, 0.8, 0.95}; /* share of set bits in the union */

#define ESTIMATES 7
static const char *const names[ESTIMATES] = {"|A|",     "|B|",       "|A or B|", "|A and B|",
                                             "Jaccard", "of A in B", "of B in A"};

static void list_estimates(const petal_comparison *comparison, petal_estimate list[ESTIMATES])
{
    list[0] = comparison->items_a;
    list[1] = comparison->items_b;
    list[2] = comparison->union_items;
    list[3] = comparison->intersection;
    list[4] = comparison->jaccard;
    list[5] = comparison->containment_a_in_b;
    list[6] = comparison->containment_b_in_a;
}

static void list_truths(const struct overlap *of, double list[ESTIMATES])
{
    double a = (double)(of->a + of->common), b = (double)(of->b + of->common),
           c = (double)of->common;
    const double truths[ESTIMATES] = {a, b, a + b - c, c, c / (a + b - c), c / a, c / b};
    memcpy(list, truths, sizeof truths);
}

static petal_comparison compare(const petal_filter *a, const petal_filter *b)
{
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_compare(a, b, &comparison, &error), error);
    return comparison;
}

static void add_range(petal_filter *filter, uint64_t from, uint64_t count)
{
    static int64_t values[1 << 20];
    require(count <= COUNT(values), "%llu keys", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) values[i] = (int64_t)(from + i);
    require_that(add_number_batch(filter, values, (size_t)count, NULL, NULL), >=, 0);
}

/* Creates two filters and compares them. The keys are consecutive integers from `first` on: keys
 * only in A, then common keys, then keys only in B. */
static petal_comparison try_seed(const struct layout *layout, const struct overlap *of,
                                 uint64_t seed)
{
    petal_options options = options_of(layout->scheme, BITS, layout->hashes, layout->lines_per_key);
    uint64_t first = 0;
    if (layout->format) {
        options.scheme = PETAL_SCHEME_DEFAULT;
        options.format = layout->format;
        first = seed << 32; /* most formats have no seed, so use different keys instead */
    } else {
        options.seed = seed;
    }
    petal_filter *a = create(&options), *b = create(&options);
    add_range(a, first, of->a + of->common);
    add_range(b, first + of->a, of->common + of->b);
    petal_comparison comparison = compare(a, b);
    petal_free(a);
    petal_free(b);
    return comparison;
}

struct outcome {
    struct sample errors[ESTIMATES];
    int inside[ESTIMATES];
};

static void take_seed(struct outcome *out, const struct layout *layout, const struct overlap *of,
                      uint64_t seed)
{
    petal_estimate estimates[ESTIMATES];
    double truths[ESTIMATES];
    petal_comparison comparison = try_seed(layout, of, seed);
    list_estimates(&comparison, estimates);
    list_truths(of, truths);
    for (int i = 0; i < ESTIMATES; i++) {
        petal_estimate e = estimates[i];
        take(&out->errors[i], e.value - truths[i]);
        out->inside[i] += e.low <= truths[i] && truths[i] <= e.high;
        require(e.low <= e.value && e.value <= e.high, "seed %llu, %s: %g .. %g .. %g",
                (unsigned long long)seed, names[i], e.low, e.value, e.high);
    }
}

static void try_case(const struct layout *layout, double fill, const struct overlap *of)
{
    static struct outcome out;
    memset(&out, 0, sizeof out);
    for (uint64_t seed = 0; seed < SEEDS; seed++) take_seed(&out, layout, of, seed);
    printf(
        "# %s %u, k %u, fill %.2f, %llu + %llu keys and %llu in both: bias in standard errors, coverage:",
        layout->format ? layout->format : "scheme", layout->scheme, layout->hashes, fill,
        (unsigned long long)of->a, (unsigned long long)of->b, (unsigned long long)of->common);
    for (int i = 0; i < ESTIMATES; i++)
        printf(" %s %+.1f %.1f %%,", names[i],
               mean_of(&out.errors[i]) / sd_of(&out.errors[i]) * sqrt((double)SEEDS),
               100.0 * out.inside[i] / (double)SEEDS);
    printf("\n");
    double root = sqrt((double)SEEDS), allowed = 5.7 * sqrt(0.05 * 0.95) / root;
    for (int i = 0; i < ESTIMATES; i++) {
        double error = sd_of(&out.errors[i]) / root,
               covered = (double)out.inside[i] / (double)SEEDS;
        require(fabs(mean_of(&out.errors[i])) <= 4 * error, "%s: bias %g, standard error %g",
                names[i], mean_of(&out.errors[i]), error);
        require(fabs(covered - 0.95) <= allowed, "%s: %g of the intervals hold", names[i], covered);
    }
}

/* Returns the number of keys that set this share of the bits. */
static uint64_t keys_of_fill(const struct layout *layout, double fill)
{
    return (uint64_t)(log1p(-fill) / (layout->hashes * log1p(-1.0 / BITS)));
}

static void the_overlap_is_estimated_without_bias_and_its_intervals_hold_95_of_100(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (size_t j = 0; j < COUNT(fills); j++) {
            uint64_t part = keys_of_fill(&layouts[i], fills[j]) / 7;
            struct overlap even = {3 * part, 2 * part, 2 * part},
                           lopsided = {6 * part, part / 2, part / 2};
            try_case(&layouts[i], fills[j], j == 2 ? &lopsided : &even);
        }
}

static void so_it_is_for_the_filters_of_other_libraries(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(foreign_layouts); i++)
        for (size_t j = 1; j < COUNT(fills); j += 2) {
            uint64_t part = keys_of_fill(&foreign_layouts[i], fills[j]) / 7;
            struct overlap even = {3 * part, 2 * part, 2 * part};
            try_case(&foreign_layouts[i], fills[j], &even);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overlap_is_estimated_without_bias_and_its_intervals_hold_95_of_100),
        cmocka_unit_test(so_it_is_for_the_filters_of_other_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

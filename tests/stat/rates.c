/* rates.c - proves that filters have the false-positive rates that they report, for 10 to 10^7 keys
 * (10^7 only in ./dev nightly), rates from 1e-5 to 0.3, and all layouts.
 *
 * The test has three steps, none of which is affected by the noise of the previous step.
 *  1. The bits. The number X of set bits is compared with its exact mean and standard deviation.
 *     This step needs no queries, and would detect a wrong width, a weak hash or an unreachable
 *     part of the array.
 *  2. The rate given the bits. N absent keys are queried. Given the bits, the number of hits is
 *     binomially distributed with the exact rate p of these bits, so
 *     z = (hits - N p) / sqrt(N p (1 - p)) has a standard deviation of 1, whatever the variation
 *     between filters.
 *  3. The promise. The mean of p over all seeds must be within 5 standard errors of the model's
 *     rate, and at most 1.02 times the requested rate plus 4 standard errors.
 * |z| < 5 fails by chance with probability 6e-7. There are about 500 such tests, with fixed
 * seeds. */
#include "../amount.h"
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BATCH 4096
#define ABSENT ((uint64_t)1 << 40) /* integers from this value on are never added */

static const double asked_rates[] = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3};

static const struct size {
    uint64_t keys, seeds;
} sizes[] = {{10, 4000},  {100, 1000},  {1000, 200},  {10000, 40},
             {100000, 8}, {1000000, 3}, {10000000, 1}};

/* Calls `each` with the integers from .. from+count-1 in batches, and returns the sum of the
 * results. */
static uint64_t in_batches(petal_filter *filter, uint64_t from, uint64_t count,
                           size_t (*each)(petal_filter *, const petal_key *, size_t))
{
    static uint8_t bytes[BATCH][8];
    static petal_key keys[BATCH];
    uint64_t sum = 0;
    for (uint64_t done = 0; done < count;) {
        size_t size = count - done < BATCH ? (size_t)(count - done) : BATCH;
        for (size_t i = 0; i < size; i++) {
            petal_encode_i64((int64_t)(from + done + i), bytes[i]);
            keys[i] = (petal_key){bytes[i], 8};
        }
        sum += each(filter, keys, size);
        done += size;
    }
    return sum;
}

static size_t add_batch(petal_filter *filter, const petal_key *keys, size_t count)
{
    size_t new_count;
    assert_int_equal(add_key_batch(filter, keys, count, NULL, &new_count), PETAL_OK);
    return new_count;
}

static size_t ask_batch(petal_filter *filter, const petal_key *keys, size_t count)
{
    return contains_keys(filter, keys, count, NULL);
}

/* The results of all seeds for one layout, size and rate. */
struct cell {
    petal_info plan;
    uint64_t keys, seeds, queries; /* `queries` is the number per seed */
    double asked;
    struct moments bits;
    struct sample bits_z, rates; /* one value per seed */
    double sd_of_one;            /* standard deviation of a single filter's rate */
    double hits, expected_hits, variance_of_hits;
};

static char name_text[128];

static const char *name_of(const struct cell *cell)
{
    snprintf(name_text, sizeof name_text,
             "%s, %u lines per key, %llu keys, rate %g (m = %llu, k = %u)", cell->plan.scheme_name,
             cell->plan.lines_per_key, (unsigned long long)cell->keys, cell->asked,
             (unsigned long long)cell->plan.bits, cell->plan.hashes);
    return name_text;
}

/* Checks that the bits are spread evenly over the whole array. Compares the number of set bits in
 * each of 1,024 slices with its mean and standard deviation: |z| < 5.5, which fails by chance with
 * probability 4e-8 per slice. */
static void require_even_slices(const struct cell *cell, const uint8_t *payload)
{
    uint64_t unit = cell->plan.scheme == PETAL_SCHEME_BLOCKED ? 512 : 1,
             units = cell->plan.bits / unit;
    for (uint64_t i = 0; i < 1024; i++) {
        uint64_t from = units * i / 1024 * unit, to = units * (i + 1) / 1024 * unit;
        struct moments wanted = moments_of(&cell->plan, (double)cell->keys, (double)(to - from));
        double z = ((double)bits_in(payload, from, to) - wanted.mean) / wanted.sd;
        require(fabs(z) < 5.5, "%s: slice %llu of 1,024 has z = %.2f", name_of(cell),
                (unsigned long long)i, z);
    }
}

/* Checks the bits of the first seed's filter: the slices, the rate that the library reports, and
 * the variation of the rate between seeds. */
static void look_at_bits(struct cell *cell, const petal_filter *filter, const petal_info *info)
{
    double estimated = stats_of(filter).estimated_rate;
    struct bytes image = serialized(filter);
    struct rate own = rate_given_bits(info, payload_of(image), (double)cell->keys);
    double off = fabs(estimated - own.rate) / own.rate;
    if (cell->keys >= 1000000) require_even_slices(cell, payload_of(image));
    free(image.data);
    cell->sd_of_one = own.sd;
    /* Above 16 MiB, the library only samples lines, with an error below 1 %. */
    require(off < (info->bytes <= 1 << 24 ? 1e-9 : 0.01), "%s: stats say %g, the bits %g",
            name_of(cell), estimated, own.rate);
}

static void run_seed(struct cell *cell, uint64_t seed)
{
    petal_options options =
        options_of(cell->plan.scheme, cell->plan.bits, cell->plan.hashes, cell->plan.lines_per_key);
    options.seed = 1000 * cell->keys + seed;
    petal_filter *filter = create(&options);
    in_batches(filter, 0, cell->keys, add_batch);
    uint64_t found = in_batches(filter, 0, cell->keys, ask_batch);
    require(found == cell->keys, "%s, seed %llu: %llu false negatives", name_of(cell),
            (unsigned long long)options.seed, (unsigned long long)(cell->keys - found));
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    double rate = info_stats.estimated_rate,
           z = ((double)info_stats.bits_set - cell->bits.mean) / cell->bits.sd;
    if (seed == 0) look_at_bits(cell, filter, &info);
    take(&cell->bits_z, z);
    take(&cell->rates, rate);
    /* With few keys, X has few possible values and is not normally distributed, but its mean over
     * many seeds is. */
    require(cell->keys < 1000 || fabs(z) < 5.5,
            "%s, seed %llu: %llu bits are set, mean %.1f, sd %.1f", name_of(cell),
            (unsigned long long)options.seed, (unsigned long long)info_stats.bits_set,
            cell->bits.mean, cell->bits.sd);
    cell->hits += (double)in_batches(filter, ABSENT, cell->queries, ask_batch);
    cell->expected_hits += rate * (double)cell->queries;
    cell->variance_of_hits += rate * (1 - rate) * (double)cell->queries;
    petal_free(filter);
}

static void judge(const struct cell *cell)
{
    double seeds = (double)cell->seeds, rate = mean_of(&cell->rates),
           predicted = cell->plan.predicted_rate;
    double error = (seeds >= 40 ? sd_of(&cell->rates) : cell->sd_of_one) / sqrt(seeds);
    double bits_z = mean_of(&cell->bits_z) * sqrt(seeds), sd_of_hits = sqrt(cell->variance_of_hits);
    double asked_hits = cell->asked * (double)cell->queries * seeds;
    printf(
        "# %s: %llu seeds, bits z %+.2f, %.0f hits z %+.2f, rate / model %.4f +- %.4f, rate / asked %.4f\n",
        name_of(cell), (unsigned long long)cell->seeds, bits_z, cell->hits,
        (cell->hits - cell->expected_hits) / sd_of_hits, rate / predicted, error / predicted,
        rate / cell->asked);
    require(fabs(bits_z) < 5, "%s: bits z = %.2f over %llu seeds", name_of(cell), bits_z,
            (unsigned long long)cell->seeds);
    require(fabs(cell->hits - cell->expected_hits) < 5 * sd_of_hits + 5,
            "%s: %.0f hits, expected %.1f, sd %.1f", name_of(cell), cell->hits, cell->expected_hits,
            sd_of_hits); /* 5 more for cells that expect almost no hits */
    require(rate < 1.02 * cell->asked + 4 * error, "%s: %g, standard error %g", name_of(cell), rate,
            error);
    require(cell->hits < 1.02 * asked_hits + 4 * sqrt(asked_hits), "%s: %.0f hits, asked %.1f",
            name_of(cell), cell->hits, asked_hits);
    /* At lower rates, keys with equal patterns matter (2^-32 per key in a line), which the bits
     * don't show. */
    if (predicted > 1e-8)
        require(fabs(rate - predicted) < 5 * error, "%s: %g, model %g, standard error %g",
                name_of(cell), rate, predicted, error);
}

/* If the same filter is planned for several rates, only the lowest of these rates is tested. */
static void run_cell(uint32_t scheme, uint32_t lines, double asked, const struct size *size)
{
    static petal_info last;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_error error;
    struct cell cell = {
        .plan = PETAL_INFO_INIT, .keys = size->keys, .seeds = size->seeds, .asked = asked};
    options.scheme = scheme;
    options.lines_per_key = lines;
    options.capacity = size->keys;
    options.rate = asked;
    require_status(PETAL_OK, petal_plan(&options, &cell.plan, NULL, &error), error);
    bool known = cell.plan.bits == last.bits && cell.plan.hashes == last.hashes &&
                 cell.plan.capacity == last.capacity;
    last = cell.plan;
    if (known) return;
    cell.bits = moments_of(&cell.plan, (double)cell.keys, (double)cell.plan.bits);
    cell.queries = (uint64_t)(fmin(4e7, fmax(1e6, 1600 / asked)) / (double)size->seeds) + 1;
    for (uint64_t seed = 0; seed < cell.seeds; seed++) run_seed(&cell, seed);
    judge(&cell);
}

static void run_layout(uint32_t scheme, uint32_t lines)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(asked_rates); j++)
            if (sizes[i].keys < 10000000 || (is_nightly() && j % 2 == 1))
                run_cell(scheme, lines, asked_rates[j], &sizes[i]); /* skipped to save time */
}

static void classic_is_wrong_as_often_as_it_says(void **state)
{
    (void)state;
    run_layout(PETAL_SCHEME_CLASSIC, 0);
}

static void blocked_with_one_line_a_key_is_wrong_as_often_as_it_says(void **state)
{
    (void)state;
    run_layout(PETAL_SCHEME_BLOCKED, 1);
}

static void blocked_with_two_lines_a_key_is_wrong_as_often_as_it_says(void **state)
{
    (void)state;
    run_layout(PETAL_SCHEME_BLOCKED, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_is_wrong_as_often_as_it_says),
        cmocka_unit_test(blocked_with_one_line_a_key_is_wrong_as_often_as_it_says),
        cmocka_unit_test(blocked_with_two_lines_a_key_is_wrong_as_often_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

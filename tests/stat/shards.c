/* shards.c - proves that a set can be split into eight shards. The shards must have the same size,
 * each shard must have the false-positive rate of a single filter, and no shard may miss a key.
 *
 * If a key's shard were related to its position in the filter, the keys of a shard would cluster in
 * one part of the filter. For example, if the shard were mulhi64(fmix64(g), N), the keys of a shard
 * would share the high bits of fmix64(h), so their second lines would be close together. Therefore
 * all layouts are tested, and the rate is measured with absent keys that belong to the same
 * shard. */
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SHARDS 8
#define KEYS 400000 /* total in all shards; the keys are integers from 0 up */
#define ABSENT ((int64_t)1 << 40)

static uint32_t shard_of(int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return petal_shard_of(key, sizeof key, SHARDS);
}

/* The number of keys in a shard is binomially distributed. |z| < 4.5 fails by chance with
 * probability 7e-6 per shard. */
static void shards_are_even(void **state)
{
    (void)state;
    static const uint32_t shard_counts[] = {2, 3, 8, 100, 1000};
    for (size_t i = 0; i < COUNT(shard_counts); i++) {
        static uint64_t sizes[1000];
        uint32_t shards = shard_counts[i];
        memset(sizes, 0, sizeof sizes);
        for (int64_t value = 0; value < KEYS; value++) {
            uint8_t key[8];
            petal_encode_i64(value, key);
            uint32_t shard = petal_shard_of(key, sizeof key, shards);
            require(shard < shards, "key %lld of %u shards: %u", (long long)value, shards, shard);
            sizes[shard]++;
        }
        double mean = (double)KEYS / shards, sd = sqrt(mean * (1 - 1.0 / shards));
        for (uint32_t shard = 0; shard < shards; shard++)
            require(fabs((double)sizes[shard] - mean) < 4.5 * sd, "shard %u of %u has %llu keys",
                    shard, shards, (unsigned long long)sizes[shard]);
    }
}

struct cell {
    uint32_t scheme;
    uint32_t lines_per_key;
    double rate;
};

/* Creates filters with a capacity of the mean share plus six standard deviations, as in
 * docs/choosing.md. */
static void make_shards(const struct cell *cell, petal_filter *filters[SHARDS])
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = cell->scheme;
    options.lines_per_key = cell->lines_per_key;
    options.rate = cell->rate;
    options.capacity = KEYS / SHARDS + (uint64_t)(6 * sqrt(KEYS / SHARDS));
    for (uint32_t i = 0; i < SHARDS; i++) filters[i] = create(&options);
    for (int64_t value = 0; value < KEYS; value++)
        require(petal_add_i64(filters[shard_of(value)], value) >= 0, "key %lld", (long long)value);
}

static void require_rates(const struct cell *cell, petal_filter *filters[SHARDS])
{
    uint64_t asked = (uint64_t)fmin(4e7, 800 / cell->rate), hits = 0;
    double expected = 0, variance = 0;
    static uint64_t asked_of[SHARDS];
    memset(asked_of, 0, sizeof asked_of);
    for (int64_t value = ABSENT; value < ABSENT + (int64_t)asked; value++) {
        uint32_t shard = shard_of(value);
        asked_of[shard]++;
        hits += petal_contains_i64(filters[shard], value);
    }
    for (uint32_t i = 0; i < SHARDS; i++) {
        petal_info info = info_of(filters[i]);
        petal_stats info_stats = stats_of(filters[i]);
        double model = petal_predict_rate(&info, info.items);
        expected += model * (double)asked_of[i];
        variance += model * (1 - model) * (double)asked_of[i];
        require(!info_stats.overfull && fabs(info_stats.estimated_rate - model) < 0.1 * model,
                "shard %u: %g, model %g", i, info_stats.estimated_rate, model);
    }
    double z = ((double)hits - expected) / sqrt(variance);
    printf(
        "# scheme %d, %u lines per key: %llu of %llu absent keys pass, expected %.1f (z %+.2f), asked %g\n",
        cell->scheme, cell->lines_per_key, (unsigned long long)hits, (unsigned long long)asked,
        expected, z, cell->rate);
    require(fabs(z) < 5, "%llu of %llu absent keys pass, expected %.1f", (unsigned long long)hits,
            (unsigned long long)asked, expected);
}

static void eight_shards_keep_their_own_rates(void **state)
{
    (void)state;
    static const struct cell cells[] = {
        {PETAL_SCHEME_BLOCKED, 1, 0.01},  {PETAL_SCHEME_BLOCKED, 1, 0.001},
        {PETAL_SCHEME_BLOCKED, 2, 0.001}, {PETAL_SCHEME_BLOCKED, 2, 1e-4},
        {PETAL_SCHEME_CLASSIC, 0, 0.01},  {PETAL_SCHEME_CLASSIC, 0, 1e-4},
    };
    for (size_t i = 0; i < COUNT(cells); i++) {
        petal_filter *filters[SHARDS];
        make_shards(&cells[i], filters);
        for (int64_t value = 0; value < KEYS; value++)
            require(petal_contains_i64(filters[shard_of(value)], value), "false negative: %lld",
                    (long long)value);
        require_rates(&cells[i], filters);
        for (uint32_t shard = 0; shard < SHARDS; shard++) petal_free(filters[shard]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_even),
        cmocka_unit_test(eight_shards_keep_their_own_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* rates.c - proves for every format that neither the predicted rate nor the rate computed from the
 * bits ever changes.
 *
 * tests/stat/courses shows with thousands of filters that the numbers in the table are right. This
 * test fails if the library computes any other number. NAN means that the library doesn't know the
 * rate. `PETAL_UPDATE_VECTORS=1` prints a new table. */
#include "support.h"

#include <math.h>

#define SIZES 3
static const uint64_t sizes[SIZES] = {30, 100, 1000};

static const struct row {
    const char *format;
    double rate; /* the requested rate */
    double predicted[SIZES], of_bits[SIZES];
} rows[] = {
    {"petal", 0.01, {0.00029515, 0.00815617, 0.00873686}, {0.000221816, 0.0112214, 0.00851668}},
    {"petal",
     0.0001,
     {9.53558e-07, 2.57764e-05, 8.53746e-05},
     {2.72448e-06, 1.79631e-05, 0.000116751}},
    {"guava", 0.01, {NAN, 0.0113475, 0.010103}, {0.00905655, 0.0102095, 0.00973156}},
    {"guava", 0.0001, {NAN, 0.000309064, 0.00011982}, {0.000999262, 0.000301374, 0.000116846}},
    {"guava32", 0.01, {NAN, 0.010643, 0.0100326}, {0.00775879, 0.0124686, 0.0100516}},
    {"guava32", 0.0001, {NAN, 0.000203335, 0.000109163}, {0.000459459, 0.00025213, 0.000118626}},
    {"spark", 0.01, {NAN, 0.0120051, 0.0101688}, {0.0105469, 0.0152344, 0.00975633}},
    {"spark", 0.0001, {NAN, 0.000968214, 0.000185906}, {0.00279405, 0.0011716, 0.000189442}},
    {"spark-v1", 0.01, {NAN, 0.010643, 0.0100326}, {0.00780533, 0.0121472, 0.00974577}},
    {"spark-v1", 0.0001, {NAN, 0.000203335, 0.000109163}, {0.000353213, 0.000237054, 9.80561e-05}},
    {"oldpanda-py32", 0.01, {NAN, 0.010643, 0.0100326}, {0.00832458, 0.0111602, 0.00995341}},
    {"oldpanda-py32",
     0.0001,
     {NAN, 0.000203335, 0.000109163},
     {0.000418345, 0.000204451, 0.000111436}},
    {"oldpanda-go32", 0.01, {NAN, 0.010643, 0.0100326}, {0.00639801, 0.0110803, 0.00998139}},
    {"oldpanda-go32",
     0.0001,
     {NAN, 0.000203335, 0.000109163},
     {0.000399413, 0.000243594, 0.000118626}},
    {"parquet", 0.01, {0.000657389, 0.0105305, 0.0011553}, {0.000503878, 0.0119437, 0.00119604}},
    {"parquet",
     0.0001,
     {1.74944e-05, 8.98418e-06, 3.15873e-05},
     {5.48269e-06, 5.08905e-06, 3.71036e-05}},
    {"orc", 0.01, {NAN, 0.010643, 0.0100326}, {0.00612518, 0.012901, 0.00963656}},
    {"orc", 0.0001, {NAN, 0.000203335, 0.000109163}, {0.000465299, 0.000237999, 9.88125e-05}},
    {"orc-long", 0.01, {NAN, 0.010643, 0.0100326}, {0.0045668, 0.0106292, 0.0100798}},
    {"orc-long", 0.0001, {NAN, 0.000203335, 0.000109163}, {0.00067214, 0.000198051, 0.000110021}},
    {"redisbloom", 0.01, {NAN, 0.00474878, 0.00499478}, {0.00499111, 0.00456265, 0.00495537}},
    {"redisbloom", 0.0001, {NAN, 0.000210247, 6.68481e-05}, {0.000627251, 0.000253031, 6.3149e-05}},
    {"redisbloom-dump", 0.01, {NAN, 0.00474878, 0.00499478}, {0.00499111, 0.00456265, 0.00495537}},
    {"redisbloom-dump",
     0.0001,
     {NAN, 0.000210247, 6.68481e-05},
     {0.000627251, 0.000253031, 6.3149e-05}},
    {"valkey-bloom", 0.01, {NAN, 0.0113475, 0.0101382}, {0.0088015, 0.0125198, 0.00980727}},
    {"valkey-bloom",
     0.0001,
     {NAN, 0.000309064, 0.000120629},
     {0.000371957, 0.000237261, 0.000121117}},
    {"datasketches", 0.01, {NAN, 0.010643, 0.0100326}, {0.00470703, 0.0082889, 0.0104673}},
    {"datasketches",
     0.0001,
     {NAN, 0.000211511, 0.000110493},
     {0.000622031, 0.000229056, 0.00010596}},
    {"bits-and-blooms", 0.01, {NAN, 0.0100785, 0.0100438}, {0.010145, 0.0126587, 0.0102323}},
    {"bits-and-blooms",
     0.0001,
     {NAN, 0.000106612, 0.000101077},
     {0.000132956, 0.000119972, 0.000101246}},
    {"bits-and-blooms-json", 0.01, {NAN, 0.0100785, 0.0100438}, {0.010145, 0.0126587, 0.0102323}},
    {"bits-and-blooms-json",
     0.0001,
     {NAN, 0.000106612, 0.000101077},
     {0.000132956, 0.000119972, 0.000101246}},
    {"dcso", 0.01, {0.0104389, NAN, 0.0100486}, {0.00800505, 0.0144872, 0.00965926}},
    {"dcso", 0.0001, {0.000106678, 0.000102481, NAN}, {9.17771e-05, 7.00721e-05, 0.000105788}},
    {"dcso-gzip", 0.01, {0.0104389, NAN, 0.0100486}, {0.00800505, 0.0144872, 0.00965926}},
    {"dcso-gzip", 0.0001, {0.000106678, 0.000102481, NAN}, {9.17771e-05, 7.00721e-05, 0.000105788}},
    {"leveldb", 0.01, {NAN, 0.00961452, 0.00855405}, {0.00989497, 0.00780977, 0.00847605}},
    {"leveldb", 0.0001, {NAN, NAN, 8.61638e-05}, {0.000908203, 0.000223984, 8.72392e-05}},
    {"rocksdb", 0.01, {0.000689373, 0.00822972, 0.00870391}, {0.000684608, 0.0077745, 0.00875111}},
    {"rocksdb",
     0.0001,
     {1.50805e-06, 2.58565e-05, 7.03887e-05},
     {7.53418e-07, 1.31428e-05, 7.01408e-05}},
    {"bloom-filters", 0.01, {NAN, 0.0101573, 0.0100489}, {0.0054374, 0.0110745, 0.0107605}},
    {"bloom-filters",
     0.0001,
     {NAN, 0.000127866, 0.00010351},
     {0.000183859, 0.000150052, 9.85983e-05}},
    {"bloomfilter", 0.01, {NAN, 0.0101072, 0.00997947}, {0.00495515, 0.00913194, 0.00969488}},
    {"bloomfilter",
     0.0001,
     {NAN, 0.000126812, 0.000102063},
     {0.000153718, 0.000144586, 9.48626e-05}},
    {"js-tutorial", 0.01, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {"js-tutorial", 0.0001, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {"pybloom", 0.01, {0.0095654, 0.0101903, 0.0100339}, {0.009797, 0.0112374, 0.00938912}},
    {"pybloom",
     0.0001,
     {9.14969e-05, 0.000103843, 0.000100679},
     {5.35824e-05, 7.90829e-05, 0.000102215}},
    {"pybloom-scalable",
     0.01,
     {0.00853327, 0.00887774, 0.00901747},
     {0.00772864, 0.0101623, 0.00953265}},
    {"pybloom-scalable",
     0.0001,
     {9.14969e-05, 9.04137e-05, 9.07751e-05},
     {5.35824e-05, 9.62676e-05, 9.31305e-05}},
    {"hadoop", 0.01, {0.0101137, 0.0100505, 0.0100048}, {0.00775589, 0.00854549, 0.00981071}},
    {"hadoop",
     0.0001,
     {0.000100391, 0.000100169, 0.000100008},
     {7.74034e-05, 0.000100762, 0.000100268}},
    {"hbase", 0.01, {NAN, 0.010643, 0.0100701}, {0.0110543, 0.0104959, 0.00935222}},
    {"hbase", 0.0001, {NAN, 0.000211511, 0.0001115}, {0.000406053, 0.000180389, 0.000110599}},
    {"cassandra", 0.01, {NAN, 0.00934131, 0.00933942}, {0.00801331, 0.00929412, 0.0093561}},
    {"cassandra", 0.0001, {NAN, 0.000183477, 9.60106e-05}, {0.000374756, 0.000201628, 9.47291e-05}},
    {"cassandra-be", 0.01, {NAN, 0.00934131, 0.00933942}, {0.00801331, 0.00929412, 0.0093561}},
    {"cassandra-be",
     0.0001,
     {NAN, 0.000183477, 9.60106e-05},
     {0.000374756, 0.000201628, 9.47291e-05}},
    {"cassandra-2", 0.01, {NAN, 0.00934131, 0.00933942}, {0.0053067, 0.0100223, 0.00937974}},
    {"cassandra-2",
     0.0001,
     {NAN, 0.000183477, 9.60106e-05},
     {0.00021122, 0.000240859, 9.43923e-05}},
};

struct rates {
    double predicted, of_bits;
};

/* Plans a filter for `keys` keys, adds that many keys, and returns its rates. */
static struct rates rates_of(const char *format, double rate, uint64_t keys)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_info info = PETAL_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    petal_error error;
    options.format = format;
    options.capacity = keys;
    options.rate = rate;
    require_status(PETAL_OK, petal_create(&options, &filter, &error), error);
    /* Multiplying spreads the keys over all 64 bits. */
    for (uint64_t i = 0; i < keys; i++) petal_add_i64(filter, (int64_t)(i * 0x9e3779b97f4a7c15u));
    require_status(PETAL_OK, petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error), error);
    require_status(PETAL_OK, petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, &error), error);
    petal_free(filter);
    return (struct rates){petal_predict_rate(&info, keys), stats.estimated_rate};
}

static void print_rates(const double *rates, const char *end)
{
    for (int i = 0; i < SIZES; i++)
        printf(isnan(rates[i]) ? "%sNAN" : "%s%.6g", i ? ", " : "{", rates[i]);
    printf("}%s", end);
}

/* The numbers in the table have six digits, so they also match if another C library's log() differs
 * in the last bit. */
static void require_rate(double found, double wanted, const struct row *row, int size)
{
    require(isnan(wanted) ? isnan(found) : fabs(found - wanted) <= 1e-5 * wanted,
            "%s, rate %g, %llu keys: %.8g, not %.8g", row->format, row->rate,
            (unsigned long long)sizes[size], found, wanted);
}

static void rates_are_what_they_were(void **state)
{
    (void)state;
    bool updating =
        getenv("PETAL_UPDATE_VECTORS") != NULL; /* NOLINT(concurrency-mt-unsafe): one thread */
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct row found = {rows[r].format, rows[r].rate, {0}, {0}};
        for (int i = 0; i < SIZES; i++) {
            struct rates rates = rates_of(found.format, found.rate, sizes[i]);
            found.predicted[i] = rates.predicted;
            found.of_bits[i] = rates.of_bits;
            if (updating) continue;
            require_rate(rates.predicted, rows[r].predicted[i], &rows[r], i);
            require_rate(rates.of_bits, rows[r].of_bits[i], &rows[r], i);
        }
        if (!updating) continue;
        printf("    {\"%s\", %g, ", found.format, found.rate);
        print_rates(found.predicted, ", ");
        print_rates(found.of_bits, "},\n");
    }
}

static void every_format_that_is_made_has_rows(void **state)
{
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    (void)state;
    for (uint32_t place = 0; petal_format_at(place, &format); place++) {
        size_t r = 0;
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE)) continue;
        while (r < sizeof rows / sizeof *rows && strcmp(rows[r].format, format.name) != 0) r++;
        require(r < sizeof rows / sizeof *rows, "no rates of %s", format.name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_what_they_were),
        cmocka_unit_test(every_format_that_is_made_has_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

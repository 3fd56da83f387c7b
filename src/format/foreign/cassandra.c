/* cassandra.c - reads and writes Cassandra's Filter.db, the Bloom filter of an SSTable's partition
 * keys. The numbers in the header are big-endian.
 *
 *     0        4         8
 *     +--------+---------+-------------------+
 *     | k      | words w | w * 8 bytes       |
 *     +--------+---------+-------------------+
 *
 * Only the file name shows which version of Cassandra wrote the file:
 *
 *     cassandra      4.0 and later (SSTables na, nb, oa, ...)   plain bytes, bit i in byte i / 8
 *     cassandra-be   3.0 to 3.11 (ma to me)                     64-bit words, big-endian
 *     cassandra-2    1.2 to 2.2 (ia to lb)                      same, but keys set different bits
 *
 * docs/formats/cassandra.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/foreign/sizing.h"

#define HEADER_BYTES 8u

enum { AT_HASHES = 0, AT_WORDS = 4 };

/* ---- sizing ---------------------------------------------------------------------------------- */

/* The false-positive rates that Cassandra assumes: row b, column k, for b bits per key and k
 * probes. The rates are rounded to three digits. They come from "Bloom Filters - the math", based
 * on Fan, Cao, Almeida and Broder, "Summary Cache". */
#define MAX_BITS_PER_KEY 20u
#define MAX_PROBES 14u

static const double rates[MAX_BITS_PER_KEY + 1][MAX_PROBES] = {
    [2] = {0.393, 0.400},
    [3] = {0.283, 0.237, 0.253},
    [4] = {0.221, 0.155, 0.147, 0.160},
    [5] = {0.181, 0.109, 0.092, 0.092, 0.101},
    [6] = {0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638},
    [7] = {0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364},
    [8] = {0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229},
    [9] = {0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145},
    [10] = {0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819, 0.00846},
    [11] = {0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513, 0.00509},
    [12] = {0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329, 0.00314},
    [13] = {0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217, 0.00199, 0.00194},
    [14] = {0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146, 0.00129, 0.00121, 0.0012},
    [15] = {0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001, 0.000852, 0.000775, 0.000744},
    [16] = {0.0606, 0.0138, 0.005, 0.00239, 0.00139, 0.000935, 0.000702, 0.000574, 0.000505,
            0.00047, 0.000459},
    [17] = {0.0571, 0.0123, 0.00423, 0.00193, 0.00107, 0.000692, 0.000499, 0.000394, 0.000335,
            0.000302, 0.000287, 0.000284},
    [18] = {0.054, 0.0111, 0.00362, 0.00158, 0.000839, 0.000519, 0.00036, 0.000275, 0.000226,
            0.000198, 0.000183, 0.000176},
    [19] = {0.0513, 0.00998, 0.00312, 0.0013, 0.000663, 0.000394, 0.000264, 0.000194, 0.000155,
            0.000132, 0.000118, 0.000111, 0.000109},
    [20] = {0.0488, 0.00906, 0.0027, 0.00108, 0.00053, 0.000303, 0.000196, 0.00014, 0.000108,
            8.89e-05, 7.77e-05, 7.12e-05, 6.79e-05, 6.71e-05},
};

/* At this rate and above, Cassandra mixes up the number of probes and the number of bits: it uses 2
 * probes and 1 bit per key. */
#define EASIEST_RATE 0.393
#define HARDEST_RATE 6.71e-05
#define EXCESS_BITS 20u

static double rate_with(uint32_t bits_per_key, uint32_t probes)
{
    return rates[bits_per_key][probes - 1];
}

static uint32_t best_probes(uint32_t bits_per_key)
{
    uint32_t best = 1;
    for (uint32_t k = 2; k <= MAX_PROBES && rate_with(bits_per_key, k) > 0; k++)
        if (rate_with(bits_per_key, k) < rate_with(bits_per_key, best)) best = k;
    return best;
}

/* Chooses the fewest bits per key whose rate is low enough, and then the fewest probes whose rate
 * is low enough. */
static void choose(double rate, uint32_t *bits_per_key, uint32_t *probes)
{
    uint32_t b = 2;
    while (b < MAX_BITS_PER_KEY && rate_with(b, best_probes(b)) > rate) b++;
    uint32_t k = best_probes(b);
    while (k > 1 && rate_with(b, k - 1) <= rate) k--;
    *bits_per_key = rate >= EASIEST_RATE ? 1 : b;
    *probes = rate >= EASIEST_RATE ? 2 : k;
}

static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    uint32_t bits_per_key;
    if (rate < HARDEST_RATE)
        return petal_fail(error, PETAL_ERR_UNREACHABLE,
                          "Cassandra's lowest rate is 0.0000671; use that or a higher one");
    choose(rate, &bits_per_key, &shape->hashes);
    if (!checked_mul(keys, bits_per_key, &shape->bits) ||
        !checked_add(shape->bits, EXCESS_BITS, &shape->bits))
        shape->bits = UINT64_MAX; /* refused later */
    return PETAL_OK;
}

/* ---- the three formats ----------------------------------------------------------------------- */

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %u bytes); copy it again", HEADER_BYTES);
    uint32_t hashes = load32be(bytes + AT_HASHES), words = load32be(bytes + AT_WORDS);
    if (hashes < 1 || hashes > petal_scheme_find(self->scheme)->max_hashes)
        return petal_format_damaged(error, AT_HASHES, "an impossible number of hashes");
    if (words < 1 || words > INT32_MAX)
        return petal_format_damaged(error, AT_WORDS, "an impossible number of words");
    petal_status status =
        petal_format_check_size(HEADER_BYTES + (uint64_t)words * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {self->scheme, hashes, 0, (uint64_t)words * 64};
    petal_format_single(about, &shape, HEADER_BYTES);
    return PETAL_OK;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[HEADER_BYTES];
    const struct bit_array *array = &filter->layers->array;
    store32be(header + AT_HASHES, array->shape.hashes);
    store32be(header + AT_WORDS, (uint32_t)(array->shape.bits / 64));
    return petal_put_both(sink, header, sizeof header, array, error);
}

#define ROW(NAME, name_, fit_) \
    { \
        .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = PETAL_SCHEME_##NAME, \
        .hash = PETAL_HASH_CASSANDRA, .keys = "serialized partition key", .fit = (fit_), \
        .read = read, .size = UNLESS_READ_ONLY(size), .write = write \
    }

/* The bytes don't show which of the three formats they have. */
const struct format_def petal_format_cassandra = ROW(CASSANDRA, "cassandra", FIT_POSSIBLE);
const struct format_def petal_format_cassandra_be = ROW(CASSANDRA_BE, "cassandra-be", FIT_POSSIBLE);
const struct format_def petal_format_cassandra_2 = ROW(CASSANDRA_2, "cassandra-2", FIT_POSSIBLE);

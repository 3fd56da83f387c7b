/* leveldb.c - reads and writes one Bloom filter of a LevelDB table, as FilterPolicy::CreateFilter
 * writes it.
 *
 *     0                        size - 1
 *     +------------------------+---+
 *     | bits, at least 8 bytes | k |
 *     +------------------------+---+
 *
 * There is no magic number and no length. The code that extracts a filter from the table's filter
 * block must know where the filter ends. docs/formats/leveldb.md. */
#include "base/checked.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#define MIN_BITS 64u
#define MAX_BITS_PER_KEY 100u /* above 44, k no longer changes */

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    if (size_bytes < MIN_BITS / 8 + 1)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a filter has at least %u bytes); copy it again",
                             MIN_BITS / 8 + 1);
    uint64_t array_bytes = size_bytes - 1;
    uint8_t hashes = bytes[array_bytes];
    if (hashes == 0)
        return petal_format_damaged(error, array_bytes, "a filter has at least 1 hash");
    if (hashes > petal_scheme_leveldb.max_hashes)
        return petal_fail_at(
            error, PETAL_ERR_UNSUPPORTED, array_bytes,
            "cannot be queried: its last byte says %u hashes, and LevelDB reserves numbers above 30",
            hashes);
    if (array_bytes > petal_scheme_leveldb.max_bits / 8)
        return petal_fail_at(error, PETAL_ERR_LIMIT, 0,
                             "more than 2^32 bits, which LevelDB's 32-bit hash cannot reach");
    struct shape shape = {self->scheme, hashes, 0, array_bytes * 8};
    petal_format_single(about, &shape, 0);
    return PETAL_OK;
}

/* CreateFilter: k = (int)(bits_per_key * 0.69), from 1 to 30; m = max(64, n * bits_per_key),
 * rounded up to whole bytes. */
static petal_status shape_for(uint64_t keys, uint32_t bits_per_key, struct shape *shape,
                              petal_error *error)
{
    uint32_t hashes = (uint32_t)(bits_per_key * 0.69), max = petal_scheme_leveldb.max_hashes;
    uint64_t bits = 0;
    if (!checked_mul(keys, bits_per_key, &bits) || bits > petal_scheme_leveldb.max_bits)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "more than 2^32 bits, which LevelDB's 32-bit hash cannot reach");
    if (bits < MIN_BITS) bits = MIN_BITS;
    *shape = (struct shape){PETAL_SCHEME_LEVELDB,
                            hashes < 1     ? 1
                            : hashes > max ? max
                                           : hashes,
                            0, (bits + 7) / 8 * 8};
    return PETAL_OK;
}

/* Reports the lowest possible rate, rounded up to 3 digits. */
static petal_status refuse_rate(uint64_t keys, double rate, double lowest, petal_status status,
                                petal_error *error)
{
    if (lowest >= 1)
        return petal_fail(error, status,
                          "LevelDB's 32-bit hash is too short for %llu keys; split them",
                          (unsigned long long)keys);
    return petal_fail(
        error, status,
        "LevelDB's filters of %llu keys reach a rate of %.3g (%.3g of absent keys share the 32-bit hash of "
        "one), not %g",
        (unsigned long long)keys, lowest * 1.006, (double)keys * 0x1p-32, rate);
}

/* LevelDB's parameter is the bits per key, an integer: 10 for 1 %. This function chooses the
 * smallest number that reaches the rate, according to the textbook formula with LevelDB's k. It
 * takes into account that n / 2^32 of all absent keys have the same hash as one of the n keys. */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    if (keys == 0) keys = 1;
    double same_hash = (double)keys * 0x1p-32, lowest = 1;
    for (uint32_t bits_per_key = 1; bits_per_key <= MAX_BITS_PER_KEY; bits_per_key++) {
        if (shape_for(keys, bits_per_key, shape, NULL) != PETAL_OK)
            return refuse_rate(keys, rate, lowest,
                               same_hash < rate ? PETAL_ERR_LIMIT : PETAL_ERR_UNREACHABLE, error);
        double reached = petal_model_textbook_rate(bits_per_key, shape->hashes, 1) + same_hash;
        if (reached <= rate) return PETAL_OK;
        if (reached < lowest) lowest = reached;
    }
    return refuse_rate(keys, rate, lowest, PETAL_ERR_UNREACHABLE, error);
}

static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    petal_options own = *options;
    if (own.bits != 0 && own.bits < MIN_BITS) own.bits = MIN_BITS;
    return petal_size_plan(self, &own, about, error);
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    const struct bit_array *array = &filter->layers->array;
    uint8_t hashes = (uint8_t)array->shape.hashes;
    petal_status status = petal_put(sink, array->bytes, array->size_bytes, error);
    return status == PETAL_OK ? petal_put(sink, &hashes, sizeof hashes, error) : status;
}

/* One in eight arbitrary files ends with a byte from 1 to 30. So this evidence is too weak to
 * report a match. */
const struct format_def petal_format_leveldb = {
    .id = PETAL_FORMAT_LEVELDB,
    .name = "leveldb",
    .scheme = PETAL_SCHEME_LEVELDB,
    .hash = PETAL_HASH_LEVELDB,
    .fit = FIT_NO,
    .read = read,
    .plan = UNLESS_READ_ONLY(plan),
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

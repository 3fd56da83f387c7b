/* pybloom_scheme.c - the scheme of pybloom_live's partitioned array, which consists of k
 * consecutive slices of m / k bits each, without gaps. Probe i is bit (word i of the hash) mod (m /
 * k) of slice i. See docs/formats/pybloom.md.
 *
 * If a slice is smaller than 2^15 bits, the words of the hash have 16 bits; if it is smaller than
 * 2^31 bits, they have 32. So the remainder favors the first bits of a slice, by up to three to
 * two. This bias increases the rate by up to an eighth, and the model includes it. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/popcount.h"
#include "hash/foreign/pybloom.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

struct walk {
    const uint64_t *words;
    uint64_t from;
    struct divisor slice;
};

static inline uint64_t slice_of(const struct shape *shape)
{
    return shape->bits / shape->hashes;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){/* A division is cheap compared with a cryptographic hash. */
                         hash, 0, divisor_of(slice_of(&array->shape))};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = at->from + rest_of(*at->words++, at->slice);
    at->from += at->slice.by;
    return position;
}

#define WALK pybloom
#include "scheme/walk.inc"

static petal_status normalize(const struct scheme_def *self, struct shape *shape,
                              petal_error *error)
{
    petal_status status = petal_normalize_foreign(self, shape, error);
    if (status != PETAL_OK || shape->bits % shape->hashes == 0) return status;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "pybloom's slices have equal sizes, and %llu bits are not a multiple of %u",
                      (unsigned long long)shape->bits, shape->hashes);
}

/* ---- model ----------------------------------------------------------------------------------- */

/* Of the `values` values that a word can have, `low` + 1 select each of the first `favoured` bits
 * of a slice, and `low` select each of the remaining bits. */
struct favour {
    uint64_t favoured, low;
    double values;
};

static struct favour favour_of(uint64_t slice_bits)
{
    uint32_t chunk_bits = petal_pybloom_chunk_bits(slice_bits);
    if (chunk_bits == 64)
        return (struct favour){0, 1, (double)slice_bits}; /* the bias is less than 2^-32 */
    uint64_t values = (uint64_t)1 << chunk_bits;
    return (struct favour){values % slice_bits, values / slice_bits, (double)values};
}

/* Slices are independent, so the rate is the product of the probabilities that a probe hits a set
 * bit. */
static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    (void)self;
    uint64_t slice_bits = slice_of(shape);
    struct favour favour = favour_of(slice_bits);
    double high = (double)(favour.low + 1) / favour.values,
           low = (double)favour.low / favour.values;
    double hit = (double)favour.favoured * high * petal_model_hit(high, keys) +
                 (double)(slice_bits - favour.favoured) * low * petal_model_hit(low, keys);
    return petal_model_pow(hit, shape->hashes);
}

static uint64_t count_bits(const uint8_t *bytes, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (; from < to && from % 8 != 0; from++) count += test_bit(bytes, from) & 1;
    count += petal_popcount(bytes + from / 8, (to - from) / 8);
    for (from += (to - from) / 8 * 8; from < to; from++) count += test_bit(bytes, from) & 1;
    return count;
}

static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    uint64_t slice_bits = slice_of(&array->shape);
    struct favour favour = favour_of(slice_bits);
    double product = 1;
    (void)bits_set, (void)self, (void)layers;
    for (uint64_t from = 0; from < array->shape.bits; from += slice_bits) {
        uint64_t middle = from + favour.favoured;
        double high = (double)count_bits(array->bytes, from, middle);
        double low = (double)count_bits(array->bytes, middle, from + slice_bits);
        product *= (high * (double)(favour.low + 1) + low * (double)favour.low) / favour.values;
    }
    return product;
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_sqrt(shape->hashes) * petal_model_classic_sd(slice_of(shape), 1, keys);
}

const struct scheme_def petal_scheme_pybloom = {
    .id = PETAL_SCHEME_PYBLOOM,
    .name = "pybloom",
    WALKED(pybloom),
    .normalize = normalize,
    .counts_new_only = true,
    .max_hashes = PETAL_HASH_MAX_WORDS,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

/* classic.c - the scheme `classic`: k bits anywhere in m, the form with the fewest bits a key.
 *
 *     a = hash;  k times: position = mulhi64(a, m), then a = a * 0xDA942042E4DD58B5 mod 2^64
 *
 * The high bits of `a` choose the position, without a division. The multiplier is the 64-bit one of Steele and Vigna
 * ("Computationally easy, spectrally good multipliers", 2021), so successive high halves are as good as independent, where
 * plain double hashing has up to 5 times too many false positives in small filters. */
#include "base/bytes.h"
#include "base/error.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

#define STEP 0xDA942042E4DD58B5u
#define MAX_HASHES 64u

static inline bool test_bit(const uint8_t *bytes, uint64_t i)
{
    return bytes[i >> 3] >> (i & 7) & 1;
}

/* Sets bit i; tells whether it was clear. */
static inline bool set_bit(uint8_t *bytes, uint64_t i)
{
    uint8_t bit = (uint8_t)(1u << (i & 7)), old = bytes[i >> 3];
    bytes[i >> 3] = old | bit;
    return !(old & bit);
}

static bool always(void)
{
    return true;
}

static bool add(const struct bit_array *array, uint64_t hash)
{
    bool changed = false;
    for (uint32_t i = 0; i < array->shape.hashes; i++, hash *= STEP)
        changed |= set_bit(array->bytes, mulhi64(hash, array->shape.bits));
    return changed;
}

static bool contains(const struct bit_array *array, uint64_t hash)
{
    for (uint32_t i = 0; i < array->shape.hashes; i++, hash *= STEP)
        if (!test_bit(array->bytes, mulhi64(hash, array->shape.bits))) return false;
    return true;
}

/* In a batch the bytes of a group of keys are asked for before the first is needed, so that the misses overlap. */
#define GROUP 16u

static void fetch(const struct bit_array *array, const uint64_t *hashes, size_t count)
{
    for (size_t key = 0; key < count; key++) {
        uint64_t hash = hashes[key];
        for (uint32_t i = 0; i < array->shape.hashes; i++, hash *= STEP)
            __builtin_prefetch(array->bytes + (mulhi64(hash, array->shape.bits) >> 3));
    }
}

static size_t many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results,
                   bool (*one)(const struct bit_array *, uint64_t))
{
    size_t sum = 0;
    for (size_t from = 0; from < count; from += GROUP) {
        size_t group = count - from < GROUP ? count - from : GROUP;
        fetch(array, hashes + from, group);
        for (size_t i = from; i < from + group; i++) sum += results[i] = one(array, hashes[i]);
    }
    return sum;
}

static size_t add_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    return many(array, hashes, count, results, add);
}

static size_t contains_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    return many(array, hashes, count, results, contains);
}

static void touch(const struct bit_array *array, uint64_t hash, uint8_t *touched)
{
    for (uint32_t i = 0; i < array->shape.hashes; i++, hash *= STEP)
        touched[mulhi64(hash, array->shape.bits) / 8 / PETAL_BLOCK_BYTES] = 1;
}

static petal_status settle(struct shape *shape, petal_error *error)
{
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "lines a key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > MAX_HASHES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "classic takes 1 to %u hashes, not %u", MAX_HASHES, shape->hashes);
    if (shape->bits < 1) return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    if (shape->bits > petal_classic.max_bits)
        return petal_fail(error, PETAL_ERR_LIMIT, "more than 2^48 bits (32 TiB); use several filters");
    return PETAL_OK;
}

static double rate(const struct shape *shape, double keys)
{
    return petal_model_classic_rate(shape->bits, shape->hashes, keys);
}

static double rate_of_bits(const struct bit_array *array, uint64_t bits_set)
{
    double fill = (double)bits_set / (double)array->shape.bits, product = 1;
    for (uint32_t i = 0; i < array->shape.hashes; i++) product *= fill;
    return product;
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_classic_sd(shape->bits, shape->hashes, keys);
}

static const struct kernel generic = {"generic", always, add, contains, add_many, contains_many};
static const struct kernel *const kernels[] = {&generic, NULL};

const struct scheme_def petal_classic = {
    .id = PETAL_SCHEME_CLASSIC,
    .name = "classic",
    .kernels = kernels,
    .settle = settle,
    .touch = touch,
    .max_hashes = MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

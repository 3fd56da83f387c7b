/* fold.c - shrinks a filter that contains keys, without knowing the keys.
 *
 * A key's line is the high half of a product, floor(h * lines / 2^64), so larger hashes have later
 * lines. If the number of lines is divided by d, the key's new line is floor(line / d):
 *
 *     lines   0 1 2 | 3 4 5 | 6 7 8 | 9 10 11        12 lines, d = 3
 *     folded    0       1       2       3            line j is the union of lines 3j, 3j+1, 3j+2
 *
 * The bits within a line depend only on the low half of the hash. So folding gives exactly the bits
 * that the keys would have set in a filter of the smaller size. In the classic scheme, a line is
 * one bit. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "filter/permission.h"
#include "scheme/plan.h"

#include <float.h>
#include <math.h> /* NAN, isnan, macros */

/* ---- which filters --------------------------------------------------------------------------- */

bool petal_filter_can_fold(const petal_filter *filter)
{
    bool grows = filter->policy.kind == POLICY_GROWING && filter->layer_count == 1;
    return filter->scheme->fold_bits && (grows || petal_filter_is_single(filter));
}

static petal_status check_foldable(const petal_filter *filter, petal_error *error)
{
    if (petal_filter_can_fold(filter)) return PETAL_OK;
    if (petal_filter_rotates(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a window cannot be folded; make a smaller one");
    if (filter->scheme->counters)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "counters cannot be folded; drop the counts first, and fold the result");
    if (!filter->scheme->fold_bits)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a %s filter cannot be folded; build a smaller one from its keys",
                          filter->scheme->name);
    return petal_fail(
        error, PETAL_ERR_UNSUPPORTED,
        "the filter has grown, and its layers hold different keys; build a new one from the keys");
}

/* ---- how far to fold ------------------------------------------------------------------------- */

/* The shape of the folded filter. */
struct target {
    struct shape shape;
    uint64_t capacity, items;
    double rate;
};

static double own_rate(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_GROWING ? filter->policy.rate
                                                 : filter->layers->target_rate;
}

/* Finds the number of distinct keys. `items` is exact if no key was added twice, so it is used
 * unless the bits contradict it. */
static petal_status count_keys(const petal_filter *filter, bool by_bits, uint64_t *keys,
                               petal_error *error)
{
    petal_estimate distinct = petal_filter_estimate_distinct(filter);
    double items = (double)petal_layer_items(filter, 0);
    if (!(distinct.value <= DBL_MAX))
        return petal_fail(
            error, PETAL_ERR_UNREACHABLE,
            "every bit is set, so the number of keys is unknown; build a larger filter from the keys");
    bool agrees = items >= distinct.low && items <= distinct.high;
    *keys = agrees && !by_bits ? petal_layer_items(filter, 0) : (uint64_t)(distinct.value + 0.5);
    return PETAL_OK;
}

static petal_status aim_at_bits(const petal_filter *filter, uint64_t bits, struct target *target,
                                petal_error *error)
{
    uint64_t own = target->shape.bits;
    if (bits > own || own % bits != 0 || bits % filter->scheme->fold_bits != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%llu bits cannot be folded to %llu: give a divisor that is a multiple "
                          "of %u",
                          (unsigned long long)own, (unsigned long long)bits,
                          filter->scheme->fold_bits);
    target->shape.bits = bits;
    return PETAL_OK;
}

static petal_status aim_at_rate(const petal_filter *filter, const petal_fold_options *options,
                                struct target *target, petal_error *error)
{
    const struct shape own = target->shape;
    uint64_t keys;
    petal_status status = count_keys(filter, options->by_bits, &keys, error);
    if (status != PETAL_OK) return status;
    if (options->by_bits) target->items = keys;
    if (keys < options->capacity) keys = options->capacity;
    target->shape.bits = petal_plan_folded_bits(&own, keys, target->rate);
    target->capacity = keys;
    if (target->shape.bits) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_UNREACHABLE,
        "its rate at %llu keys is %.3g, above %.3g, and folding raises it; make a larger filter",
        (unsigned long long)keys, petal_scheme_rate(filter->scheme, &own, (double)keys),
        target->rate);
}

static petal_status check_options(const petal_fold_options *options, petal_error *error)
{
    if (options->rate != 0 && !(options->rate > 0 && options->rate < 1))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a false-positive rate must be above 0 and below 1, not %g",
                          options->rate);
    if (options->by_bits && options->bits != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bits fixes the size, so by_bits has no effect; leave one out");
    if (options->bits != 0 && options->capacity != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bits and capacity both fix the size; give one of them");
    return PETAL_OK;
}

static petal_status aim(const petal_filter *filter, const petal_fold_options *options,
                        struct target *target, petal_error *error)
{
    *target = (struct target){.shape = filter->layers->array.shape,
                              .items = petal_layer_items(filter, 0),
                              .rate = options->rate != 0 ? options->rate : own_rate(filter)};
    if (isnan(target->rate) && options->bits == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "the filter records no rate; say which one to keep, or how many bits");
    petal_status status = options->bits ? aim_at_bits(filter, options->bits, target, error)
                                        : aim_at_rate(filter, options, target, error);
    if (status != PETAL_OK || isnan(target->rate)) return status;
    uint64_t most = petal_plan_capacity(&target->shape, target->rate);
    if (target->capacity < most) target->capacity = most;
    if (target->capacity == 0) target->rate = NAN; /* no rate can be kept at the new size */
    return PETAL_OK;
}

/* ---- bits ------------------------------------------------------------------------------------ */

#define MAX_WORDS (PETAL_LINE_BYTES / 8)

/* ORs `count` consecutive lines into one line. If all lines are clear, writes nothing, so that
 * untouched pages stay untouched. */
static void unite_lines(uint8_t *to, const uint8_t *from, uint64_t count, uint32_t words)
{
    uint64_t united[MAX_WORDS] = {0}, any = 0;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < words; w++, from += 8) {
            uint64_t word; /* the byte order doesn't matter for bitwise operations */
            memcpy(&word, from, sizeof word);
            united[w] |= word;
        }
    for (uint32_t w = 0; w < words; w++) any |= united[w];
    if (any) memcpy(to, united, (size_t)words * 8);
}

/* Returns true if any of `count` bits starting at `first` is set. The array consists of whole
 * words. */
static bool any_bit(const uint8_t *bytes, uint64_t first, uint64_t count)
{
    uint64_t word = first / 64, last = (first + count - 1) / 64;
    uint64_t begin = UINT64_MAX << first % 64, end = UINT64_MAX >> (63 - (first + count - 1) % 64);
    if (word == last) return load64le(bytes + 8 * word) & begin & end;
    if (load64le(bytes + 8 * word) & begin) return true;
    while (++word < last)
        if (load64le(bytes + 8 * word)) return true;
    return load64le(bytes + 8 * last) & end;
}

static void fold_bits(uint8_t *to, const uint8_t *from, uint64_t bits, uint64_t divisor)
{
    for (uint64_t i = 0; i < bits; i += 64) {
        uint64_t word = 0;
        for (uint64_t j = 0; j < 64 && i + j < bits; j++)
            word |= (uint64_t)any_bit(from, (i + j) * divisor, divisor) << j;
        if (word) store64le(to + i / 8, word);
    }
}

static void fold_array(struct bit_array *to, const struct bit_array *from, uint32_t line_bits)
{
    uint64_t divisor = from->shape.bits / to->shape.bits, line_bytes = line_bits / 8;
    if (line_bits == 1) {
        fold_bits(to->bytes, from->bytes, to->shape.bits, divisor);
        return;
    }
    for (uint64_t i = 0; i < to->shape.bits / line_bits; i++)
        unite_lines(to->bytes + i * line_bytes, from->bytes + i * divisor * line_bytes, divisor,
                    line_bits / 64);
}

/* ---- the call -------------------------------------------------------------------------------- */

static petal_status make(const petal_filter *filter, const struct target *target,
                         petal_filter **made, petal_error *error)
{
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    petal_status status =
        petal_filter_new(&target->shape, 1, filter->hash->id, filter->hash_key.seed, secret,
                         &filter->allocator, made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(*made, error);
    if (status == PETAL_OK)
        status = petal_filter_set_metadata(*made, filter->metadata, filter->metadata_bytes, error);
    if (status == PETAL_OK) status = petal_filter_set_origin(*made, &filter->origin, error);
    if (status != PETAL_OK) return status;
    (*made)->layers->capacity = target->capacity;
    (*made)->layers->target_rate = target->rate;
    (*made)->layers->items = target->items;
    (*made)->key_type = filter->key_type;
    (*made)->refuse_overfull = filter->refuse_overfull;
    petal_filter_choose_strategy(*made);
    return PETAL_OK;
}

static petal_status fold(const petal_filter *filter, const petal_fold_options *options,
                         petal_filter **made, petal_error *error)
{
    struct target target;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_status status = check_options(options, error);
    if (status == PETAL_OK) status = check_foldable(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = aim(filter, options, &target, error);
    if (status == PETAL_OK) status = make(filter, &target, made, error);
    if (status != PETAL_OK) return status;
    fold_array(&(*made)->layers->array, &filter->layers->array, filter->scheme->fold_bits);
    return petal_filter_check_unchanged(filter, error);
}

petal_status petal_fold(const petal_filter *filter, const petal_fold_options *options,
                        petal_filter **folded, petal_error *error)
{
    petal_fold_options own = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *made = NULL;
    petal_status status = PETAL_OK;
    *folded = NULL;
    if (options)
        status = petal_sized_take(options, &own, sizeof own, "PETAL_FOLD_OPTIONS_INIT", error);
    if (status == PETAL_OK) status = fold(filter, &own, &made, error);
    if (status == PETAL_OK)
        *folded = made;
    else
        petal_free(made);
    return status;
}

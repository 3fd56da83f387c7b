/* estimate.c - predicts rates from the model, and estimates rates and numbers of keys from the
 * bits. */
#include "base/bytes.h"
#include "base/popcount.h"
#include "base/sized.h"
#include "filter/filter.h"
#include "scheme/model.h"
#include "scheme/static.h"

#include <float.h>
#include <math.h> /* NAN, a macro */
#include <string.h>

#define NORMAL_95_PERCENT \
    1.959964 /* 95 % of a normal distribution is within this number of standard deviations */

/* Returns the probability that a query passes this layer or an earlier layer. The formula stays
 * precise for tiny rates. */
static double either(double rate, double other)
{
    return rate + (1 - rate) * other;
}

/* Returns the model's rate of one layer at its capacity. Computing it takes microseconds, so it is
 * cached. */
static double predicted_rate_of(const petal_filter *filter, const struct layer *layer)
{
    _Atomic uint64_t *kept = (_Atomic uint64_t *)(uintptr_t)&layer->predicted;
    uint64_t bits = atomic_load_explicit(kept, memory_order_relaxed);
    double rate;
    if (layer->capacity == 0 && !filter->scheme->is_in_turn) return NAN;
    if (bits == 0) {
        rate = petal_scheme_rate(filter->scheme, &layer->array.shape, (double)layer->capacity);
        memcpy(&bits, &rate, sizeof bits);
        atomic_store_explicit(kept, bits, memory_order_relaxed);
    }
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

double petal_filter_predicted_rate(const petal_filter *filter, uint32_t layer)
{
    double rate = 0;
    if (layer == PETAL_ALL_LAYERS && filter->scheme->is_in_turn)
        layer = 0; /* all layers give the same answer */
    if (layer != PETAL_ALL_LAYERS) return predicted_rate_of(filter, &filter->layers[layer]);
    /* A time window may have fewer or more generations than planned. The rate is computed for the
     * planned number of generations, assuming that all of them are full. */
    uint32_t count =
        filter->policy.kind == POLICY_TIME ? filter->policy.generations : filter->layer_count;
    for (uint32_t i = 0; i < count; i++)
        rate = either(rate,
                      predicted_rate_of(filter, &filter->layers[i < filter->layer_count ? i : 0]));
    return rate;
}

double petal_filter_bits_per_key(const struct scheme_def *scheme, const struct shape *shape)
{
    return scheme->bits_per_key ? scheme->bits_per_key(shape) : shape->hashes;
}

static double items_of(const struct scheme_def *scheme, const struct shape *shape, double bits_set)
{
    return petal_model_items(bits_set, (double)shape->bits,
                             petal_filter_bits_per_key(scheme, shape));
}

/* Sums of the layers' estimates from their bits. */
struct tally {
    double items; /* infinite if a layer is full */
    /* The same sum, except that a saturated layer counts as if half a bit were clear, so that the
     * lower end is finite. */
    double nearly;
    double down, up; /* variances of the two ends; layers are independent, so variances add up */
    double estimated_rate;
};

/* Adds a layer's estimated number of distinct keys and its interval. The interval's ends correspond
 * to 1.96 sd fewer and 1.96 sd more set bits. */
static void tally_items(const struct scheme_def *scheme, const struct shape *shape,
                        uint64_t bits_set, struct tally *tally)
{
    double bits = (double)shape->bits,
           near = bits_set == shape->bits ? bits - 0.5 : (double)bits_set;
    double items = items_of(scheme, shape, near),
           slack = NORMAL_95_PERCENT * petal_scheme_bits_set_sd(scheme, shape, items);
    double down = items - items_of(scheme, shape, near - slack),
           up = items_of(scheme, shape, near + slack) - items;
    tally->items += items_of(scheme, shape, (double)bits_set);
    tally->nearly += items;
    tally->down += down * down;
    tally->up += up * up;
}

struct counts petal_filter_count(const struct scheme_def *scheme, const uint8_t *bytes,
                                 uint64_t size_bytes)
{
    if (scheme->counters) return scheme->counters->count(bytes, size_bytes);
    return (struct counts){petal_popcount(bytes, size_bytes), 0};
}

static petal_estimate items_of_tally(const struct tally *tally)
{
    return (petal_estimate){tally->items, tally->nearly - petal_model_sqrt(tally->down),
                            tally->items + petal_model_sqrt(tally->up)};
}

petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme,
                                           const struct shape *shape, uint64_t bits_set)
{
    struct tally tally = {0};
    tally_items(scheme, shape, bits_set, &tally);
    return items_of_tally(&tally);
}

petal_estimate petal_filter_estimate_distinct(const petal_filter *filter)
{
    struct tally tally = {0};
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct bit_array *array = &filter->layers[i].array;
        if (!array->bytes) return (petal_estimate){NAN, NAN, NAN};
        tally_items(filter->scheme, &array->shape,
                    petal_filter_count(filter->scheme, array->bytes, array->size_bytes).not_zero,
                    &tally);
    }
    return items_of_tally(&tally);
}

/* If the 95 % interval were used here, one in 40 filters that hold exactly as many keys as their
 * capacity would look overfull. So this uses 5 sd; the lower half of the 95 % interval is 1.96 sd.
 * The number of set bits is a sum over many bits and nearly normal, so one filter in 3.5 million
 * exceeds 5 sd. For 1,000 keys at 1 %, 5 sd is 4 % of the keys; for a million keys it is 0.13 %.
 *
 * If every bit is set, the estimate is infinite, and `low` is the estimate with half a clear bit.
 * If a filter has few bits and was planned for a rate near 1, its bits are often all set when it
 * reaches its capacity. So in this case `low` must exceed the capacity by a quarter. */
#define CERTAIN_SD 5.0
#define CERTAIN_IF_SATURATED 1.25
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity)
{
    double keys = (double)capacity;
    if (items->value > DBL_MAX) return items->low > CERTAIN_IF_SATURATED * keys;
    return items->value - (items->value - items->low) * (CERTAIN_SD / NORMAL_95_PERCENT) > keys;
}

/* If layers are tried in turn, each layer answers only for the hashes that the earlier layers pass
 * on. In that case, the number of keys can't be estimated from the bits, so the number in the
 * header is used. */
static void take_stats_in_turn(const petal_filter *filter, uint32_t layer, petal_stats *stats)
{
    double reach = 1, bits = 0, items = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct bit_array *array = &filter->layers[i].array;
        if (layer != PETAL_ALL_LAYERS && layer != i) continue;
        uint64_t set = petal_popcount(array->bytes, array->size_bytes);
        stats->bits_set += set;
        stats->estimated_rate += reach * petal_scheme_rate_of_bits(filter->scheme, array, set, 1);
        reach *= petal_static_bumped(array);
        bits += (double)array->size_bytes * 8;
        items += (double)filter->layers[i].items;
    }
    stats->fill = (double)stats->bits_set / bits;
    stats->saturated = (double)stats->bits_set == bits;
    stats->estimated_items = (petal_estimate){items, items, items};
}

void petal_filter_take_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats)
{
    struct tally tally = {0};
    uint64_t bits = 0, count = layer == PETAL_ALL_LAYERS ? filter->layer_count : 1;
    *stats = PETAL_STATS_INIT;
    if (filter->scheme->is_in_turn) {
        take_stats_in_turn(filter, layer, stats);
        return;
    }
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct bit_array *array = &filter->layers[i].array;
        if (layer != PETAL_ALL_LAYERS && layer != i) continue;
        struct counts counts = petal_filter_count(filter->scheme, array->bytes, array->size_bytes);
        bits += array->shape.bits;
        stats->bits_set += counts.not_zero;
        stats->saturated_counters += counts.saturated;
        tally_items(filter->scheme, &array->shape, counts.not_zero, &tally);
        tally.estimated_rate =
            either(tally.estimated_rate,
                   petal_scheme_rate_of_bits(filter->scheme, array, counts.not_zero, count));
    }
    stats->fill = (double)stats->bits_set / (double)bits;
    stats->saturated = stats->bits_set == bits;
    stats->estimated_items = items_of_tally(&tally);
    stats->estimated_rate = tally.estimated_rate;
}

double petal_predict_rate(const petal_info *theirs, uint64_t keys)
{
    petal_info own, *info = &own;
    if (petal_sized_take(theirs, &own, sizeof own, "PETAL_INFO_INIT", NULL) != PETAL_OK) return NAN;
    const struct scheme_def *scheme = petal_scheme_find(info->scheme);
    struct shape shape = {info->scheme, info->hashes, info->lines_per_key, info->bits};
    if (!scheme || info->layers != 1 || info->policy != PETAL_POLICY_NONE ||
        petal_normalize(&shape, NULL) != PETAL_OK || shape.bits != info->bits)
        return NAN;
    return petal_scheme_rate(scheme, &shape, (double)keys);
}

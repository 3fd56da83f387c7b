/* info.c - what is known of a filter: its parameters, and what its bits tell. */
#include "base/bytes.h"
#include "base/error.h"
#include "filter/content.h"
#include "filter/filter.h"
#include "filter/rotating.h"
#include "scheme/model.h"

#include <float.h>
#include <math.h> /* NAN and INFINITY, macros */

#define NORMAL_95_PERCENT 1.959964 /* a normal variable is within so many standard deviations in 95 of 100 cases */

/* The rate of passing this or one of the layers before: written so that a tiny one loses no digits. */
static double either(double rate, double other)
{
    return rate + (1 - rate) * other;
}

static double predicted_rate(const petal_filter *filter)
{
    double rate = 0;
    /* By time there may be fewer generations or more; what counts is as many as planned, all full. */
    uint32_t count = filter->policy.kind == POLICY_TIME ? filter->policy.generations : filter->layer_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *layer = &filter->layers[i < filter->layer_count ? i : 0];
        if (layer->capacity == 0) return NAN;
        rate = either(rate, filter->scheme->rate(&layer->array.shape, (double)layer->capacity));
    }
    return rate;
}

static void describe_policy(const petal_filter *filter, petal_info *info)
{
    const struct policy *policy = &filter->policy;
    info->policy = petal_policy_of(filter);
    info->growth_step = policy->step;
    info->growth_ratio = policy->ratio;
    info->window_keys = policy->window_keys;
    info->window_ms = policy->window_ms;
    info->clock_ms = policy->clock_ms;
    info->generations = policy->generations;
    info->key_type = filter->key_type;
    info->takes_empty_key = !filter->scheme->no_empty_key;
    info->live = filter->live;
    info->recovered_blocks = filter->recovered_blocks;
    info->blocks = filter->blocks_compared;
    if (petal_filter_rotates(filter)) info->capacity = policy->window_keys;
}

/* The parameters; of several layers, those of the last, which takes the new keys, and the sums of sizes. */
void petal_filter_describe(const petal_filter *filter, petal_info *info)
{
    const struct layer *last = &filter->layers[filter->layer_count - 1];
    *info = (petal_info)PETAL_INFO_INIT;
    info->scheme = filter->scheme->id;
    info->hash = filter->hash->id;
    info->hashes = last->array.shape.hashes;
    info->lines_per_key = last->array.shape.lines_per_key;
    info->layers = filter->layer_count;
    info->counter_bits = filter->scheme->counters ? filter->scheme->counters->bits : 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        info->bits += filter->layers[i].array.shape.bits;
        info->bytes += filter->layers[i].array.size_bytes;
    }
    info->seed = filter->hash_key.seed;
    info->keyed = filter->hash->keyed;
    info->key_id = info->keyed ? petal_secret_id(filter->hash_key.secret) : 0;
    info->capacity = petal_filter_capacity(filter);
    info->target_rate = filter->policy.kind != POLICY_NONE ? filter->policy.rate : filter->layers->target_rate;
    describe_policy(filter, info);
    info->predicted_rate = predicted_rate(filter);
    info->items = petal_filter_items(filter);
    info->estimated_items = info->estimated_items_low = info->estimated_items_high = info->estimated_rate = NAN;
    info->scheme_name = filter->scheme->name;
    info->hash_name = filter->hash->name;
}

double petal_filter_bits_a_key(const struct scheme_def *scheme, const struct shape *shape)
{
    return scheme->bits_a_key ? scheme->bits_a_key(shape) : shape->hashes;
}

static double items_of(const struct scheme_def *scheme, const struct shape *shape, double bits_set)
{
    return petal_model_items(bits_set, (double)shape->bits, petal_filter_bits_a_key(scheme, shape));
}

/* What the bits of the layers tell, added up. */
struct tally {
    double items;    /* infinite where a layer is full */
    double nearly;   /* the same, with half a bit of a full layer left: its lower end is finite */
    double down, up; /* variances towards the two ends; layers are independent, so they add up */
    double estimated_rate;
};

/* Number of distinct keys of a layer with its interval: the bits one would see 1.96 sd more or less of, turned into keys. */
static void tally_items(const struct scheme_def *scheme, const struct shape *shape, uint64_t bits_set,
                        struct tally *tally)
{
    double bits = (double)shape->bits, near = bits_set == shape->bits ? bits - 0.5 : (double)bits_set;
    double items = items_of(scheme, shape, near), slack = NORMAL_95_PERCENT * scheme->bits_set_sd(shape, items);
    double down = items - items_of(scheme, shape, near - slack), up = items_of(scheme, shape, near + slack) - items;
    tally->items += items_of(scheme, shape, (double)bits_set);
    tally->nearly += items;
    tally->down += down * down;
    tally->up += up * up;
}

struct counts petal_filter_count(const struct scheme_def *scheme, const uint8_t *bytes, uint64_t size_bytes)
{
    if (scheme->counters) return scheme->counters->count(bytes, size_bytes);
    return (struct counts){popcount_bytes(bytes, size_bytes), 0};
}

/* Positions that are set; they are added up in *info, and so are saturated counters. */
static uint64_t take_count(const struct scheme_def *scheme, const struct bit_array *array, petal_info *info)
{
    struct counts counts = petal_filter_count(scheme, array->bytes, array->size_bytes);
    info->bits_set += counts.not_zero;
    info->saturated_counters += counts.saturated;
    return counts.not_zero;
}

static petal_estimate items_of_tally(const struct tally *tally)
{
    return (petal_estimate){tally->items, tally->nearly - petal_model_sqrt(tally->down),
                            tally->items + petal_model_sqrt(tally->up)};
}

petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme, const struct shape *shape,
                                           uint64_t bits_set)
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
        tally_items(filter->scheme, &array->shape,
                    petal_filter_count(filter->scheme, array->bytes, array->size_bytes).not_zero, &tally);
    }
    return items_of_tally(&tally);
}

/* By the 95 % interval one of 40 filters that hold just their capacity would look overfull. The number of set bits is a
 * sum over many bits, near enough to normal for 5 sd to be exceeded by one filter in 3.5 million; the interval's lower
 * half is 1.96 sd. 5 sd are 4 % of the keys for 1,000 keys at 1 %, 0.13 % for a million.
 *
 * If every bit is set, the estimate is infinite, and `low` is what a filter with half a bit left would say. A few bits
 * planned for a rate near 1 are often all set at their capacity, so it must be a quarter above that. */
#define CERTAIN_SD 5.0
#define CERTAIN_IF_SATURATED 1.25
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity)
{
    double keys = (double)capacity;
    if (items->value > DBL_MAX) return items->low > CERTAIN_IF_SATURATED * keys;
    return items->value - (items->value - items->low) * (CERTAIN_SD / NORMAL_95_PERCENT) > keys;
}

static void tally_layer(const petal_filter *filter, const struct layer *layer, petal_info *info, struct tally *tally)
{
    const struct bit_array *array = &layer->array;
    uint64_t bits_set = take_count(filter->scheme, array, info);
    tally_items(filter->scheme, &array->shape, bits_set, tally);
    tally->estimated_rate = either(tally->estimated_rate, filter->scheme->rate_of_bits(array, bits_set));
}

static void take_stock(const petal_filter *filter, petal_info *info)
{
    struct tally tally = {0};
    for (uint32_t i = 0; i < filter->layer_count; i++) tally_layer(filter, &filter->layers[i], info, &tally);
    info->fill = (double)info->bits_set / (double)info->bits;
    info->saturated = info->bits_set == info->bits;
    petal_estimate items = items_of_tally(&tally);
    info->overfull = petal_filter_judge_overfull(filter, &items);
    info->estimated_items = items.value;
    info->estimated_items_low = items.low;
    info->estimated_items_high = items.high;
    info->estimated_rate = tally.estimated_rate;
}

void petal_filter_examine(const petal_filter *filter, petal_info *info)
{
    petal_filter_describe(filter, info);
    take_stock(filter, info);
    info->content_id_known = filter->content_recorded || (!filter->layers->blocks && !filter->live);
    if (info->content_id_known)
        info->content_id = filter->content_recorded ? filter->content_id : petal_content_id(filter);
}

double petal_predict_rate(const petal_info *info, uint64_t keys)
{
    const struct scheme_def *scheme = petal_scheme_find(info->scheme);
    struct shape shape = {info->scheme, info->hashes, info->lines_per_key, info->bits};
    if (!scheme || info->layers != 1 || info->policy != PETAL_POLICY_NONE || scheme->settle(&shape, NULL) != PETAL_OK ||
        shape.bits != info->bits)
        return NAN;
    return scheme->rate(&shape, (double)keys);
}

/* Of generations by time: those between which its keys came. The oldest had no more than a span, unless it stayed open
 * because there were as many as can be. */
static void describe_span(const petal_filter *filter, uint32_t layer, petal_layer *about)
{
    const struct policy *policy = &filter->policy;
    if (policy->kind != POLICY_TIME || policy->clock_ms == 0) return;
    uint64_t until = filter->layers[layer].until_ms, span = petal_rotating_span(policy);
    about->to_ms = until;
    about->from_ms = until >= span ? until - span + 1 : 0;
    if (layer > 0 && filter->layers[layer - 1].until_ms > about->from_ms)
        about->from_ms = filter->layers[layer - 1].until_ms;
}

petal_policy petal_policy_of(const petal_filter *filter)
{
    return (petal_policy)filter->policy.kind;
}

petal_key_type petal_key_type_of(const petal_filter *filter)
{
    return filter->key_type;
}

petal_status petal_get_layer(const petal_filter *filter, uint32_t layer, petal_layer *about, petal_error *error)
{
    petal_info info = PETAL_INFO_INIT;
    struct tally tally = {0};
    if (!about || about->struct_size != sizeof *about)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the layer is not set up with PETAL_LAYER_INIT");
    if (layer >= filter->layer_count)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the filter has %u layers", filter->layer_count);
    const struct layer *one = &filter->layers[layer];
    tally_layer(filter, one, &info, &tally);
    *about = (petal_layer)PETAL_LAYER_INIT;
    about->hashes = one->array.shape.hashes;
    about->bits = one->array.shape.bits;
    about->bytes = one->array.size_bytes;
    about->capacity = one->capacity;
    about->target_rate = one->target_rate;
    about->items = one->items;
    about->bits_set = info.bits_set;
    about->estimated_items = tally.items;
    about->estimated_rate = tally.estimated_rate;
    describe_span(filter, layer, about);
    return PETAL_OK;
}

const void *petal_metadata(const petal_filter *filter, size_t *metadata_bytes)
{
    if (metadata_bytes) *metadata_bytes = filter->metadata_bytes;
    return filter->metadata;
}

static petal_status set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes, petal_error *error)
{
    if (filter->close)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "metadata of a mapped or viewed filter is fixed; load a copy");
    petal_status status = petal_filter_prepare_write(filter, error);
    return status == PETAL_OK ? petal_filter_set_metadata(filter, metadata, metadata_bytes, error) : status;
}

petal_status petal_set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, set_metadata(filter, metadata, metadata_bytes, error), error);
}

const char *petal_kernel_name(const petal_filter *filter)
{
    return filter->kernel->name;
}

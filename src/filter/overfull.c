/* overfull.c - does a filter hold more distinct keys than it is rated for?
 *
 * `items` cannot tell, since it counts repeats; the bits can, but to count them takes time. They are counted when `items` first
 * passes the capacity, and again when so many more came that they could make up what was missing, but not before another
 * thirty-second of the capacity. A stream of repeats is so looked at rarely, and one of new keys is caught in time. Of a big
 * array an even sample is counted.
 *
 * Where keys can be removed, the number to look at goes down with `items`: those that went may have been repeats. An overfull
 * filter is looked at again when so many went that it may be so no more, but not before a thirty-second of the capacity. */
#include "base/checked.h"
#include "filter/filter.h"
#include "scheme/model.h"

#include <float.h>
#include <math.h> /* INFINITY, a macro */

#define LOOKS_A_CAPACITY 32
#define NORMAL_95_PERCENT 1.959964

/* A sample is 64 pages: that many page faults where the filter is a map, and 200,000 keys in a usual one. */
#define SAMPLE_PAGES UINT64_C(64)
#define PAGE_BYTES 4096u

static uint64_t sampled_bits_set(const struct scheme_def *scheme, const struct bit_array *array)
{
    uint64_t count = 0, stretch = array->size_bytes / SAMPLE_PAGES / PAGE_BYTES * PAGE_BYTES;
    for (uint64_t i = 0; i < SAMPLE_PAGES; i++)
        count += petal_filter_count(scheme, array->bytes + i * stretch, PAGE_BYTES).not_zero;
    return count;
}

/* The sample is taken for a filter of its own, and how many of the keys fell into it for chance. */
static petal_estimate estimate_by_sample(const struct scheme_def *scheme, const struct bit_array *array)
{
    struct shape shape = array->shape;
    shape.bits = SAMPLE_PAGES * PAGE_BYTES * 8 / (scheme->counters ? scheme->counters->bits : 1);
    petal_estimate items = petal_filter_estimate_items(scheme, &shape, sampled_bits_set(scheme, array));
    double scale = (double)array->shape.bits / (double)shape.bits, down = items.value - items.low;
    double slack = NORMAL_95_PERCENT * NORMAL_95_PERCENT * items.value;
    double low = items.value - petal_model_sqrt(down * down + slack);
    return (petal_estimate){scale * items.value, low > 0 ? scale * low : 0, INFINITY};
}

static petal_estimate estimate(const struct scheme_def *scheme, const struct bit_array *array)
{
    if (array->size_bytes > SAMPLE_PAGES * PAGE_BYTES) return estimate_by_sample(scheme, array);
    return petal_filter_estimate_items(scheme, &array->shape,
                                       petal_filter_count(scheme, array->bytes, array->size_bytes).not_zero);
}

/* How many more keys may come until it is time to look again. */
static uint64_t patience(const petal_estimate *items, uint64_t capacity)
{
    uint64_t least = capacity / LOOKS_A_CAPACITY, missing = capacity - (uint64_t)items->low;
    return missing > least ? missing : least;
}

/* How many keys must go until an overfull filter may be so no more; nobody can tell where every bit is set. */
static uint64_t relief(const petal_estimate *items, const struct layer *layer)
{
    uint64_t least = layer->capacity / LOOKS_A_CAPACITY;
    double excess = items->value > DBL_MAX ? 0 : items->low - (double)layer->capacity;
    return excess > (double)least && excess < (double)layer->items ? (uint64_t)excess : least;
}

petal_status petal_filter_weigh(petal_filter *filter)
{
    const struct layer *layer = filter->layers;
    if (filter->overfull) return PETAL_OK;
    filter->weigh_at = UINT64_MAX;
    if (filter->layer_count > 1 || filter->grow || layer->capacity == 0) return PETAL_OK;
    filter->weigh_at = layer->capacity;
    if (layer->items <= layer->capacity) return PETAL_OK;
    petal_estimate items = estimate(filter->scheme, &layer->array);
    filter->overfull = petal_filter_is_too_much(&items, layer->capacity);
    if (filter->overfull) {
        filter->relief = relief(&items, layer);
        return PETAL_OK;
    }
    filter->weigh_at = saturating_add(layer->items, patience(&items, layer->capacity));
    return PETAL_OK;
}

void petal_filter_lighten(petal_filter *filter, uint64_t removed)
{
    const struct layer *layer = filter->layers;
    if (filter->overfull && removed < filter->relief) {
        filter->relief -= removed;
    } else if (filter->overfull) {
        filter->overfull = false;
        filter->weigh_at = 0;
    } else if (filter->weigh_at > layer->capacity && filter->weigh_at < UINT64_MAX) {
        uint64_t ahead = filter->weigh_at - layer->capacity;
        filter->weigh_at -= removed < ahead ? removed : ahead;
    }
}

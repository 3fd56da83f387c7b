/* key_counts.c - computes a filter's items and capacity. */
#include "base/checked.h"
#include "filter/filter.h"

uint64_t petal_layer_items(const petal_filter *filter, uint32_t layer)
{
    uint64_t items = filter->layers[layer].items;
    return filter->sharing ? saturating_add(items, stripes_keys(&filter->sharing->stripes)) : items;
}

void petal_filter_settle_items(petal_filter *filter)
{
    if (!filter->sharing) return;
    filter->layers->items = petal_layer_items(filter, 0);
    for (uint32_t i = 0; i < PETAL_STRIPES; i++)
        atomic_store_explicit(&filter->sharing->stripes.words[i], 0, memory_order_relaxed);
}

uint64_t petal_filter_items(const petal_filter *filter)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        sum = saturating_add(sum, petal_layer_items(filter, i));
    return sum;
}

uint64_t petal_filter_capacity(const petal_filter *filter)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        sum = saturating_add(sum, filter->layers[i].capacity);
    return sum;
}

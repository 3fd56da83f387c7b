/* ours_inline.c - Petal's hot loop from petal_inline.h, inlined into the benchmark's loops and
 * compiled for this CPU. */
#include "bench.h"

#include <petal/petal_inline.h>

#include <stdlib.h>

static void *make(size_t keys, double bits_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.capacity = keys;
    options.bits = (uint64_t)((double)keys * bits_per_key);
    options.lines_per_key = 1;
    choose_hashes(&options);
    return petal_create(&options, &filter, NULL) == PETAL_OK ? filter : NULL;
}

static petal_inline begin(void *filter, bool for_adding)
{
    petal_inline hot = PETAL_INLINE_INIT;
    petal_status status = for_adding ? petal_inline_begin_adding(filter, &hot, NULL)
                                     : petal_inline_begin(filter, &hot, NULL);
    if (status != PETAL_OK) abort();
    return hot;
}

static size_t add_new(void *filter, const struct keys *keys)
{
    petal_inline hot = begin(filter, true);
    const int64_t *numbers = as_numbers(keys);
    size_t added = 0;
    for (size_t i = 0; i < keys->count; i++) added += petal_inline_add_i64(&hot, numbers[i]);
    petal_inline_end(filter, &hot);
    return added;
}

static void add(void *filter, const struct keys *keys)
{
    petal_inline hot = begin(filter, true);
    const int64_t *numbers = as_numbers(keys);
    for (size_t i = 0; i < keys->count; i++) petal_inline_add_i64(&hot, numbers[i]);
    petal_inline_end(filter, &hot);
}

static size_t count_found(void *filter, const struct keys *keys)
{
    petal_inline hot = begin(filter, false);
    const int64_t *numbers = as_numbers(keys);
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++) found += petal_inline_contains_i64(&hot, numbers[i]);
    return found;
}

static double bits(void *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return (double)info.bits;
}

static void drop(void *filter)
{
    petal_free(filter);
}

const struct contender INLINED(petal_inline)[] = {
    {"petal inline" COMPILER, NUMBERS_ONLY, make, add, NULL, count_found, add_new, bits, drop},
    {.name = NULL},
};

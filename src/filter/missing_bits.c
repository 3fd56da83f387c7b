/* missing_bits.c - see missing_bits.h. */
#include "filter/missing_bits.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/permission.h"

#include <string.h>

/* ---- what a filter without bits does --------------------------------------------------------- */

static bool contains(const struct bit_array *array, const uint64_t *hash)
{
    (void)array;
    (void)hash;
    return true;
}

static size_t contains_many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                            uint8_t *results)
{
    (void)array;
    (void)hashes;
    memset(results, 1, count);
    return count;
}

static uint8_t take_turn(const struct bit_array *array, const uint64_t *hash)
{
    (void)array, (void)hash;
    return TURN_IN;
}

static void take_turns(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *turns)
{
    (void)array, (void)hashes;
    memset(turns, TURN_IN, count);
}

/* The kernel of a filter without bits. Its other functions are never called. */
static const struct kernel absent_kernel = {.name = "none",
                                            .contains = contains,
                                            .contains_many = contains_many,
                                            .take_turn = take_turn,
                                            .take_turns = take_turns};

void petal_filter_note_bits(petal_filter *filter)
{
    bool all = petal_filter_check_present(filter, NULL) == PETAL_OK;
    if (all && filter->kernel != &absent_kernel) return;
    filter->kernel = all ? petal_scheme_kernel(filter->scheme) : &absent_kernel;
    filter->needs_permission = !all || filter->scheme->is_in_turn;
    petal_filter_choose_strategy(filter);
}

/* ---- bits that arrive ------------------------------------------------------------------------ */

petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error)
{
    uint64_t held = filter->layers[layer].array.size_bytes;
    uint64_t limit = petal_memory_limit(filter->memory_limit, 0);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (filter->layers[i].array.bytes)
            held = saturating_add(held, filter->layers[i].array.size_bytes);
    if (held > limit)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "the bits take %llu bytes of memory, the limit is %llu; if you trust the "
                          "header, raise it (options.memory_limit)",
                          (unsigned long long)held, (unsigned long long)limit);
    return petal_filter_alloc_layer(filter, &filter->layers[layer], error);
}

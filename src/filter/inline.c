/* inline.c - what petal_inline.h needs of a filter. */
#include "petal/petal_inline.h"

#include "base/checked.h"
#include "base/error.h"
#include "filter/filter.h"
#include "scheme/blocked_line.h"

static petal_status begin(petal_filter *filter, bool for_adding, petal_inline *hot, petal_error *error)
{
    const struct bit_array *array = &filter->layers->array;
    *hot = (petal_inline){0};
    if (filter->scheme != &petal_blocked || filter->layer_count != 1 || filter->hash->id != PETAL_HASH_XXH3 ||
        array->shape.lines_per_key != 1 || filter->grow)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the inline calls are for blocked filters with xxh3, one layer and one line per key");
    if (filter->sharing) /* whole lines are written, and would undo what another thread has just set */
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "the inline calls are not for filters that threads share");
    if (for_adding && filter->refuse_overfull)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "inline adding cannot refuse keys when the filter is overfull");
    petal_status status = for_adding ? petal_filter_may_write(filter, error) : PETAL_OK;
    if (status == PETAL_OK && for_adding) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK && for_adding) status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    if (for_adding) petal_filter_touch_all(filter);
    hot->lines = array->bytes;
    hot->line_count = array->shape.bits / PETAL_LINE_BITS;
    hot->patterns = petal_blocked_patterns[array->shape.hashes];
    hot->seed_flip = petal_xxh3_seed_flip(filter->hash_key.seed);
    return PETAL_OK;
}

petal_status petal_inline_begin(petal_filter *filter, bool for_adding, petal_inline *hot, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, begin(filter, for_adding, hot, error), error);
}

void petal_inline_end(petal_filter *filter, petal_inline *hot)
{
    filter->layers->items = saturating_add(filter->layers->items, hot->added);
    *hot = (petal_inline){0};
}

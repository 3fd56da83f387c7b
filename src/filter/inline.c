/* inline.c - implements the functions of petal_inline.h that the library contains. */
#include "petal/petal_inline.h"

#include "base/checked.h"
#include "base/error.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "scheme/blocked_line.h"

/* The loop is compiled into the program, so the program's struct must have exactly the layout that
 * this library uses. */
static petal_status check_version(const petal_inline *hot, petal_error *error)
{
    if (hot->struct_size == sizeof *hot) return PETAL_OK;
    return petal_fail(error, hot->struct_size ? PETAL_ERR_UNSUPPORTED : PETAL_ERR_ARGUMENT,
                      hot->struct_size
                          ? "the program was compiled with the petal_inline.h of another version; "
                            "compile it again, or use petal.h"
                          : "a struct was not initialised; use PETAL_INLINE_INIT");
}

static petal_status begin(const petal_filter *filter, petal_inline *hot, petal_error *error)
{
    const struct bit_array *array = &filter->layers->array;
    petal_status status = check_version(hot, error);
    if (status != PETAL_OK) return status;
    *hot = PETAL_INLINE_INIT;
    if (filter->scheme->id != PETAL_SCHEME_BLOCKED || !petal_filter_is_single(filter) ||
        filter->hash->id != PETAL_HASH_XXH3 || array->shape.lines_per_key != 1)
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "the inline calls are for blocked filters with xxh3, one layer and one line per key");
    /* The loop writes whole lines, which would overwrite another thread's changes. */
    if (filter->sharing)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the inline calls do not work after petal_allow_threads()");
    if (!array->bytes)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "the filter has no bits yet");
    /* the loop doesn't check blocks */
    if ((status = petal_guard_check_all(filter, error)) != PETAL_OK) return status;
    hot->lines = array->bytes;
    hot->line_count = array->shape.bits / PETAL_LINE_BITS;
    hot->patterns = petal_blocked_patterns[array->shape.hashes];
    hot->masks = petal_blocked_masks[array->shape.hashes][0];
    hot->seed_flip = filter->direct.flip;
    return PETAL_OK;
}

static petal_status begin_adding(petal_filter *filter, petal_inline *hot, petal_error *error)
{
    petal_status status = begin(filter, hot, error);
    if (status == PETAL_OK && filter->refuse_overfull)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "inline adding cannot refuse keys when the filter is overfull");
    if (status == PETAL_OK) status = petal_filter_may_write(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    petal_filter_touch_all(filter);
    hot->for_adding = 1;
    return PETAL_OK;
}

petal_status petal_inline_begin(const petal_filter *filter, petal_inline *hot, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, begin(filter, hot, error), error);
}

petal_status petal_inline_begin_adding(petal_filter *filter, petal_inline *hot, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, begin_adding(filter, hot, error), error);
}

void petal_inline_end(petal_filter *filter, petal_inline *hot)
{
    if (hot->for_adding) filter->layers->items = saturating_add(filter->layers->items, hot->added);
    *hot = PETAL_INLINE_INIT;
}

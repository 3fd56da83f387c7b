/* sharing.c - lets several threads add to a filter. scheme/stripes.h explains how the threads avoid
 * conflicts. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/permission.h"

bool petal_filter_can_share(const petal_filter *filter)
{
    return petal_scheme_kernel_shared(filter->scheme)->add_shared &&
           petal_filter_is_single(filter) && !filter->grow && filter->hash->words != 0 &&
           !filter->scheme->counts_new_only;
}

static petal_status share(petal_filter *filter, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (filter->sharing) return PETAL_OK;
    petal_status status = petal_filter_refuse_static(filter, error);
    if (status != PETAL_OK) return status;
    if (!petal_filter_can_share(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "several threads cannot add to a %s filter%s", filter->scheme->name,
                          !petal_filter_is_single(filter) ? " of several layers" : "");
    status = petal_filter_may_write(filter, error);
    /* All blocks are checked now, because the threads couldn't check them later without
     * conflicts. */
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status != PETAL_OK) return status;
    filter->sharing = petal_alloc(&filter->allocator, sizeof *filter->sharing);
    if (!filter->sharing) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    filter->kernel = petal_scheme_kernel_shared(filter->scheme);
    petal_filter_choose_strategy(filter);
    return PETAL_OK;
}

petal_status petal_allow_threads(petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, share(filter, error), error);
}

void petal_filter_stop_sharing(petal_filter *filter)
{
    if (!filter->sharing) return;
    petal_filter_settle_items(filter);
    petal_release(&filter->allocator, filter->sharing, sizeof *filter->sharing);
    filter->sharing = NULL;
    filter->kernel = petal_scheme_kernel(filter->scheme);
    petal_filter_choose_strategy(filter);
}

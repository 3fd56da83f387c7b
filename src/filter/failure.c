/* failure.c - keeps the first failure of a filter's calls, for callers that don't check each
 * status.
 *
 * Several threads that read a filter can fail at the same time. The first of these threads stores
 * its failure. Meanwhile, other threads see no failure yet, which is correct because the failing
 * call has not returned.
 *
 * Damage takes precedence over other failures, and the store records it. A query returns no status,
 * so a caller that checks afterwards must not get an older failure instead. */
#include "filter/filter.h"

enum { NO_FAILURE, BEING_KEPT, IS_KEPT };

/* Const filters also record failures. This is safe, because petal_filter_new() allocated every
 * filter, so no filter object is actually const. */
static struct failure *failure_of(const petal_filter *filter)
{
    return (struct failure *)(uintptr_t)&filter->failure;
}

petal_status petal_filter_note_error(const petal_filter *filter, petal_status status,
                                     const petal_error *error)
{
    int none = NO_FAILURE;
    struct failure *failure = failure_of(filter);
    if (status >= 0 || !atomic_compare_exchange_strong(&failure->state, &none, BEING_KEPT))
        return status;
    failure->error = *error;
    atomic_store(&failure->state, IS_KEPT);
    return status;
}

petal_status petal_last_error(const petal_filter *filter, petal_error *error)
{
    struct failure *failure = failure_of(filter);
    petal_error none = {PETAL_OK, 0, PETAL_NO_OFFSET, ""};
    const petal_error *first = atomic_load(&failure->state) == IS_KEPT ? &failure->error : &none;
    const struct store_def *store = filter->store;
    if (store && store->first_damage && store->first_damage(filter, error) != PETAL_OK)
        return PETAL_ERR_DAMAGED;
    if (error) *error = *first;
    return first->status;
}

/* permission.c - see permission.h. */
#include "filter/permission.h"

petal_status petal_filter_check_present(const petal_filter *filter, petal_error *error)
{
    if (filter->builder)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the static filter is not built yet; freeze it when all keys are in");
    for (uint32_t i = 0; i < filter->layer_count; i++)
        if (!filter->layers[i].array.bytes)
            return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                              "layer %u has no bits yet; supply them with petal_adopt_bits()", i);
    return PETAL_OK;
}

petal_status petal_filter_refuse_static(const petal_filter *filter, petal_error *error)
{
    if (!filter->scheme->is_in_turn) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "a %s filter never changes; build it again from all keys",
                      filter->scheme->name);
}

static petal_status check_changing(const petal_filter *filter, petal_error *error)
{
    petal_status status = petal_filter_refuse_static(filter, error);
    if (status != PETAL_OK) return status;
    if (filter->read_only)
        return petal_fail(error, PETAL_ERR_READ_ONLY, "the filter is open for reading only");
    status = petal_filter_check_owner(filter, error);
    return status == PETAL_OK ? petal_filter_check_present(filter, error) : status;
}

static petal_status ask_to_write(petal_filter *filter, petal_error *error)
{
    const struct store_def *store = filter->store;
    petal_status status = check_changing(filter, error);
    if (status != PETAL_OK || !store || !store->before_write) return status;
    return store->before_write(filter, error);
}

static petal_status ask_to_lower(petal_filter *filter, enum lowering lowering, petal_error *error)
{
    const struct store_def *store = filter->store;
    petal_status status = check_changing(filter, error);
    if (status != PETAL_OK || !store || !store->before_lowering) return status;
    return store->before_lowering(filter, lowering, error);
}

petal_status petal_filter_ask_to_write(petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, ask_to_write(filter, error), error);
}

petal_status petal_filter_ask_to_lower(petal_filter *filter, enum lowering lowering,
                                       petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, ask_to_lower(filter, lowering, error), error);
}

petal_status petal_filter_prepare_shared(petal_filter *filter, petal_error *error)
{
    if (petal_filter_has_permission(filter)) return PETAL_OK;
    /* Another thread may have held the lock when the process was forked. */
    petal_status owner = petal_filter_check_owner(filter, error);
    if (owner != PETAL_OK) return petal_filter_note_error(filter, owner, error);
    uint64_t word = stripe_take(&filter->sharing->asking);
    petal_status status = petal_filter_prepare_write(filter, error);
    stripe_give_back(&filter->sharing->asking, word);
    return status;
}

petal_status petal_filter_check_wanted(petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, filter->store->check_wanted(filter, error), error);
}

petal_status petal_filter_check_bits(const petal_filter *filter, petal_error *error)
{
    const struct store_def *store = filter->store;
    petal_status status = petal_filter_check_present(filter, error);
    if (status != PETAL_OK || !store || !store->check_bits) return status;
    return store->check_bits(filter, error);
}

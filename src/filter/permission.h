/* permission.h - performs the checks needed before a call uses the bits: whether the filter is
 * read-only, whether bits are missing, and whether its storage (struct store_def) permits the
 * change. */
#ifndef PETAL_FILTER_PERMISSION_H
#define PETAL_FILTER_PERMISSION_H

#include "base/error.h"
#include "filter/filter.h"

/* Returns PETAL_OK if every layer has bits. Otherwise returns PETAL_ERR_UNSUPPORTED with the number
 * of a layer without bits. */
petal_status petal_filter_check_present(const petal_filter *filter, petal_error *error);

/* Returns PETAL_OK, or PETAL_ERR_UNSUPPORTED if the filter never changes. */
petal_status petal_filter_refuse_static(const petal_filter *filter, petal_error *error);

/* Returns PETAL_OK, or PETAL_ERR_READ_ONLY if this process was forked from the one that opened the
 * file. */
static inline petal_status petal_filter_check_owner(const petal_filter *filter, petal_error *error)
{
    const struct store_def *store = filter->store;
    return store && store->check_owner ? store->check_owner(filter, error) : PETAL_OK;
}

/* Returns PETAL_OK, or PETAL_ERR_SECRET_MISSING if the filter was opened without its secret, and so
 * can't hash keys. */
petal_status petal_filter_check_secret(const petal_filter *filter, petal_error *error);

/* Requests permission to set bits. Returns PETAL_OK or the reason for the refusal, which is
 * recorded for petal_last_error(). Call this function only if bits will be set, because it marks a
 * file as dirty. */
petal_status petal_filter_ask_to_write(petal_filter *filter, petal_error *error);
petal_status petal_filter_ask_to_lower(petal_filter *filter, enum lowering lowering,
                                       petal_error *error);
static inline bool petal_filter_has_permission(const petal_filter *filter)
{
    return !atomic_load_explicit(&filter->needs_permission, memory_order_acquire) &&
           (!filter->fork_mark || *filter->fork_mark);
}
static inline petal_status petal_filter_prepare_write(petal_filter *filter, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (petal_filter_has_permission(filter)) return PETAL_OK;
    return petal_filter_ask_to_write(filter, error);
}

/* Like petal_filter_prepare_write(), for a filter that several threads add to. Only one of the
 * threads makes the request. */
petal_status petal_filter_prepare_shared(petal_filter *filter, petal_error *error);

/* Checks whether permission to set bits would be granted, without marking a map's file as dirty.
 * Use this function if it is not yet known which bits will change. */
static inline petal_status petal_filter_may_write(petal_filter *filter, petal_error *error)
{
    bool later = filter->layers->blocks && !filter->read_only && !PETAL_IS_READ_ONLY;
    return later ? petal_filter_check_owner(filter, error)
                 : petal_filter_prepare_write(filter, error);
}

/* Requests permission to lower bits, like petal_filter_prepare_write(). */
static inline petal_status petal_filter_prepare_lowering(petal_filter *filter,
                                                         enum lowering lowering, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (!filter->store && !filter->needs_permission) return PETAL_OK;
    return petal_filter_ask_to_lower(filter, lowering, error);
}

/* Checks that bits from a file match their sums. Call this function before the bits are saved
 * elsewhere or new sums are computed. */
petal_status petal_filter_check_bits(const petal_filter *filter, petal_error *error);

/* Call this function after reading bits from a file. Returns PETAL_ERR_BUSY if another process
 * has begun to change the bits in the meantime. */
static inline petal_status petal_filter_check_unchanged(const petal_filter *filter,
                                                        petal_error *error)
{
    const struct store_def *store = filter->store;
    return store && store->check_unchanged ? store->check_unchanged(filter, error) : PETAL_OK;
}

/* Records that the blocks of this hash will change. Returns false if petal_filter_check_wanted()
 * must check some of them first. */
static inline bool petal_filter_note_change(const petal_filter *filter, struct layer *layer,
                                            const uint64_t *hash)
{
    uint64_t bytes[PETAL_MAX_HASHES];
    bool is_unchecked = false;
    uint32_t count = layer->blocks ? filter->scheme->places(&layer->array, hash, bytes) : 0;
    for (uint32_t i = 0; i < count; i++) is_unchecked |= note_change(layer->blocks, bytes[i]);
    return !is_unchecked;
}

petal_status petal_filter_check_wanted(petal_filter *filter, petal_error *error);

#endif

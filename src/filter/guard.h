/* guard.h - no answer from bits that were not checked (PETAL_OPEN_VERIFY_ON_USE).
 *
 * A guarded filter stands on a petal file, and has a state for each of its blocks. Before a query
 * is answered, the blocks that the key lies in, of every layer, are compared with their checksums:
 * each block once, by the thread that comes first, or by several at the same time with the same
 * result. No lock is taken. As long as some blocks are unchecked, each key is tested:
 *
 *     key -> hash -> places in each layer -> state of their blocks -> the answer, as ever
 *                                                 | unchecked
 *                                                 +-> store->check_block()
 *
 * A filter is guarded if is_guarded is set, its layers have states of blocks, and its store can
 * check them. filter->unchecked counts those blocks. Once it is 0, one load of it is all that is
 * left. */
#ifndef PETAL_FILTER_GUARD_H
#define PETAL_FILTER_GUARD_H

#include "filter/probe.h"

/* WebAssembly maps no files: its filters are loaded, and so verified before. */
#ifdef __wasm__
#define PETAL_HAS_MAPS 0
#else
#define PETAL_HAS_MAPS 1
#endif

static inline bool petal_guard_stands(const petal_filter *filter)
{
    return PETAL_HAS_MAPS && filter->is_guarded;
}

/* Are there blocks that must be looked at before queries? */
static inline bool petal_guard_has_work(const petal_filter *filter)
{
    return atomic_load_explicit(&filter->unchecked, memory_order_relaxed) > 0;
}

static inline bool petal_guard_is_up(const petal_filter *filter)
{
    return petal_guard_stands(filter) && petal_guard_has_work(filter);
}

/* PETAL_OK: the answer for this key is one of sound bits. PETAL_ERR_DAMAGED, PETAL_ERR_IO: it
 * would not be, and the store has kept the damage for petal_last_error(). */
petal_status petal_guard_check(const petal_filter *filter, const struct probe *probe,
                               petal_error *error);

/* The same for the hashes of a piece: how many, from the first on, have sound bits. If that is not
 * all, *status and *error are of the next. */
size_t petal_guard_check_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                               petal_status *status, petal_error *error);

/* For calls that read all bits: PETAL_OK if none of them is left unchecked. Filters that are not
 * guarded are PETAL_OK. */
petal_status petal_guard_check_all(const petal_filter *filter, petal_error *error);

/* Notes the new state of a block that is sound, and of all of them. */
void petal_guard_pass(const petal_filter *filter, uint8_t *block, enum block_state state);
void petal_guard_pass_all(const petal_filter *filter, enum block_state state);

#endif

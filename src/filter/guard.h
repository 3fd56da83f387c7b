/* guard.h - no answer from bits that were not checked (PETAL_OPEN_VERIFY_ON_USE).
 *
 * A guarded filter stands on a petal file, and has a state for each of its blocks. Before a query is
 * answered, the blocks that the key lies in, of every layer, are compared with their checksums: each
 * block once, by the thread that comes first, or by several at the same time to the same end. No
 * lock is taken. While blocks are left that nobody has looked at, this is a test for each key:
 *
 *     key -> hash -> places in each layer -> state of their blocks -> the answer, as ever
 *                                                 | unchecked
 *                                                 +-> store->check_block()
 *
 * filter->unchecked counts those blocks. Once it is 0, one load of it is all that is left. */
#ifndef PETAL_FILTER_GUARD_H
#define PETAL_FILTER_GUARD_H

#include "filter/strategy.h"

/* Are there blocks that must be looked at before queries? */
static inline bool petal_guard_has_work(const petal_filter *filter)
{
    return atomic_load_explicit(&filter->unchecked, memory_order_relaxed) > 0;
}

static inline bool petal_guard_is_up(const petal_filter *filter)
{
    return filter->is_guarded && petal_guard_has_work(filter);
}

/* Guards the filter, whose layers have states of blocks and whose store can check them. */
void petal_guard(petal_filter *filter);

/* Puts the guard before the ways of one key; part of petal_filter_choose_strategy(). */
void petal_guard_stand_before(petal_filter *filter);

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

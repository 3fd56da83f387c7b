/* guard.h - ensures that no query is answered from unchecked bits (PETAL_OPEN_VERIFY_ON_USE).
 *
 * A guarded filter uses the bits of a petal file, and stores a state per block. Before a query is
 * answered, the blocks that contain the key's bits, in every layer, are compared with their
 * checksums. Each block is checked once, by the first thread that needs it. If several threads need
 * a block at the same time, each of them checks it, with the same result. There is no lock. While
 * some blocks are unchecked, each key is tested as follows:
 *
 *     key -> hash -> places in each layer -> state of their blocks -> the answer, as usual
 *                                                 | unchecked
 *                                                 +-> store->check_block()
 *
 * A filter is guarded if is_guarded is set, its layers have block states, and its store can check
 * blocks. filter->unchecked is the number of unchecked blocks. Once this number reaches 0, the
 * guard costs only one load. */
#ifndef PETAL_FILTER_GUARD_H
#define PETAL_FILTER_GUARD_H

#include "filter/probe.h"

/* In WebAssembly, files are loaded instead of mapped, so they are already verified. */
#ifdef __wasm__
#define PETAL_HAS_MAPS 0
#else
#define PETAL_HAS_MAPS 1
#endif

static inline bool petal_guard_stands(const petal_filter *filter)
{
    return PETAL_HAS_MAPS && filter->is_guarded;
}

/* Returns true if there are blocks that must be checked before queries. */
static inline bool petal_guard_has_work(const petal_filter *filter)
{
    return atomic_load_explicit(&filter->unchecked, memory_order_relaxed) > 0;
}

static inline bool petal_guard_is_up(const petal_filter *filter)
{
    return petal_guard_stands(filter) && petal_guard_has_work(filter);
}

/* Returns PETAL_OK if the blocks with this key's bits are sound. Otherwise returns
 * PETAL_ERR_DAMAGED or PETAL_ERR_IO, and the store has recorded the damage for
 * petal_last_error(). */
petal_status petal_guard_check(const petal_filter *filter, const struct probe *probe,
                               petal_error *error);

/* Like petal_guard_check(), for the hashes of a piece. Returns the number of leading keys with
 * sound bits. If this number is below `count`, *status and *error describe the next key's
 * failure. */
size_t petal_guard_check_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                               petal_status *status, petal_error *error);

/* Checks the remaining blocks, for calls that read all bits. Returns PETAL_OK if all blocks are
 * sound, or if the filter is not guarded. */
petal_status petal_guard_check_all(const petal_filter *filter, petal_error *error);

/* The first call marks one block as sound, and the second marks all blocks. */
void petal_guard_pass(const petal_filter *filter, uint8_t *block, enum block_state state);
void petal_guard_pass_all(const petal_filter *filter, enum block_state state);

#endif

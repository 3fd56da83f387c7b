/* budget.h - the memory limit of opening: an allocator in front of the caller's that holds no more
 * than the limit at any moment, so that it bounds every codec in one place, and before the memory
 * is taken. */
#ifndef PETAL_STORE_BUDGET_H
#define PETAL_STORE_BUDGET_H

#include "base/memory.h"

struct budget {
    petal_allocator inner, bounded; /* the caller's; and the one to use, which points back here */
    uint64_t limit_bytes, held_bytes;
    /* what would have been held with the first allocation that was too much; 0: none */
    uint64_t refused_bytes;
};

/* `limit_bytes` as in petal_open_options; `given_bytes` is the size of the file. The budget must
 * not move afterwards. */
void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes);

/* The status, or PETAL_ERR_LIMIT if it is the budget that memory was wanting for. */
petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error);

#endif

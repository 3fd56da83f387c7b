/* budget.h - the memory limit of opening: an allocator in front of the caller's that never holds
 * more than the limit. So it bounds every codec in one place, before memory is allocated. */
#ifndef PETAL_STORE_BUDGET_H
#define PETAL_STORE_BUDGET_H

#include "base/memory.h"

struct budget {
    petal_allocator inner, bounded; /* the caller's; the one to use, which points here */
    uint64_t limit_bytes, held_bytes;
    /* the total that the first refused allocation would have needed; 0: none */
    uint64_t refused_bytes;
};

/* `limit_bytes` as in petal_open_options; `given_bytes` is the size of the file. The struct must
 * stay at its address. */
void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes);

/* Returns the status, or PETAL_ERR_LIMIT if the budget was the reason for a failed allocation. */
petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error);

#endif

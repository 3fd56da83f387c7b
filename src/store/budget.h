/* budget.h - the memory limit when opening: an allocator that wraps the caller's and never holds
 * more than the limit. So one place limits all codecs, before memory is allocated. */
#ifndef PETAL_STORE_BUDGET_H
#define PETAL_STORE_BUDGET_H

#include "base/memory.h"

struct budget {
    petal_allocator inner, bounded; /* the caller's; the one to use, whose context is this struct */
    uint64_t limit_bytes, held_bytes;
    /* the total that the first refused allocation would have reached; 0: none was refused */
    uint64_t refused_bytes;
};

/* `limit_bytes` as in petal_open_options; `given_bytes` is the size of the file. The struct must
 * not be moved. */
void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes);

/* Returns the status, or PETAL_ERR_LIMIT if an allocation failed because of the budget. */
petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error);

#endif

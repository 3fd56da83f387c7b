/* budget.h - the memory limit for opening: an allocator that wraps the caller's, and refuses to
 * allocate more than the limit in total. So one place limits all codecs, before they allocate. */
#ifndef PETAL_STORE_BUDGET_H
#define PETAL_STORE_BUDGET_H

#include "base/memory.h"

struct budget {
    /* The caller's allocator, and the one to use, whose context is this struct. */
    petal_allocator inner, bounded;
    uint64_t limit_bytes, held_bytes;
    /* The total that the first refused allocation would have reached, or 0 if none was refused. */
    uint64_t refused_bytes;
};

/* `limit_bytes` is as in petal_open_options, and `given_bytes` is the size of the file. The struct
 * must not be moved. */
void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes);

/* Returns the status, or PETAL_ERR_LIMIT if an allocation failed because of the budget. */
petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error);

#endif

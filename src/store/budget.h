/* budget.h - enforces the memory limit for opening, with an allocator that wraps the caller's
 * allocator and refuses to let the total exceed the limit. So all codecs are limited in one place,
 * before they allocate. */
#ifndef PETAL_STORE_BUDGET_H
#define PETAL_STORE_BUDGET_H

#include "base/memory.h"

struct budget {
    /* `inner` is the caller's allocator. `bounded` is the limited allocator, which has this struct
     * as its context. */
    petal_allocator inner, bounded;
    uint64_t limit_bytes, held_bytes;
    /* The total that the first refused allocation would have reached, or 0 if no allocation was
     * refused. */
    uint64_t refused_bytes;
};

/* `limit_bytes` has the same meaning as memory_limit in petal_open_options, and `given_bytes` is
 * the size of the file. The struct must not be moved. */
void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes);

/* Returns `status`, or PETAL_ERR_LIMIT if an allocation failed because of the budget. */
petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error);

#endif

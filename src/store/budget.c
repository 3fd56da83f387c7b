/* budget.c - see budget.h. */
#include "store/budget.h"

#include "base/checked.h"
#include "base/error.h"

static void *alloc_within(void *context, size_t size_bytes)
{
    struct budget *budget = context;
    uint64_t needed = saturating_add(budget->held_bytes, size_bytes);
    if (needed > budget->limit_bytes) {
        if (!budget->refused_bytes) budget->refused_bytes = needed;
        return NULL;
    }
    void *memory = petal_alloc(&budget->inner, size_bytes);
    if (memory) budget->held_bytes = needed;
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    struct budget *budget = context;
    budget->held_bytes -= size_bytes;
    petal_release(&budget->inner, memory, size_bytes);
}

void petal_budget_begin(struct budget *budget, const petal_allocator *inner, uint64_t limit_bytes,
                        uint64_t given_bytes)
{
    *budget = (struct budget){.inner = *inner, .bounded = {alloc_within, release, budget}};
    budget->limit_bytes = petal_memory_limit(limit_bytes, given_bytes);
}

petal_status petal_budget_end(const struct budget *budget, petal_status status, petal_error *error)
{
    if (status != PETAL_ERR_MEMORY || !budget->refused_bytes) return status;
    return petal_fail(
        error, PETAL_ERR_LIMIT,
        "opening it takes %llu bytes of memory or more, the limit is %llu; if you trust the file, raise "
        "it (--memory-limit, options.memory_limit)",
        (unsigned long long)budget->refused_bytes, (unsigned long long)budget->limit_bytes);
}

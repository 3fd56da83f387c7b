/* memory.c - see memory.h. */
#include "base/memory.h"

#include <stdlib.h>

static void *default_alloc(void *context, size_t size_bytes)
{
    (void)context;
    return calloc(1, size_bytes);
}

static void default_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(memory);
}

petal_allocator petal_allocator_or_default(const petal_allocator *given)
{
    petal_allocator standard = {default_alloc, default_release, NULL};
    return given ? *given : standard;
}

void *petal_alloc(const petal_allocator *allocator, uint64_t size_bytes)
{
    if (size_bytes == 0 || size_bytes > PTRDIFF_MAX) return NULL;
    return allocator->alloc_zeroed(allocator->context, (size_t)size_bytes);
}

void petal_release(const petal_allocator *allocator, void *memory, uint64_t size_bytes)
{
    if (memory) allocator->release(allocator->context, memory, (size_t)size_bytes);
}

uint8_t *petal_alloc_lines(const petal_allocator *allocator, uint64_t size_bytes, void **base)
{
    *base = size_bytes <= UINT64_MAX - PETAL_LINE_BYTES ? petal_alloc(allocator, size_bytes + PETAL_LINE_BYTES) : NULL;
    if (!*base) return NULL;
    uintptr_t past = (uintptr_t)*base % PETAL_LINE_BYTES;
    return (uint8_t *)*base + (past ? PETAL_LINE_BYTES - past : 0);
}

void petal_release_lines(const petal_allocator *allocator, void *base, uint64_t size_bytes)
{
    petal_release(allocator, base, size_bytes + PETAL_LINE_BYTES);
}

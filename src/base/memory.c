/* memory.c - see memory.h. */
#include "base/memory.h"

#include <string.h>

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
    *base = size_bytes <= UINT64_MAX - PETAL_LINE_BYTES
                ? petal_alloc(allocator, size_bytes + PETAL_LINE_BYTES)
                : NULL;
    if (!*base) return NULL;
    uintptr_t past = (uintptr_t)*base % PETAL_LINE_BYTES;
    return (uint8_t *)*base + (past ? PETAL_LINE_BYTES - past : 0);
}

void petal_release_lines(const petal_allocator *allocator, void *base, uint64_t size_bytes)
{
    petal_release(allocator, base, size_bytes + PETAL_LINE_BYTES);
}

void petal_wipe(void *secret, size_t size_bytes)
{
    volatile uint8_t *bytes = secret;
    for (size_t i = 0; i < size_bytes; i++) bytes[i] = 0;
}

#define PAGE_BYTES 4096u

static const uint8_t zero_page[PAGE_BYTES];

static size_t page_of(uint64_t left)
{
    return left < PAGE_BYTES ? (size_t)left : PAGE_BYTES;
}

void petal_zero(uint8_t *bytes, uint64_t size_bytes)
{
    for (uint64_t i = 0; i < size_bytes; i += PAGE_BYTES)
        if (memcmp(bytes + i, zero_page, page_of(size_bytes - i)) != 0)
            memset(bytes + i, 0, page_of(size_bytes - i));
}

void petal_copy_to_zeroed(uint8_t *to, const uint8_t *from, uint64_t size_bytes)
{
    for (uint64_t i = 0; i < size_bytes; i += PAGE_BYTES)
        if (memcmp(from + i, zero_page, page_of(size_bytes - i)) != 0)
            memcpy(to + i, from + i, page_of(size_bytes - i));
}

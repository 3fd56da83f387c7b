/* pages.c - allocates memory with a chosen page size, so that designs can be compared with the same
 * page size. */
#define _GNU_SOURCE

#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define FROM ((size_t)4 << 20)

/* Returns the size of a mapping that contains an aligned part of the requested size, wherever the
 * mapping starts. */
static size_t mapped_size(size_t size_bytes)
{
    return (size_bytes + 2 * HUGE_PAGE) & ~(HUGE_PAGE - 1);
}

/* A 64-byte line of a filter must not straddle two cache lines, so the memory must be aligned, as
 * whole pages are. */
static void *take_plain(size_t size_bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, size_bytes ? size_bytes : 1) != 0) return NULL;
    return memset(memory, 0, size_bytes);
}

/* Maps more than needed, and immediately unmaps everything outside the aligned part. */
void *take_pages(size_t size_bytes, bool huge)
{
    if (size_bytes < FROM) return take_plain(size_bytes);
    size_t size = mapped_size(size_bytes);
    uint8_t *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0) munmap(start, before);
    munmap(start + size - (HUGE_PAGE - before), HUGE_PAGE - before);
#if defined(MADV_HUGEPAGE)
    madvise(start + before, size - HUGE_PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)huge;
#endif
    return start + before;
}

void drop_pages(void *memory, size_t size_bytes)
{
    if (size_bytes < FROM)
        free(memory);
    else
        munmap(memory, mapped_size(size_bytes) - HUGE_PAGE);
}

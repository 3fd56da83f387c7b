/* memory.c - see memory.h. */
#define _DEFAULT_SOURCE /* madvise() */
#include "memory.h"

#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct totals totals;

/* 2 MiB pages (bf.huge-pages). Bits are read at random, and with small pages each read also misses
 * the TLB. But the first key that touches such a page waits until the kernel has zeroed 2 MiB. The
 * kernel may even have to make room for them, which took up to 170 ms when measured. */
enum { HUGE_PAGE_BYTES = 2 << 20 };
static void want_huge_pages(void *memory, size_t size_bytes, int wanted)
{
#ifdef MADV_HUGEPAGE /* Linux */
    uintptr_t page = HUGE_PAGE_BYTES, begin = (uintptr_t)memory;
    uintptr_t from = (begin + page - 1) & ~(page - 1), to = (begin + size_bytes) & ~(page - 1);
    if (config.huge_pages && memory && from < to)
        (void)madvise((void *)from, to - from, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

/* Memory of at least this size is cleared by asking the kernel to drop its pages, which then read
 * as zeros. Writing zeros would block the server for seconds per gigabyte. */
enum { DROPPED_BYTES = 256 << 10 };

/* Drops whole pages. Returns false if they are unchanged. */
static int drop_pages(uintptr_t from, uintptr_t to)
{
#ifdef __linux__ /* on other systems dropped pages may keep their contents */
    return madvise((void *)from, to - from, MADV_DONTNEED) == 0;
#else
    return from == to;
#endif
}

static void *clear(void *memory, size_t size_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory,
              end = begin + size_bytes, from = (begin + page - 1) & ~(page - 1),
              to = end & ~(page - 1);
    if (size_bytes < DROPPED_BYTES || !drop_pages(from, to)) return memset(memory, 0, size_bytes);
    memset(memory, 0, from - begin);
    memset((void *)to, 0, end - to);
    return memory;
}

/* Redis 7.0 has no TryCalloc, and its Calloc aborts the server if memory runs out. Memory from any
 * of these calls counts towards maxmemory. */
static void *server_zeroed(size_t size_bytes)
{
    if (server.TryCalloc) return server.TryCalloc(1, size_bytes);
    void *memory = server.TryAlloc ? server.TryAlloc(size_bytes) : server.Alloc(size_bytes);
    return memory ? clear(memory, size_bytes) : NULL;
}

void *memory_zeroed(size_t size_bytes)
{
    void *memory = server_zeroed(size_bytes);
    if (memory) memory_take(memory, size_bytes);
    return memory;
}

void memory_free(void *memory, size_t size_bytes)
{
    if (!memory) return;
    atomic_fetch_sub(&totals.bytes, size_bytes);
    want_huge_pages(memory, size_bytes,
                    0); /* otherwise the advice would still apply when the memory is reused */
    server.Free(memory);
}

void memory_take(void *memory, size_t size_bytes)
{
    want_huge_pages(memory, size_bytes, 1);
    atomic_fetch_add(&totals.bytes, size_bytes);
}

int memory_over_limit(uint64_t held_bytes, uint64_t more_bytes)
{
    uint64_t limit = (uint64_t)config.memory_limit;
    return limit && (more_bytes > limit || held_bytes > limit - more_bytes);
}

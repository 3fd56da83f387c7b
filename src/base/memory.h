/* memory.h - memory from the caller's allocator, and the 64-byte lines that make up bit arrays. */
#ifndef PETAL_BASE_MEMORY_H
#define PETAL_BASE_MEMORY_H

#include "petal/petal.h"

/* The size of a cache line. Bit arrays are aligned to this size and consist of whole lines. */
#define PETAL_LINE_BYTES 64u
#define PETAL_LINE_BITS 512u

/* Allocates size_bytes of zeroed memory, or returns NULL, even for 0 bytes. Free it with
 * petal_release() and the same size. */
void *petal_alloc(const petal_allocator *allocator, uint64_t size_bytes);
void petal_release(const petal_allocator *allocator, void *memory, uint64_t size_bytes);

/* Like petal_alloc(), but returns memory that is aligned to a line. petal_release_lines() needs
 * *base to free the memory. */
uint8_t *petal_alloc_lines(const petal_allocator *allocator, uint64_t size_bytes, void **base);
void petal_release_lines(const petal_allocator *allocator, void *base, uint64_t size_bytes);

/* Overwrites a secret with zeros. The compiler can't optimize this away, although nothing reads the
 * memory afterwards. */
void petal_wipe(void *secret, size_t size_bytes);

/* Like memset() to 0, and memcpy() into zeroed memory, but without writing zeros over zeros.
 * Reading a page that was never written takes no memory, but writing to the page does. */
void petal_zero(uint8_t *bytes, uint64_t size_bytes);
void petal_copy_to_zeroed(uint8_t *to, const uint8_t *from, uint64_t size_bytes);

/* Returns the number of bytes that may be allocated to open a filter of `held_bytes`, or to let a
 * filter of that size grow. The result is `given` or, if `given` is 0, the larger of 1 GiB and 64
 * times `held_bytes`. */
static inline uint64_t petal_memory_limit(uint64_t given, uint64_t held_bytes)
{
    uint64_t relative = held_bytes > UINT64_MAX / 64 ? UINT64_MAX : held_bytes * 64,
             min = (uint64_t)1 << 30;
    return given ? given : relative > min ? relative : min;
}

#endif

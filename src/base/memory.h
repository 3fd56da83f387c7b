/* memory.h - memory through the caller's allocator, and the lines of 64 bytes that bit arrays are
 * made of. */
#ifndef PETAL_BASE_MEMORY_H
#define PETAL_BASE_MEMORY_H

#include "petal/petal.h"

/* One cache line: the alignment of every bit array, and the unit of its size. */
#define PETAL_LINE_BYTES 64u
#define PETAL_LINE_BITS 512u

/* size_bytes of zeroed memory, or NULL; 0 bytes are NULL. Released with petal_release() of the
 * same size. */
void *petal_alloc(const petal_allocator *allocator, uint64_t size_bytes);
void petal_release(const petal_allocator *allocator, void *memory, uint64_t size_bytes);

/* Like petal_alloc(), aligned to a line. *base is what petal_release_lines() needs to give it
 * back. */
uint8_t *petal_alloc_lines(const petal_allocator *allocator, uint64_t size_bytes, void **base);
void petal_release_lines(const petal_allocator *allocator, void *base, uint64_t size_bytes);

/* Sets a secret to 0, which no compiler leaves out though nothing reads it afterwards. */
void petal_wipe(void *secret, size_t size_bytes);

/* memset() to 0, and memcpy() into memory that is zero; but where nothing but zeros would be
 * written over zeros nothing is written. Reading pages that were never written costs no memory,
 * and writing to them does. */
void petal_zero(uint8_t *bytes, uint64_t size_bytes);
void petal_copy_to_zeroed(uint8_t *to, const uint8_t *from, uint64_t size_bytes);

/* The bytes that opening `held_bytes`, or growing while that many are held, may allocate: the limit
 * that was given; by default 1 GiB, or 64 times as much as there is already. */
static inline uint64_t petal_memory_limit(uint64_t given, uint64_t held_bytes)
{
    uint64_t relative = held_bytes > UINT64_MAX / 64 ? UINT64_MAX : held_bytes * 64,
             min = (uint64_t)1 << 30;
    return given ? given : relative > min ? relative : min;
}

#endif

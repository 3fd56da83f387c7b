/* memory.h - the server's memory, counted and limited. */
#ifndef PETAL_REDIS_MEMORY_H
#define PETAL_REDIS_MEMORY_H

#include "server.h"

#include <stdatomic.h>

/* Totals over all values, for INFO. */
struct totals {
    _Atomic uint64_t filters, bytes, moved, stayed;
    _Atomic uint64_t layers, items, capacity; /* classic ones only */
};
extern struct totals totals;

/* Allocates zeroed memory from the server. Returns NULL if there is none. The memory counts towards
 * totals.bytes until it is freed. Large blocks are never written to, no matter how the server
 * allocates them, so they take no more time than small ones. */
void *memory_zeroed(size_t size_bytes);
void memory_free(void *memory, size_t size_bytes);

/* Counts memory that the server allocated, as if it came from memory_zeroed(). */
void memory_take(void *memory, size_t size_bytes);

/* True if `bytes` and `more` together would exceed bf.memory-limit. */
int memory_over_limit(uint64_t held_bytes, uint64_t more_bytes);

#endif

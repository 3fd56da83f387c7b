/* memory.h - the server's memory, counted and limited. */
#ifndef PETAL_REDIS_MEMORY_H
#define PETAL_REDIS_MEMORY_H

#include "server.h"

#include <stdatomic.h>

/* What all values have together, for INFO. */
struct totals {
    _Atomic uint64_t filters, bytes, moved, stayed;
    _Atomic uint64_t layers, items, capacity; /* of classic ones */
};
extern struct totals totals;

/* Memory of the server, zeroed; NULL if there is none. It is in totals.bytes until it is freed. Big
 * memory is not touched, however the server makes it: that costs no more than small memory. */
void *memory_zeroed(size_t size_bytes);
void memory_free(void *memory, size_t size_bytes);

/* Memory that the server allocated becomes such memory. */
void memory_take(void *memory, size_t size_bytes);

/* Are these bytes and that many more above bf.memory-limit? */
int memory_over_limit(uint64_t held_bytes, uint64_t more_bytes);

#endif

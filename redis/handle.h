/* handle.h - the library's handles, through which the filters of values are used, and the server's
 * memory.
 *
 * A handle takes about 1 KB, the bits of a filter for 100 items 140 bytes, and servers have many
 * such filters. So all values of RedisBloom's are used through four handles, by their hash and
 * whether they scale: a value has all else that tells its filter from others, its layers, which are
 * lent to the handle when the value is used (petal_lend). valkey-bloom's have one handle, which is
 * made anew if a value has another seed than the one before. Petal's own kinds have a handle each.
 *
 * Values are used by the main thread alone, or in a child process, which changes nothing. But they
 * are freed by other threads, too. */
#ifndef PETAL_REDIS_HANDLE_H
#define PETAL_REDIS_HANDLE_H

#include "server.h"

#include <petal/petal_host.h>
#include <stdatomic.h>

struct value;

/* ---- of one value ---------------------------------------------------------------------------- */

struct handle {
    petal_filter *filter;
    struct value *value;
    uint64_t bytes; /* that the filter has from the server */
};

/* Still without a filter. NULL without memory. */
struct handle *handle_own(struct value *value);
void handle_free(struct handle *handle);

/* The allocator of its filter: the server's memory, counted and limited. */
petal_allocator handle_allocator(struct handle *handle);

/* ---- of all classic values ------------------------------------------------------------------- */

/* Once, before all others. False without memory. */
int handles_make(void);

/* The filter of a classic value, until another value's is asked for. */
petal_filter *handle_lend(struct value *value);

/* The 32 bytes with which valkey-bloom makes filters if their seed is not to be random. */
const uint8_t *handles_fixed_seed(void);

/* Its layers change, or end: they are lent anew before they are used. */
void handle_forget(const struct value *value);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory of the server, zeroed; NULL if there is none. It is in totals.bytes until it is freed. Big
 * memory is not touched, however the server makes it: that costs no more than small memory. */
void *memory_zeroed(size_t size_bytes);
void memory_free(void *memory, size_t size_bytes);

/* Memory that the server allocated becomes such memory. */
void memory_take(void *memory, size_t size_bytes);

#endif

/* handle.h - the library's handles, through which the filters of values are used.
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

#include "form.h"
#include "memory.h"

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

/* Once, before all others: the handle of RedisBloom's filters with these options, by the header of
 * a small one; and that of valkey-bloom's. False without memory. */
int handle_make(uint32_t options, const void *header, size_t size_bytes);
int handle_make_valkey(void);

/* The library's filter, without bits, of the header of one of RedisBloom's. */
petal_status header_open(const void *header, size_t size_bytes, petal_filter **filter,
                         petal_error *error);

/* The filter of a classic value, until another value's is asked for. */
petal_filter *handle_lend(struct value *value);

/* The 32 bytes with which valkey-bloom makes filters if their seed is not to be random. */
const uint8_t *handles_fixed_seed(void);

/* Its layers change, or end: they are lent anew before they are used. */
void handle_forget(const struct value *value);

#endif

/* handle.h - the library's handles, through which values use their filters.
 *
 * A handle takes about 1 KB, but the bits of a filter for 100 items take only 140 bytes, and
 * servers have many such filters. So all RedisBloom values share four handles, one for each
 * combination of hash and scaling. A value holds only its layers, which are lent to the handle when
 * the value is used (petal_lend). valkey-bloom values share one handle, which is recreated if the
 * next value has a different seed. Every value of one of Petal's own kinds has a handle to itself.
 *
 * Values are used only by the main thread, or by a child process that changes nothing. Other
 * threads may free them. */
#ifndef PETAL_REDIS_HANDLE_H
#define PETAL_REDIS_HANDLE_H

#include "form.h"
#include "memory.h"

/* ---- of one value ---------------------------------------------------------------------------- */

struct handle {
    petal_filter *filter;
    struct value *value;
    uint64_t bytes; /* allocated from the server for the filter */
};

/* Creates a handle without a filter. Returns NULL if memory runs out. */
struct handle *handle_own(struct value *value);
void handle_free(struct handle *handle);

/* The allocator of the handle's filter: the server's memory, counted and limited. */
petal_allocator handle_allocator(struct handle *handle);

/* ---- of all classic values ------------------------------------------------------------------- */

/* Called once, before all other functions. The first creates the handle for RedisBloom filters with
 * these options from the header of a small one; the second creates the handle for valkey-bloom
 * filters. Both return false if memory runs out. */
int handle_make(uint32_t options, const void *header, size_t size_bytes);
int handle_make_valkey(void);

/* Opens the library's filter, without bits, from the header of one of RedisBloom's filters. */
petal_status header_open(const void *header, size_t size_bytes, petal_filter **filter,
                         petal_error *error);

/* The filter of a classic value, valid until another value's filter is requested. */
petal_filter *handle_lend(struct value *value);

/* The 32-byte seed of valkey-bloom's filters, unless it is random. */
const uint8_t *handles_fixed_seed(void);

/* Must be called if the value's layers change or are freed. Before the next use, the layers are
 * lent to the handle again. */
void handle_forget(const struct value *value);

#endif

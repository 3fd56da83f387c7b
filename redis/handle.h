/* handle.h - the library's handles, through which the filters of values are used.
 *
 * A handle takes about 1 KB, the bits of a filter for 100 items 140 bytes, and servers have many
 * such filters, which were created alike. So all classic values with the same parameters and as
 * many layers have one handle together; of each value only its bits and counts are kept, and they
 * go into the handle when the value is used (petal_swap_layers). Petal's own kinds have a handle
 * each.
 *
 * Values are used by the main thread alone, or in a child process, which changes nothing. But they
 * are freed by other threads, too. */
#ifndef PETAL_REDIS_HANDLE_H
#define PETAL_REDIS_HANDLE_H

#include "server.h"

#include <petal/petal.h>
#include <stdatomic.h>

struct value;

struct handle {
    petal_filter *filter;
    struct value *_Atomic current; /* whose bits and counts it has; NULL: nobody's */
    uint64_t bytes;                /* that it has from the server, its filter's bits included */
    /* Of shared ones: */
    uint64_t bare_bytes; /* `bytes` without the bits of values */
    _Atomic uint64_t users;
    uint32_t layers;
    uint32_t header_bytes; /* 0: it is not shared */
    struct handle *next;   /* in its slot of the table */
    uint8_t header[];      /* as BF.SCANDUMP has it, with all counts 0 */
};

/* Of one value, still without a filter. NULL without memory. */
struct handle *handle_own(struct value *value);

/* The handle of values with this header, and from the header the counts of each layer: one more
 * user. NULL if it is no header, with the error. `states` is the server's, and the caller's. */
struct handle *handle_share(const void *header, size_t size_bytes, petal_layer_state **states,
                            petal_error *error);

/* Its value is gone, or has another handle. */
void handle_release(struct handle *handle);

/* Frees the shared handles that no value has; others are freed when there is no more room. */
void handle_drop_idle(void);

/* Gives the handle to the value; and takes it away, if the value has it. */
void handle_attach(struct handle *handle, struct value *value);
void handle_detach(struct handle *handle, struct value *value);

/* A shared handle as it was made: its filter has another layer now, and nobody's bits. */
void handle_renew(struct handle *handle);

/* The allocator of its filter: the server's memory, counted and limited. */
petal_allocator handle_allocator(struct handle *handle);

/* Memory of the server, zeroed; NULL if there is none. It is in totals.bytes until it is freed. */
void *memory_zeroed(size_t size_bytes);
void memory_free(void *memory, size_t size_bytes);

/* Memory that the server allocated becomes such memory. */
void memory_take(void *memory, size_t size_bytes);

#endif

/* filter.h - the handle: a bit array with its scheme, its hash and what is known of its keys. */
#ifndef PETAL_FILTER_FILTER_H
#define PETAL_FILTER_FILTER_H

#include "hash/hash.h"
#include "scheme/scheme.h"

struct petal_filter {
    struct bit_array array;
    const struct scheme_def *scheme;
    const struct kernel *kernel; /* resolved once, here: no global state, and easy to force in tests */
    const struct hash_def *hash;
    struct hash_key hash_key;

    uint64_t capacity;  /* 0: not recorded */
    double target_rate; /* NAN: not recorded */
    uint64_t items;

    petal_allocator allocator;
    void *own_lines; /* what the bits were allocated as; NULL where they are borrowed or mapped */
    void *metadata;
    size_t metadata_bytes;

    /* Set where the bits belong to a file or to the caller (src/store). */
    petal_status (*before_write)(petal_filter *filter, petal_error *error); /* NULL: writing needs no leave */
    uint8_t *touched;                   /* one byte a block; NULL where nobody wants to know */
    bool content_recorded;              /* content_id is that of the bits */
    uint64_t content_id;
    void (*close)(petal_filter *filter); /* gives back what the store holds; NULL: nothing */
    void *backing;
};

/* A filter without bits: settled shape, hash and allocator in place. *filter is NULL on failure. `secret` is for keyed
 * hashes and is copied. */
petal_status petal_filter_new(const struct shape *shape, petal_hash hash, uint64_t seed, const void *secret,
                              const petal_allocator *allocator, petal_filter **filter, petal_error *error);

/* Gives the filter zeroed bits of its own. */
petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error);

/* Replaces the metadata by a copy. */
petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes,
                                       petal_error *error);

/* Leave to change the bits: PETAL_OK, or why not. */
static inline petal_status petal_filter_prepare_write(petal_filter *filter, petal_error *error)
{
    return filter->before_write ? filter->before_write(filter, error) : PETAL_OK;
}

/* Notes that any bit may have changed. */
void petal_filter_touch_all(petal_filter *filter);

#endif

/* static_work.h - the state and the steps of building a static filter. static_builder.c, which
 * works in memory, and static_spill.c, which uses a file, share them. */
#ifndef PETAL_FILTER_STATIC_WORK_H
#define PETAL_FILTER_STATIC_WORK_H

#include "base/sort.h"
#include "filter/static_builder.h"
#include "scheme/static.h"

#include <stdatomic.h>

struct chunk {
    struct chunk *next;
    uint64_t count, room;
    uint64_t hashes[];
};

struct run; /* static_spill.c */

struct worker {
    struct chunk *chunks; /* the latest first */
    struct run *runs;     /* the runs that this worker has written */
    uint64_t keys;        /* number of keys in chunks and runs */
    petal_error failure;  /* the first one */
    struct static_room room;
    uint8_t pad[PETAL_LINE_BYTES]; /* separates this worker from another thread's */
};

struct petal_static_builder {
    petal_filter *filter; /* has no bits yet, and owns the builder */
    petal_allocator allocator;
    struct shape shape; /* shape of the layer, without its starts */
    uint32_t worker_count;
    struct worker *workers;
    struct static_spill *spill; /* NULL if everything is in memory */
    uint64_t max_chunk_hashes, max_held_bytes;
    _Atomic uint64_t held_bytes; /* in chunks */
    uint64_t *keys;              /* hashes for the layer that is being built */
    uint64_t key_room, key_count;
    uint64_t part_begins[PETAL_SORT_PARTS + 1];
    struct layer *layer;
    /* For each page: the index of its first hash (plus one entry for the end), and the number of
     * hashes that it bumped. */
    uint64_t *page_begins, *page_bumped;
};

/* The caller's function for running tasks in threads, or NULL. */
struct runner {
    petal_run run;
    void *context;
};

typedef void static_step(petal_static_builder *builder, struct worker *worker, uint64_t number);

/* Runs steps 0 to count - 1, in any order and by any worker. */
void petal_static_do_steps(petal_static_builder *builder, const struct runner *runner,
                           static_step *step, uint64_t count);

/* These functions add and drop a worker's chunks. */
petal_status petal_static_add_chunk(petal_static_builder *builder, struct worker *worker,
                                    uint64_t room, petal_error *error);
void petal_static_drop_chunk(petal_static_builder *builder, struct worker *worker);

/* Copies hashes to a worker's chunks. */
petal_status petal_static_keep(petal_static_builder *builder, struct worker *worker,
                               const uint64_t *hashes, uint64_t count, petal_error *error);

/* Drops repeats from ascending hashes. Returns the number of hashes that are left. */
uint64_t petal_static_drop_equal(uint64_t *hashes, uint64_t count);

/* Returns the first failure of any worker. */
petal_status petal_static_first_failure(const petal_static_builder *builder, petal_error *error);

/* The steps that static_spill.c takes over from static_builder.c. They are called only through
 * builder->spill, so that programs that never spill to a file are smaller. */
struct static_spill_calls {
    /* Empties the worker's latest chunk, which is full, into the file. */
    petal_status (*empty_chunk)(petal_static_builder *builder, struct worker *worker,
                                petal_error *error);
    /* Returns true if any worker has written hashes that the next layer needs. */
    bool (*has_runs)(const petal_static_builder *builder);
    /* Writes the remaining hashes, and sets builder->key_count to the number of distinct ones. */
    petal_status (*gather)(petal_static_builder *builder, const struct runner *runner,
                           petal_error *error);
    /* Fills builder->layer with these hashes. Afterwards, the workers' chunks and runs contain the
     * bumped hashes, and builder->key_count is their number. */
    petal_status (*fill)(petal_static_builder *builder, const struct runner *runner,
                         petal_error *error);
    void (*release)(petal_static_builder *builder);
};

struct static_spill {
    const struct static_spill_calls *calls;
    /* static_spill.c appends its own members */
};

#endif

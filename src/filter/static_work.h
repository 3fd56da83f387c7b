/* static_work.h - what a build of a static filter consists of, for static_builder.c, which does it
 * in memory, and static_spill.c, which does it with a file. */
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
    struct run *runs;     /* what it has written */
    uint64_t keys;        /* in its chunks and runs */
    petal_error failure;  /* the first there was */
    struct static_room room;
    uint8_t pad[PETAL_LINE_BYTES]; /* its neighbour is another thread's */
};

struct petal_static_builder {
    petal_filter *filter; /* without bits; it owns the builder */
    petal_allocator allocator;
    struct shape shape; /* the layer's, except its starts */
    uint32_t worker_count;
    struct worker *workers;
    struct static_spill *spill; /* NULL: all in memory */
    uint64_t max_chunk_hashes, max_held_bytes;
    _Atomic uint64_t held_bytes; /* in chunks */
    uint64_t *keys;              /* the hashes for the layer being built, in memory */
    uint64_t key_room, key_count;
    uint64_t part_begins[PETAL_SORT_PARTS + 1];
    struct layer *layer;
    /* for each page: where its hashes begin (plus one entry for the end), and how many it has
     * bumped */
    uint64_t *page_begins, *page_bumped;
};

/* Threads that the caller starts, or NULL. */
struct runner {
    petal_run run;
    void *context;
};

typedef void static_step(petal_static_builder *builder, struct worker *worker, uint64_t number);

/* Does all steps, 0 to count - 1, in any order and in any worker. */
void petal_static_do_steps(petal_static_builder *builder, const struct runner *runner,
                           static_step *step, uint64_t count);

/* A builder's chunks. */
petal_status petal_static_add_chunk(petal_static_builder *builder, struct worker *worker,
                                    uint64_t room, petal_error *error);
void petal_static_drop_chunk(petal_static_builder *builder, struct worker *worker);

/* Copies hashes into a worker's chunks. */
petal_status petal_static_keep(petal_static_builder *builder, struct worker *worker,
                               const uint64_t *hashes, uint64_t count, petal_error *error);

/* Drops repeats from ascending hashes; returns how many are left. */
uint64_t petal_static_drop_equal(uint64_t *hashes, uint64_t count);

/* The first failure of a worker. */
petal_status petal_static_first_failure(const petal_static_builder *builder, petal_error *error);

/* What static_spill.c does in place of static_builder.c. Reached only through builder->spill, so
 * that programs without it are smaller. */
struct static_spill_calls {
    /* Empties the worker's latest chunk, which is full, into the file. */
    petal_status (*empty_chunk)(petal_static_builder *builder, struct worker *worker,
                                petal_error *error);
    /* Have hashes been written that the next layer needs? */
    bool (*has_runs)(const petal_static_builder *builder);
    /* Writes the rest of them, and counts the different ones: builder->key_count. */
    petal_status (*gather)(petal_static_builder *builder, const struct runner *runner,
                           petal_error *error);
    /* Fills builder->layer with these. Bumped ones are in the workers' chunks and runs, and
     * builder->key_count is their number. */
    petal_status (*fill)(petal_static_builder *builder, const struct runner *runner,
                         petal_error *error);
    void (*release)(petal_static_builder *builder);
};

struct static_spill {
    const struct static_spill_calls *calls;
    /* its other members: static_spill.c */
};

#endif

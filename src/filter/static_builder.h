/* static_builder.h - builds a filter that never changes, from all of its keys at once. */
#ifndef PETAL_FILTER_STATIC_BUILDER_H
#define PETAL_FILTER_STATIC_BUILDER_H

#include "filter/filter.h"
#include "petal/petal_build.h"

/* Creates filter->builder, for `workers` threads, in a static filter that has one layer without
 * bits. The filter owns the builder until the filter is built. Until then, petal_static_add() and
 * petal_add() collect keys. */
petal_status petal_static_builder_attach(petal_filter *filter, uint32_t workers,
                                         petal_error *error);

/* Collects these hashes as worker 0. */
petal_status petal_static_collect(petal_filter *filter, const uint64_t *words, size_t count,
                                  petal_error *error);

/* Builds the filter in this thread and releases the builder. After a failure, the filter never has
 * bits, and later calls to add or build fail in the same way. */
petal_status petal_static_build(petal_filter *filter, petal_error *error);

/* Returns the hashes that a builder has collected, sorted and without repeats. The hashes are
 * borrowed until the builder is released. Also returns the filter, which has no bits, for its hash
 * and options. After this call, the filter can no longer be built. */
petal_status petal_static_take_keys(petal_static_builder *builder, const uint64_t **hashes,
                                    uint64_t *count, petal_error *error);
const petal_filter *petal_static_pattern(const petal_static_builder *builder);

void petal_static_builder_release(petal_filter *filter);

/* Call this function after the filter has moved in memory. */
void petal_static_builder_follow(petal_filter *filter);

/* A file for hashes that don't fit in memory. Bytes are written once, in pieces that several
 * threads may write concurrently. Only one thread reads them. close() releases the context. */
struct static_spill_file {
    void *context;
    petal_status (*write)(void *context, uint64_t offset, const void *bytes, uint64_t size_bytes,
                          petal_error *error);
    petal_status (*read)(void *context, uint64_t offset, void *bytes, uint64_t size_bytes,
                         petal_error *error);
    void (*close)(void *context);
};

/* Sets a builder's spill file and memory limit. Call petal_static_builder_check_spill() first.
 * After a failure, the caller still owns the file. */
petal_status petal_static_builder_check_spill(const petal_static_builder *builder,
                                              uint64_t memory_bytes, petal_error *error);
petal_status petal_static_builder_spill(petal_static_builder *builder, uint64_t memory_bytes,
                                        const struct static_spill_file *file, petal_error *error);
const petal_allocator *petal_static_builder_allocator(const petal_static_builder *builder);

/* Returns the number of bytes that the builder has allocated for keys, or 0 if there is no
 * builder. */
uint64_t petal_static_builder_bytes(const petal_filter *filter);

#endif

/* static_builder.h - builds a filter that never changes from all its keys. */
#ifndef PETAL_FILTER_STATIC_BUILDER_H
#define PETAL_FILTER_STATIC_BUILDER_H

#include "filter/filter.h"
#include "petal/petal_build.h"

/* Gives a static filter of one layer without bits a builder for `workers` threads: filter->builder,
 * which the filter owns until it is built. Meanwhile petal_static_add() and petal_add() collect
 * keys. */
petal_status petal_static_builder_attach(petal_filter *filter, uint32_t workers,
                                         petal_error *error);

/* Collects hashes as worker 0. */
petal_status petal_static_collect(petal_filter *filter, const uint64_t *words, size_t count,
                                  petal_error *error);

/* Builds the filter in this thread and releases the builder. If that fails, the filter never gets
 * bits: later adding and building fail in the same way. */
petal_status petal_static_build(petal_filter *filter, petal_error *error);

/* The hashes that a builder has collected, sorted, each once: borrowed until it is released. The
 * filter can't be built any more. And the filter without bits that has its hash and its options. */
petal_status petal_static_take_keys(petal_static_builder *builder, const uint64_t **hashes,
                                    uint64_t *count, petal_error *error);
const petal_filter *petal_static_pattern(const petal_static_builder *builder);

void petal_static_builder_release(petal_filter *filter);

/* Call it after the filter has moved in memory. */
void petal_static_builder_follow(petal_filter *filter);

/* A file for what memory has no room for. Bytes are written once, in pieces that different threads
 * write at a time, and read by one thread. close() releases the context. */
struct static_spill_file {
    void *context;
    petal_status (*write)(void *context, uint64_t offset, const void *bytes, uint64_t size_bytes,
                          petal_error *error);
    petal_status (*read)(void *context, uint64_t offset, void *bytes, uint64_t size_bytes,
                         petal_error *error);
    void (*close)(void *context);
};

/* Gives a builder that file, and a limit. First check whether it can be; after a failure the file
 * is still the caller's. */
petal_status petal_static_builder_check_spill(const petal_static_builder *builder,
                                              uint64_t memory_bytes, petal_error *error);
petal_status petal_static_builder_spill(petal_static_builder *builder, uint64_t memory_bytes,
                                        const struct static_spill_file *file, petal_error *error);
const petal_allocator *petal_static_builder_allocator(const petal_static_builder *builder);

/* The bytes it has allocated for keys; 0 without a builder. */
uint64_t petal_static_builder_bytes(const petal_filter *filter);

#endif

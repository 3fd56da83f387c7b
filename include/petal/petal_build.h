/* petal_build.h - builds filters with several threads; also builds static filters, from all of
 * their keys at once.
 *
 * If a single thread fills the filter, petal_add_batch() in petal.h is fastest. */
#ifndef PETAL_BUILD_H
#define PETAL_BUILD_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------- several threads, one filter
 *
 * A builder lets several threads fill one filter without an atomic operation or a wait for each
 * key. Each thread sorts its keys by region of the filter into its own buffers. A full buffer is
 * added to its region as one batch; only one thread at a time writes to a region. The resulting
 * bits are the same as with petal_add(). A builder does not report which keys were new.
 *
 *     petal_builder *builder;
 *     uint32_t workers = 8; // at most
 *     if (petal_builder_create(filter, &workers, &builder, &error) != PETAL_OK) ...
 *     // Start `workers` threads. Thread i, repeatedly:
 *     petal_builder_add(builder, i, &batch, NULL);
 *     // and at its end:
 *     petal_builder_flush(builder, i, NULL);
 *     // Join the threads, then:
 *     if (petal_builder_finish(builder, &error) != PETAL_OK) ...
 *
 * A builder starts no threads. Nothing else may use the filter until petal_builder_finish(). */
typedef struct petal_builder petal_builder;

/* Begins a build. Set *workers to the number of threads that you can start. On return, *workers is
 * the number of threads worth starting, at least 1. Workers are numbered from 0. *workers is 1 if
 * more threads would not be faster: for filters below 4 MiB, for counting and growing filters, and
 * for some foreign schemes. The buffers come from the filter's allocator. They take 1 to 4 MiB per
 * worker, or twice as much with two lines per key; a single worker needs no buffers. If the
 * allocator has too little memory, *workers is lowered. On failure *builder is NULL, and *workers
 * and the filter are unchanged.
 *   PETAL_ERR_ARGUMENT     *workers is 0
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_DAMAGED      a writable map: a block does not match its checksum
 *   PETAL_ERR_IO           a writable map: the file could not be marked as dirty
 * Cost: allocates the buffers; a writable map is verified first, which reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_builder_create(petal_filter *filter, uint32_t *workers,
                                                            petal_builder **builder,
                                                            petal_error *error);

/* Adds keys as worker number `worker`, from 0. Only one thread at a time may use a given worker.
 * The call keeps no pointer to the keys. It fails like petal_add_batch(), and with
 * PETAL_ERR_ARGUMENT if there is no such worker. Cost: O(keys); the call may wait for a thread that
 * is filling the same region. */
PETAL_API petal_status petal_builder_add(petal_builder *builder, uint32_t worker,
                                         const petal_batch *batch, petal_error *error);

/* Adds the keys in this worker's buffers to the filter. This is optional: petal_builder_finish()
 * flushes the buffers of all workers, but in a single thread. Fails like petal_builder_add().
 * Cost: O(keys in the buffers). */
PETAL_API petal_status petal_builder_flush(petal_builder *builder, uint32_t worker,
                                           petal_error *error);

/* Ends the build and releases the builder. Afterwards, every key that a worker accepted is in the
 * filter and counted in its items. Join the threads first: the calls of all workers must have
 * finished, and must be visible to this thread (C11: "happens before"). NULL is allowed. Returns
 * the first failure of an add, or PETAL_OK. A build can't be cancelled: finish it, then free the
 * filter.
 * Cost: O(keys in the buffers). */
PETAL_NODISCARD PETAL_API petal_status petal_builder_finish(petal_builder *builder,
                                                            petal_error *error);

/* --------------------------------------------------------------------------------- static sets
 *
 * A filter with the static scheme is built from all of its keys at once, and never changes
 * afterwards. In return, it uses barely more bits than its rate requires. It is saved, opened,
 * mapped, queried, verified and described like any other filter. Its bytes depend only on the set
 * of keys and the options, not on the keys' order, on repeats, or on the number of threads. A build
 * succeeds for every set of keys, but if keys were chosen to collide, the filter takes more space.
 * Adding, removing, clearing, merging, intersecting, comparing, allowing threads, diffing and
 * patching fail with PETAL_ERR_UNSUPPORTED. To change the set, build a new filter from all keys.
 *
 * With one thread, use petal_create(), petal_add*() and petal_freeze(). With the calls below,
 * several threads can add keys and build the filter:
 *
 *     petal_options options = PETAL_OPTIONS_INIT;
 *     options.rate = 0.01;
 *     petal_static_builder *builder;
 *     petal_filter *filter;
 *     if (petal_static_create(&options, 1, &builder, &error) != PETAL_OK) ...
 *     petal_static_add(builder, 0, &batch, NULL); // repeatedly
 *     if (petal_static_finish(builder, NULL, NULL, &filter, &error) != PETAL_OK) ...
 *
 * Below about 300 keys, a classic filter is smaller than a static one. */
typedef struct petal_static_builder petal_static_builder;

/* Begins a build for up to `workers` threads, 1 to 1024. Of the options, `rate` is required, and
 * hash, seed, secret, key_type, metadata and allocator are optional. `scheme` may be
 * PETAL_SCHEME_STATIC. On failure *builder is NULL.
 *   PETAL_ERR_ARGUMENT        an option is impossible or has no effect; or `workers` is not 1 to
 *                             1024
 *   PETAL_ERR_UNREACHABLE     the rate is below 2^-30
 *   PETAL_ERR_UNSUPPORTED     this build lacks the hash
 *   PETAL_ERR_SECRET_MISSING  siphash requires a secret
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_static_create(const petal_options *options,
                                                           uint32_t workers,
                                                           petal_static_builder **builder,
                                                           petal_error *error);

/* Limits the memory of a build. Call it before the first key is added. Hashes that don't fit are
 * written to a temporary file in `folder`, 8 bytes for each added key. The file has no name, so it
 * vanishes if the process is killed. The filter's bytes are the same as without a limit, but the
 * build takes about 50 % longer. `memory_bytes` limits the memory for the hashes and, at the end,
 * for the filter, which is in memory. A limit that exceeds the filter's size (see petal_plan()) by
 * a tenth is sufficient. If the filter takes more than 7/8 of the limit, the hashes may still use
 * 1/8 of it. Each worker takes up to an additional 2 MB, for the page that it solves. If someone
 * chose keys that all belong to one page, all of their hashes must be in memory together. If the
 * call fails, the builder has no limit.
 *   PETAL_ERR_ARGUMENT     the builder already has keys or a limit, or the limit is below 64 KiB
 *                          per worker
 *   PETAL_ERR_IO           no file can be created in the folder
 *   PETAL_ERR_MEMORY
 *   PETAL_ERR_UNSUPPORTED  this build does not support files */
PETAL_NODISCARD PETAL_API petal_status petal_static_spill(petal_static_builder *builder,
                                                          const char *folder, uint64_t memory_bytes,
                                                          petal_error *error);

/* Adds keys as worker number `worker`, from 0. Only one thread at a time may use a given worker.
 * The builder stores an 8-byte hash for each key, including repeats. If a call fails,
 * petal_static_finish() returns the first failure again.
 *   PETAL_ERR_ARGUMENT  there is no such worker, or the batch is malformed
 *   PETAL_ERR_MEMORY    some of the keys may have been added
 *   PETAL_ERR_IO        the temporary file of petal_static_spill() can't be written
 * Cost: O(keys). */
PETAL_API petal_status petal_static_add(petal_static_builder *builder, uint32_t worker,
                                        const petal_batch *batch, petal_error *error);

/* A petal_task is one part of a build's work, and a petal_run is a function that runs all parts.
 * The library starts no threads. A petal_run must call task(argument, i) once for each i below
 * `workers`, in several threads or one after the other, and must return when all calls have
 * returned. */
typedef void (*petal_task)(void *argument, uint32_t worker);
typedef void (*petal_run)(void *context, petal_task task, void *argument, uint32_t workers);

/* Ends the build, stores an in-memory filter with all added keys in *filter, and releases the
 * builder. The calls of all workers must have finished, and must be visible to this thread. If
 * `run` is NULL, this thread does all the work. If `filter` is NULL, the keys are dropped and no
 * filter is built. On failure *filter is NULL.
 *   PETAL_ERR_MEMORY  besides the filter, a build takes 16 bytes for each added key, and up to 800
 *                     KB per worker (6 MB for rates above 25 %); see petal_static_spill()
 *   PETAL_ERR_LIMIT   the builder has more than 2^46 keys
 *   PETAL_ERR_IO      the temporary file can't be written or read
 * If any petal_static_add() call failed, the call returns the first such failure.
 * Cost: O(keys), about 0.1 us each. */
PETAL_NODISCARD PETAL_API petal_status petal_static_finish(petal_static_builder *builder,
                                                           petal_run run, void *context,
                                                           petal_filter **filter,
                                                           petal_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* petal_build.h - building filters: one filter with several threads, and static filters, which are
 * built from all of their keys at once.
 *
 * If one thread fills the filter, petal_add_batch() in petal.h is the fastest way. */
#ifndef PETAL_BUILD_H
#define PETAL_BUILD_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------- several threads, one filter
 *
 * A builder lets several threads fill one filter, without an atomic operation or a wait per key.
 * Each thread sorts its keys by region of the filter into its own buffers. It adds a full buffer to
 * its region as one batch; only one thread at a time writes to a region. The resulting bits are the
 * same as with petal_add(). A builder does not report which keys were new.
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
 * A builder starts no threads. Until petal_builder_finish() nothing else may use the filter. */
typedef struct petal_builder petal_builder;

/* Begins a build. Set *workers to the number of threads that you can start. On return it is the
 * number worth starting, at least 1; workers are numbered from 0. It is 1 if more would not be
 * faster: for filters below 4 MiB, counting or growing ones, and some foreign schemes. The filter's
 * allocator supplies the buffers: none for one worker, otherwise 1 to 4 MiB per worker, and twice
 * that with two lines per key. If the allocator has less, *workers is lowered. On failure *builder
 * is NULL, and *workers and the filter are unchanged.
 *   PETAL_ERR_ARGUMENT     *workers is 0
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_DAMAGED      a writable map: a block does not match its checksum
 *   PETAL_ERR_IO           a writable map: the file could not be marked as dirty
 * Cost: the buffers; a writable map is verified first, which reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_builder_create(petal_filter *filter, uint32_t *workers,
                                                            petal_builder **builder,
                                                            petal_error *error);

/* Adds keys as worker number `worker`, from 0. Only one thread at a time may use a given worker.
 * Copies what it needs of the keys. Fails like petal_add_batch(), and with PETAL_ERR_ARGUMENT if
 * there is no such worker. Cost: O(keys), and may wait for a thread that is filling the same
 * region. */
PETAL_API petal_status petal_builder_add(petal_builder *builder, uint32_t worker,
                                         const petal_batch *batch, petal_error *error);

/* Adds the keys in this worker's buffers to the filter. This is optional: petal_builder_finish()
 * does it for all workers, but in one thread. Fails like petal_builder_add().
 * Cost: O(keys in the buffers). */
PETAL_API petal_status petal_builder_flush(petal_builder *builder, uint32_t worker,
                                           petal_error *error);

/* Ends the build and releases the builder. Then every key that a worker accepted is in the filter
 * and counted in its items. Join the threads first: the calls of all workers must have ended, and
 * must be visible to this thread (C11: "happens before"). NULL is allowed. Returns the first
 * failure of an add, or PETAL_OK. A build can't be cancelled: finish it, then free the filter.
 * Cost: O(keys in the buffers). */
PETAL_NODISCARD PETAL_API petal_status petal_builder_finish(petal_builder *builder,
                                                            petal_error *error);

/* --------------------------------------------------------------------------------- static sets
 *
 * A filter with the static scheme is built from all of its keys at once, and never changes. In
 * return it takes barely more bits than its rate requires. It is saved, opened, mapped, queried,
 * verified and described like any other. Its bytes depend only on the set of keys (and options):
 * not on their order, on repeats, or on the number of threads. No set of keys makes a build fail,
 * but keys that were chosen to collide cost space. Calls to add, remove, clear, merge, intersect,
 * compare, allow threads, diff or patch fail with PETAL_ERR_UNSUPPORTED. To change the set, build a
 * new filter from all keys.
 *
 * With one thread, use petal_create(), petal_add*() and petal_freeze(). With the calls below,
 * several threads can add keys and build:
 *
 *     petal_options options = PETAL_OPTIONS_INIT;
 *     options.rate = 0.01;
 *     petal_static_builder *builder;
 *     petal_filter *filter;
 *     if (petal_static_create(&options, 1, &builder, &error) != PETAL_OK) ...
 *     petal_static_add(builder, 0, &batch, NULL); // repeatedly
 *     if (petal_static_finish(builder, NULL, NULL, &filter, &error) != PETAL_OK) ...
 *
 * Below about 300 keys a classic filter is smaller. */
typedef struct petal_static_builder petal_static_builder;

/* Begins a build for up to `workers` threads, 1 to 1024. These options have an effect: rate, which
 * must be set, hash, seed, secret, key_type, metadata and allocator. scheme may be
 * PETAL_SCHEME_STATIC. On failure *builder is NULL.
 *   PETAL_ERR_ARGUMENT        an option is impossible or has no effect; or `workers` is not 1 to
 *                             1024
 *   PETAL_ERR_UNREACHABLE     the rate is below 2^-30
 *   PETAL_ERR_UNSUPPORTED     this build has no such hash
 *   PETAL_ERR_SECRET_MISSING  siphash without a secret
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_static_create(const petal_options *options,
                                                           uint32_t workers,
                                                           petal_static_builder **builder,
                                                           petal_error *error);

/* Limits the memory of a build. Call it before the first key is added. Hashes that don't fit go to
 * a temporary file in `folder`, 8 bytes for each added key. The file has no name, so nothing is
 * left if the process is killed. The filter has the same bytes as without a limit; the build takes
 * about half as long again.
 * `memory_bytes` is for the hashes and, at the end, the filter, which must be in memory: a tenth
 * more than the filter's size (see petal_plan()) is enough. If the filter takes more than 7/8 of
 * it, the hashes get another 1/8. Each worker takes up to 2 MB more for the page that it solves. If
 * someone chose keys that all belong to one page, their hashes are in memory together. On failure
 * the builder has no limit.
 *   PETAL_ERR_ARGUMENT     it has keys or a limit already; or less than 64 KiB for each worker
 *   PETAL_ERR_IO           no file can be created in the folder
 *   PETAL_ERR_MEMORY
 *   PETAL_ERR_UNSUPPORTED  a build without files */
PETAL_NODISCARD PETAL_API petal_status petal_static_spill(petal_static_builder *builder,
                                                          const char *folder, uint64_t memory_bytes,
                                                          petal_error *error);

/* Adds keys as worker number `worker`, from 0. Only one thread at a time may use a given worker.
 * Keeps the keys' hashes, 8 bytes each, including repeats. If a call fails, petal_static_finish()
 * returns the first failure too.
 *   PETAL_ERR_ARGUMENT  no such worker; or the batch is malformed
 *   PETAL_ERR_MEMORY    some of the keys may have been added
 *   PETAL_ERR_IO        the temporary file of petal_static_spill() can't be written
 * Cost: O(keys). */
PETAL_API petal_status petal_static_add(petal_static_builder *builder, uint32_t worker,
                                        const petal_batch *batch, petal_error *error);

/* Part of the work of a build, and a function that runs it. The library starts no threads: a
 * petal_run must call task(argument, i) once for each i below `workers`, in several threads or one
 * after the other, and return when all calls have returned. */
typedef void (*petal_task)(void *argument, uint32_t worker);
typedef void (*petal_run)(void *context, petal_task task, void *argument, uint32_t workers);

/* Ends the build and releases the builder: *filter is a filter in memory with all keys that were
 * added. The calls of all workers must have ended, and must be visible to this thread. If `run` is
 * NULL, this thread does all the work. If `filter` is NULL, the keys are dropped and nothing is
 * built. On failure *filter is NULL.
 *   PETAL_ERR_MEMORY  besides the filter, a build takes 16 bytes for each added key, and up to 800
 *                     KB per worker (6 MB for rates above 25 %); see petal_static_spill()
 *   PETAL_ERR_LIMIT   more than 2^46 keys
 *   PETAL_ERR_IO      the temporary file can't be written or read
 * or the first failure of petal_static_add().
 * Cost: O(keys), about 0.1 us each. */
PETAL_NODISCARD PETAL_API petal_status petal_static_finish(petal_static_builder *builder,
                                                           petal_run run, void *context,
                                                           petal_filter **filter,
                                                           petal_error *error);

#ifdef __cplusplus
}
#endif
#endif

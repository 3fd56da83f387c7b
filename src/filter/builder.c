/* builder.c - lets several threads fill one filter region by region, as fast as memory allows.
 *
 * The filter is divided into many regions per worker. A worker splits each key into parts (64-bit
 * words, see scheme.h), and sorts the parts by region into its own buffers:
 *
 *     worker 0:  buffer of region 0, of region 1, ...        one store per part: no lock, no atomic
 *     worker 1:  buffer of region 0, of region 1, ...
 *
 * When a buffer is full, the worker locks its region and adds the buffer as one batch, with
 * prefetching. So only one worker at a time changes a region, and the bits need no atomics. A
 * worker takes a lock only once per 2048 parts, and two workers rarely need the same region. If all
 * hashes belong to one region, building is slower, but the result is the same.
 *
 * Regions needn't fit in a cache. A batch that prefetches already runs at memory speed, and
 * collecting gigabytes of hashes for cache-sized regions would take longer. A single worker needs
 * no regions and adds directly (./dev bench billions measures both ways). */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/spin.h"
#include "filter/batch.h"
#include "filter/permission.h"
#include "petal/petal_build.h"

#include <stdatomic.h>

#define BUFFER_WORDS 2048u /* 16 KiB */
#define BUFFER_BYTES (BUFFER_WORDS * (uint64_t)sizeof(uint64_t))

/* The number of regions is large enough that workers rarely meet, but small enough that a worker's
 * buffers stay in its caches. */
#define REGIONS_PER_WORKER 16u
#define MIN_REGIONS 128u
#define MAX_REGIONS 256u

/* If a filter is smaller than twice this size, one worker fills it directly. With several workers,
 * cache lines would only move back and forth between cores. */
#define BYTES_PER_WORKER ((uint64_t)2 << 20)
#define MAX_WORKERS 1024u

struct region {
    atomic_flag lock;
    /* Gives each lock its own cache line. */
    uint8_t pad[PETAL_LINE_BYTES - sizeof(atomic_flag)];
};

struct worker {
    uint64_t *words;  /* one buffer per kind and region */
    uint32_t *filled; /* number of words in each buffer */
    void *own_words;
    uint64_t keys;
    uint8_t pad[PETAL_LINE_BYTES]; /* keeps workers on separate cache lines */
};

struct petal_builder {
    petal_filter *filter;
    petal_allocator allocator;
    uint32_t worker_count;
    struct worker *workers;
    struct layer *layer;
    const struct parts *parts; /* NULL if there is one worker, which adds its keys directly */
    uint32_t kinds, words_per_key, region_shift, region_count;
    struct region *regions;

    uint8_t pad[PETAL_LINE_BYTES]; /* separates the read-only fields above from the fields below */
    atomic_flag lock;              /* protects the fields below */
    petal_error failure;           /* the first failure of any worker */
};

static inline void take_lock(atomic_flag *lock)
{
    unsigned rounds = 0;
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) spin_wait(&rounds);
}

static inline void drop_lock(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

/* ---- a worker -------------------------------------------------------------------------------- */

static uint32_t buffer_count(const petal_builder *builder)
{
    return builder->kinds * builder->region_count;
}

/* Flushes a buffer into the filter. This function is not inlined, because the caller calls it only
 * once every 2048 rounds and needs the registers for its own loop. */
__attribute__((noinline)) static void empty(petal_builder *builder, struct worker *worker,
                                            uint32_t buffer)
{
    struct region *region = &builder->regions[buffer % builder->region_count];
    take_lock(&region->lock);
    builder->parts->add(&builder->layer->array, buffer / builder->region_count,
                        worker->words + (uint64_t)buffer * BUFFER_WORDS, worker->filled[buffer]);
    drop_lock(&region->lock);
    worker->filled[buffer] = 0;
}

static void flush(petal_builder *builder, struct worker *worker)
{
    uint32_t count = buffer_count(builder),
             begin = (uint32_t)(worker - builder->workers) * REGIONS_PER_WORKER;
    for (uint32_t i = 0; i < count; i++)
        empty(builder, worker, (begin + i) % count); /* each worker starts at a different region */
}

static void scatter(petal_builder *builder, struct worker *worker, uint32_t kind,
                    const uint64_t *words, const uint64_t *lines, size_t count)
{
    uint32_t shift = builder->region_shift, first = kind * builder->region_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t buffer = first + (uint32_t)(lines[i] >> shift), at = worker->filled[buffer];
        worker->words[(uint64_t)buffer * BUFFER_WORDS + at] = words[i];
        worker->filled[buffer] = at + 1;
        if (at + 1 == BUFFER_WORDS) empty(builder, worker, buffer);
    }
}

static void note_lines(const petal_builder *builder, const uint64_t *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)note_change(builder->layer->blocks, lines[i] * PETAL_LINE_BYTES);
}

/* Hashes are processed in pieces small enough for their parts to stay in the first-level cache. No
 * scheme uses more words per key than this. */
#define PIECE_WORDS 1024u

static void add_hashes(petal_builder *builder, struct worker *worker, const uint64_t *hashes,
                       size_t count)
{
    uint64_t words[PIECE_WORDS], lines[PIECE_WORDS];
    const struct bit_array *array = &builder->layer->array;
    size_t most = PIECE_WORDS / builder->words_per_key, piece;
    for (size_t from = 0; from < count; from += piece) {
        piece = count - from < most ? count - from : most;
        for (uint32_t kind = 0; kind < builder->kinds; kind++) {
            builder->parts->split(array, kind, hashes + from * array->hash_words, piece, words,
                                  lines);
            if (builder->layer->blocks) note_lines(builder, lines, piece * builder->words_per_key);
            scatter(builder, worker, kind, words, lines, piece * builder->words_per_key);
        }
    }
    worker->keys = saturating_add(worker->keys, count);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Records the first failure. */
static petal_status note(petal_builder *builder, petal_status status, const petal_error *error)
{
    if (status == PETAL_OK) return PETAL_OK;
    take_lock(&builder->lock);
    if (builder->failure.status == PETAL_OK) builder->failure = *error;
    drop_lock(&builder->lock);
    return petal_filter_note_error(builder->filter, status, error);
}

static petal_status check_worker(const petal_builder *builder, uint32_t worker, petal_error *error)
{
    if (worker < builder->worker_count) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "the builder has no worker %u; it has %u, numbered from 0", worker,
                      builder->worker_count);
}

#define HASH_WORDS 512u /* number of hash words computed at a time */

static void add_by_regions(petal_builder *builder, struct worker *worker, const petal_batch *batch)
{
    const petal_filter *filter = builder->filter;
    uint64_t room[HASH_WORDS];
    size_t most = HASH_WORDS / filter->hash->words, piece;
    for (uint64_t from = 0; from < batch->count; from += piece) {
        piece = batch->count - from < most ? (size_t)(batch->count - from) : most;
        add_hashes(builder, worker, petal_batch_words(filter, batch, from, piece, room), piece);
    }
}

static petal_status add(petal_builder *builder, uint32_t worker, const petal_batch *theirs,
                        petal_error *error)
{
    struct progress progress = {0, 0};
    petal_batch batch;
    petal_status status = check_worker(builder, worker, error);
    if (status == PETAL_OK) status = petal_batch_take(theirs, &batch, error);
    if (status == PETAL_OK) status = petal_filter_check_owner(builder->filter, error);
    if (status == PETAL_OK) status = petal_batch_check_keys(builder->filter, &batch, error);
    if (status != PETAL_OK) return status;
    if (!builder->parts) return petal_batch_add(builder->filter, &batch, NULL, &progress, error);
    add_by_regions(builder, &builder->workers[worker], &batch);
    return PETAL_OK;
}

petal_status petal_builder_add(petal_builder *builder, uint32_t worker, const petal_batch *batch,
                               petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return note(builder, add(builder, worker, batch, error), error);
}

petal_status petal_builder_flush(petal_builder *builder, uint32_t worker, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = check_worker(builder, worker, error);
    if (status == PETAL_OK) status = petal_filter_check_owner(builder->filter, error);
    if (status == PETAL_OK && builder->parts) flush(builder, &builder->workers[worker]);
    return note(builder, status, error);
}

static uint64_t worker_bytes(const petal_builder *builder)
{
    return buffer_count(builder) * BUFFER_BYTES;
}

static void release(petal_builder *builder)
{
    petal_allocator memory = builder->allocator;
    for (uint32_t i = 0; i < builder->worker_count; i++) {
        struct worker *worker = &builder->workers[i];
        petal_release_lines(&memory, worker->own_words, worker_bytes(builder));
        petal_release(&memory, worker->filled, buffer_count(builder) * sizeof *worker->filled);
    }
    petal_release(&memory, builder->regions, builder->region_count * sizeof *builder->regions);
    petal_release(&memory, builder->workers, builder->worker_count * sizeof *builder->workers);
    petal_release(&memory, builder, sizeof *builder);
}

petal_status petal_builder_finish(petal_builder *builder, petal_error *error)
{
    petal_error own;
    if (!builder) return PETAL_OK;
    petal_status owner = petal_filter_check_owner(builder->filter, &own);
    if (owner != PETAL_OK) builder->failure = own;
    for (uint32_t i = 0; owner == PETAL_OK && builder->parts && i < builder->worker_count; i++) {
        flush(builder, &builder->workers[i]);
        builder->layer->items = saturating_add(builder->layer->items, builder->workers[i].keys);
    }
    petal_error failure = builder->failure;
    release(builder);
    if (failure.status != PETAL_OK && error) *error = failure;
    return failure.status;
}

/* ---- creating -------------------------------------------------------------------------------- */

/* Returns true if the filter's keys can be split into parts. */
static bool goes_by_regions(const petal_filter *filter)
{
    return filter->kernel->parts && filter->hash->words != 0 && petal_filter_is_single(filter) &&
           !filter->grow && !filter->scheme->counts_new_only && !filter->refuse_overfull;
}

/* Limits the number of workers, so that each worker's share of the filter is at least
 * BYTES_PER_WORKER. */
static uint32_t useful_workers(const petal_filter *filter, uint32_t workers)
{
    uint64_t parts = filter->layers->array.size_bytes / BYTES_PER_WORKER;
    if (!goes_by_regions(filter) || parts < 2) return 1;
    if (workers > MAX_WORKERS) workers = MAX_WORKERS;
    return workers < parts ? workers : (uint32_t)parts;
}

/* The number of lines in each region is a power of two, so that a shift finds a line's region. */
static void plan_regions(petal_builder *builder)
{
    uint64_t lines = builder->layer->array.size_bytes / PETAL_LINE_BYTES + 1;
    uint64_t wanted = (uint64_t)REGIONS_PER_WORKER * builder->worker_count;
    if (wanted < MIN_REGIONS) wanted = MIN_REGIONS;
    if (wanted > MAX_REGIONS) wanted = MAX_REGIONS;
    while (lines >> builder->region_shift >= wanted) builder->region_shift++;
    builder->region_count = (uint32_t)(lines >> builder->region_shift) + 1;
}

static bool alloc_buffers(petal_builder *builder, struct worker *worker)
{
    worker->filled =
        petal_alloc(&builder->allocator, buffer_count(builder) * sizeof *worker->filled);
    worker->words = (uint64_t *)(void *)petal_alloc_lines(
        &builder->allocator, worker_bytes(builder), &worker->own_words);
    return worker->filled && worker->words;
}

/* Creates the regions and the workers' buffers. Returns false if there is not enough memory. */
static bool make_regions(petal_builder *builder)
{
    builder->parts = builder->filter->kernel->parts;
    builder->kinds = builder->parts->kinds(&builder->layer->array.shape);
    builder->words_per_key = builder->parts->words(&builder->layer->array.shape);
    plan_regions(builder);
    builder->regions =
        petal_alloc(&builder->allocator, builder->region_count * sizeof *builder->regions);
    bool all = builder->regions != NULL;
    for (uint32_t i = 0; all && i < builder->region_count; i++)
        atomic_flag_clear(&builder->regions[i].lock);
    for (uint32_t i = 0; all && i < builder->worker_count; i++)
        all = alloc_buffers(builder, &builder->workers[i]);
    return all;
}

static petal_status new_builder(petal_filter *filter, uint32_t workers, petal_builder **builder,
                                petal_error *error)
{
    const petal_allocator *memory = &filter->allocator;
    petal_builder *made = petal_alloc(memory, sizeof *made);
    struct worker *list = petal_alloc(memory, workers * sizeof *list);
    *builder = NULL;
    if (!made || !list) {
        petal_release(memory, made, sizeof *made);
        petal_release(memory, list, workers * sizeof *list);
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    }
    made->filter = filter;
    made->allocator = *memory;
    made->worker_count = workers;
    made->workers = list;
    made->layer = filter->layers;
    atomic_flag_clear(&made->lock);
    *builder = made;
    return PETAL_OK;
}

/* Halves the number of workers until their buffers can be allocated. A single worker needs no
 * buffers. */
static petal_status make_builder(petal_filter *filter, uint32_t workers, petal_builder **builder,
                                 petal_error *error)
{
    for (;; workers /= 2) {
        petal_status status = new_builder(filter, workers, builder, error);
        if (status != PETAL_OK || workers == 1 || make_regions(*builder)) return status;
        release(*builder);
    }
}

static petal_status create(petal_filter *filter, uint32_t *workers, petal_builder **builder,
                           petal_error *error)
{
    petal_builder *made = NULL;
    *builder = NULL;
    if (*workers == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a builder needs at least 1 worker, not 0");
    petal_status status = make_builder(filter, useful_workers(filter, *workers), &made, error);
    if (status == PETAL_OK) status = petal_filter_may_write(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) {
        if (made) release(made);
        return status;
    }
    *builder = made;
    *workers = made->worker_count;
    return PETAL_OK;
}

petal_status petal_builder_create(petal_filter *filter, uint32_t *workers, petal_builder **builder,
                                  petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, create(filter, workers, builder, error), error);
}

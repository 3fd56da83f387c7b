/* builder.c - several threads fill one filter as fast as its memory allows: the build by regions.
 *
 * The filter is cut into regions, many for each worker. A worker sorts the parts of its keys (words of 64 bits, see
 * scheme.h) by region into buffers of its own:
 *
 *     worker 0:  buffer of region 0, of region 1, ...        one store a part: no lock, no atomic
 *     worker 1:  buffer of region 0, of region 1, ...
 *
 * A full buffer goes into its region as one batch, which fetches ahead, under the region's lock: so a region has one owner at a time
 * and its bits need no atomics. That is one lock for 2048 parts, and the others are seldom at the same region. Hashes that all go to
 * one region cost time and nothing else.
 *
 * Regions need not fit into a cache: a batch that fetches ahead takes as long as the memory does, and collecting gigabytes of hashes
 * for cache-sized regions takes longer. One worker alone needs no regions and adds directly (./dev billions measures both). */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/spin.h"
#include "filter/filter.h"

#include <stdatomic.h>

#define BUFFER_WORDS 2048u /* 16 KiB */
#define BUFFER_BYTES (BUFFER_WORDS * (uint64_t)sizeof(uint64_t))

/* Regions: so many that workers seldom meet, but no more than a worker can write to at the same time without missing its caches. */
#define REGIONS_A_WORKER 16u
#define LEAST_REGIONS 128u
#define MOST_REGIONS 256u

/* Filters below take their keys directly, and workers take turns: a cache's lines would only go back and forth between them. */
#define LEAST_BYTES ((uint64_t)4 << 20)

struct region {
    atomic_flag lock;
    uint8_t pad[PETAL_LINE_BYTES - sizeof(atomic_flag)]; /* its neighbour is another thread's */
};

struct worker {
    uint64_t *words;  /* a buffer for each kind and region */
    uint32_t *filled; /* words in each */
    void *own_words;
    uint64_t keys;
    uint8_t pad[PETAL_LINE_BYTES]; /* as above */
};

struct petal_builder {
    petal_filter *filter;
    petal_allocator allocator;
    uint32_t worker_count;
    struct worker *workers;
    struct layer *layer;
    const struct parts *parts; /* NULL: keys are added directly, under the lock */
    uint32_t kinds, words_a_key, region_shift, region_count;
    struct region *regions;

    uint8_t pad[PETAL_LINE_BYTES]; /* what stands above is only read */
    atomic_flag lock;              /* of the rest */
    petal_status failure;          /* the first there was */
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

/* ---- a worker -------------------------------------------------------------------------------------------------------- */

static uint32_t buffer_count(const petal_builder *builder)
{
    return builder->kinds * builder->region_count;
}

/* Puts a buffer into the filter. Not inlined, since the loop that calls it once in 2048 rounds needs its registers. */
__attribute__((noinline)) static void empty(petal_builder *builder, struct worker *worker, uint32_t buffer)
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
    uint32_t count = buffer_count(builder), begin = (uint32_t)(worker - builder->workers) * REGIONS_A_WORKER;
    for (uint32_t i = 0; i < count; i++) empty(builder, worker, (begin + i) % count); /* workers begin apart */
}

static void scatter(petal_builder *builder, struct worker *worker, uint32_t kind, const uint64_t *words,
                    const uint64_t *lines, size_t count)
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
    for (size_t i = 0; i < count; i++) (void)note_change(builder->layer->blocks, lines[i] * PETAL_LINE_BYTES);
}

/* Hashes go through in pieces whose parts stay in the first-level cache. No scheme has more words a key. */
#define PIECE_WORDS 1024u

static void add_hashes(petal_builder *builder, struct worker *worker, const uint64_t *hashes, size_t count)
{
    uint64_t words[PIECE_WORDS], lines[PIECE_WORDS];
    const struct bit_array *array = &builder->layer->array;
    size_t most = PIECE_WORDS / builder->words_a_key, piece;
    for (size_t from = 0; from < count; from += piece) {
        piece = count - from < most ? count - from : most;
        for (uint32_t kind = 0; kind < builder->kinds; kind++) {
            builder->parts->split(array, kind, hashes + from * array->hash_words, piece, words, lines);
            if (builder->layer->blocks) note_lines(builder, lines, piece * builder->words_a_key);
            scatter(builder, worker, kind, words, lines, piece * builder->words_a_key);
        }
    }
    worker->keys = saturating_add(worker->keys, count);
}

/* ---- the calls ------------------------------------------------------------------------------------------------------- */

/* Notes the first failure. */
static petal_status note(petal_builder *builder, petal_status status)
{
    if (status >= 0) return PETAL_OK;
    take_lock(&builder->lock);
    if (builder->failure == PETAL_OK) builder->failure = status;
    drop_lock(&builder->lock);
    return status;
}

static petal_status refuse(petal_builder *builder, petal_status status, const char *message)
{
    return note(builder, petal_filter_fail(builder->filter, status, message));
}

static petal_status refuse_worker(petal_builder *builder)
{
    return refuse(builder, PETAL_ERR_ARGUMENT, "the builder has no worker of this number; they count from 0");
}

/* Direct adding, in pieces, so that nobody waits long. */
#define DIRECT_KEYS 4096u

static inline size_t piece_of(size_t left, size_t most)
{
    return left < most ? left : most;
}

typedef petal_status add_batch(petal_filter *filter, const void *keys, size_t count);

static petal_status add_keys(petal_filter *filter, const void *keys, size_t count)
{
    return petal_add_many(filter, keys, count, NULL, NULL);
}

static petal_status add_values(petal_filter *filter, const void *values, size_t count)
{
    return petal_add_many_i64(filter, values, count, NULL, NULL);
}

static petal_status add_ready_hashes(petal_filter *filter, const void *hashes, size_t count)
{
    return petal_add_hashes(filter, hashes, count, NULL, NULL);
}

static petal_status add_directly(petal_builder *builder, add_batch *add, const void *keys, size_t key_bytes,
                                 size_t count)
{
    petal_status status = PETAL_OK;
    for (size_t from = 0, piece; status >= 0 && from < count; from += piece) {
        piece = piece_of(count - from, DIRECT_KEYS);
        take_lock(&builder->lock);
        status = add(builder->filter, (const uint8_t *)keys + from * key_bytes, piece);
        drop_lock(&builder->lock);
    }
    return note(builder, status);
}

#define HASH_WORDS 512u /* of hashes that are worked out at a time */

petal_status petal_builder_add(petal_builder *builder, uint32_t worker, const petal_key *keys, size_t key_count)
{
    uint64_t hashes[HASH_WORDS];
    if (worker >= builder->worker_count) return refuse_worker(builder);
    if (petal_filter_refuses_any(builder->filter, keys, key_count))
        return refuse(builder, PETAL_ERR_UNSUPPORTED, "filters of this scheme do not accept the empty key");
    if (!builder->parts) return add_directly(builder, add_keys, keys, sizeof *keys, key_count);
    for (size_t from = 0, piece; from < key_count; from += piece) {
        piece = piece_of(key_count - from, HASH_WORDS / builder->filter->hash->words);
        petal_filter_hash_keys(builder->filter, keys + from, piece, hashes);
        add_hashes(builder, &builder->workers[worker], hashes, piece);
    }
    return PETAL_OK;
}

petal_status petal_builder_add_i64(petal_builder *builder, uint32_t worker, const int64_t *values, size_t value_count)
{
    uint64_t hashes[HASH_WORDS];
    if (worker >= builder->worker_count) return refuse_worker(builder);
    if (!builder->parts) return add_directly(builder, add_values, values, sizeof *values, value_count);
    for (size_t from = 0, piece; from < value_count; from += piece) {
        piece = piece_of(value_count - from, HASH_WORDS / builder->filter->hash->words);
        petal_filter_hash_i64(builder->filter, values + from, piece, hashes);
        add_hashes(builder, &builder->workers[worker], hashes, piece);
    }
    return PETAL_OK;
}

petal_status petal_builder_add_hashes(petal_builder *builder, uint32_t worker, const uint64_t *hashes,
                                      size_t hash_count)
{
    if (worker >= builder->worker_count) return refuse_worker(builder);
    if (builder->filter->hash->words != 1)
        return refuse(builder, PETAL_ERR_UNSUPPORTED,
                      "filters of this scheme need more than 64 bits of hash; pass the key itself");
    if (!builder->parts) return add_directly(builder, add_ready_hashes, hashes, sizeof *hashes, hash_count);
    add_hashes(builder, &builder->workers[worker], hashes, hash_count);
    return PETAL_OK;
}

petal_status petal_builder_flush(petal_builder *builder, uint32_t worker)
{
    if (worker >= builder->worker_count) return refuse_worker(builder);
    if (builder->parts) flush(builder, &builder->workers[worker]);
    return PETAL_OK;
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
    if (!builder) return PETAL_OK;
    for (uint32_t i = 0; builder->parts && i < builder->worker_count; i++) {
        flush(builder, &builder->workers[i]);
        builder->layer->items = saturating_add(builder->layer->items, builder->workers[i].keys);
    }
    petal_status failure = builder->failure;
    release(builder);
    return failure == PETAL_OK ? PETAL_OK : petal_fail(error, failure, "an earlier call to add keys failed");
}

/* ---- creating -------------------------------------------------------------------------------------------------------- */

/* Do the filter's keys come apart, and is that worth it? */
static bool goes_by_regions(const petal_filter *filter, uint32_t workers)
{
    return workers > 1 && filter->kernel->parts && filter->hash->words != 0 && filter->layer_count == 1 &&
           !filter->grow && !filter->scheme->counts_new_only && !filter->refuse_overfull &&
           filter->layers->array.size_bytes >= LEAST_BYTES;
}

/* Regions are powers of two lines, so that a shift finds them. */
static void plan_regions(petal_builder *builder)
{
    uint64_t lines = builder->layer->array.size_bytes / PETAL_LINE_BYTES + 1;
    uint64_t wanted = (uint64_t)REGIONS_A_WORKER * builder->worker_count;
    if (wanted < LEAST_REGIONS) wanted = LEAST_REGIONS;
    if (wanted > MOST_REGIONS) wanted = MOST_REGIONS;
    while (lines >> builder->region_shift >= wanted) builder->region_shift++;
    builder->region_count = (uint32_t)(lines >> builder->region_shift) + 1;
}

static bool alloc_buffers(petal_builder *builder, struct worker *worker)
{
    worker->filled = petal_alloc(&builder->allocator, buffer_count(builder) * sizeof *worker->filled);
    worker->words =
        (uint64_t *)(void *)petal_alloc_lines(&builder->allocator, worker_bytes(builder), &worker->own_words);
    return worker->filled && worker->words;
}

static petal_status make_regions(petal_builder *builder, petal_error *error)
{
    builder->parts = builder->filter->kernel->parts;
    builder->kinds = builder->parts->kinds(&builder->layer->array.shape);
    builder->words_a_key = builder->parts->words(&builder->layer->array.shape);
    plan_regions(builder);
    builder->regions = petal_alloc(&builder->allocator, builder->region_count * sizeof *builder->regions);
    bool all = builder->regions != NULL;
    for (uint32_t i = 0; all && i < builder->region_count; i++) atomic_flag_clear(&builder->regions[i].lock);
    for (uint32_t i = 0; all && i < builder->worker_count; i++) all = alloc_buffers(builder, &builder->workers[i]);
    if (all) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory: building takes %llu bytes of scratch",
                      (unsigned long long)(builder->worker_count * worker_bytes(builder)));
}

static petal_status check_options(const petal_builder_options *options, petal_error *error)
{
    if (options->struct_size != sizeof *options)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "options are not set up with PETAL_BUILDER_OPTIONS_INIT");
    if (options->workers < 1 || options->workers > PETAL_BUILDER_MAX_WORKERS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "1 to %u workers can build, not %u", PETAL_BUILDER_MAX_WORKERS,
                          options->workers);
    return PETAL_OK;
}

static petal_status new_builder(petal_filter *filter, const petal_builder_options *options, petal_builder **builder,
                                petal_error *error)
{
    const petal_allocator *memory = options->allocator ? options->allocator : &filter->allocator;
    petal_builder *made = petal_alloc(memory, sizeof *made);
    struct worker *workers = petal_alloc(memory, options->workers * sizeof *workers);
    *builder = NULL;
    if (!made || !workers) {
        petal_release(memory, made, sizeof *made);
        petal_release(memory, workers, options->workers * sizeof *workers);
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    }
    made->filter = filter;
    made->allocator = *memory;
    made->worker_count = options->workers;
    made->workers = workers;
    made->layer = filter->layers;
    atomic_flag_clear(&made->lock);
    *builder = made;
    return PETAL_OK;
}

static petal_status create(petal_filter *filter, const petal_builder_options *options, petal_builder **builder,
                           petal_error *error)
{
    const petal_builder_options alone = PETAL_BUILDER_OPTIONS_INIT;
    petal_builder *made = NULL;
    *builder = NULL;
    if (!options) options = &alone;
    petal_status status = check_options(options, error);
    if (status == PETAL_OK) status = new_builder(filter, options, &made, error);
    if (status == PETAL_OK && goes_by_regions(filter, options->workers)) status = make_regions(made, error);
    if (status == PETAL_OK) status = petal_filter_may_write(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) {
        if (made) release(made);
        return status;
    }
    *builder = made;
    return PETAL_OK;
}

petal_status petal_builder_create(petal_filter *filter, const petal_builder_options *options, petal_builder **builder,
                                  petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, create(filter, options, builder, error), error);
}

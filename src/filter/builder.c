/* builder.c - the build by regions: what makes a filter far larger than the caches several times faster to fill.
 *
 * A key that is added at once waits for a line from memory. Here its parts (words of 64 bits, see scheme.h) go to the region of
 * the filter that they belong to, a stretch of lines that fits into the second-level cache, and wait there in chunks:
 *
 *     worker 0:  open chunk of region 0, of region 1, ...        one store a part: no lock, no atomic
 *     worker 1:  open chunk of region 0, of region 1, ...
 *     regions:   a list of full chunks each, of all workers
 *
 * When no chunk is free, the worker that needs one empties the next region, round and round: all of its chunks, whoever filled
 * them. So every region has waited equally long for its turn and has the most to do. A region is emptied by one worker at a
 * time, so the bits need no atomics; the locks are held for a few instructions, once for each chunk. Hashes that all go to one
 * region cost time and nothing else, since chunks belong to no region in particular. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/filter.h"
#include "scheme/stripes.h"

#include <stdatomic.h>

#define CHUNK_WORDS 512u /* 4 KiB */
#define CHUNK_BYTES (CHUNK_WORDS * (uint64_t)sizeof(uint64_t))
#define NO_CHUNK UINT32_MAX
#define LINE_WORDS (PETAL_LINE_BYTES / (uint32_t)sizeof(uint64_t))
#define MOST_CHUNKS ((uint64_t)1 << 23) /* so that words are counted in 32 bits; 32 GiB */

/* Regions, in lines of 64 bytes: the largest fits into the second-level cache; the smallest is one block of a map, so that no
 * two regions note their changes in the same byte. */
#define MOST_REGION_SHIFT 14u
#define LEAST_REGION_SHIFT 10u

/* Filters below these sizes take their keys directly: with one worker, and with several (who would take turns). */
#define LEAST_BYTES_ALONE ((uint64_t)32 << 20)
#define LEAST_BYTES_SHARED ((uint64_t)1 << 20)

#define DEFAULT_MOST_BYTES ((uint64_t)2 << 30)
#define LEAST_WORKER_BYTES ((uint64_t)64 << 10)

/* Chunks that a worker takes from the pool at a time. */
#define HANDFUL 8u

struct chunk {
    uint32_t next;
    uint16_t from, end; /* its words */
};

struct region {
    atomic_flag lock; /* of the rest */
    bool busy;        /* being emptied */
    uint32_t full[PETAL_PART_KINDS];
};

struct worker {
    uint32_t *at; /* where the next word goes, for each kind and region; a chunk is replaced before its end is there */
    uint32_t spare;
    uint64_t keys;
    uint8_t pad[PETAL_LINE_BYTES]; /* its neighbour is another thread's */
};

struct petal_builder {
    petal_filter *filter;
    petal_allocator allocator;
    uint32_t worker_count;
    struct worker *workers;
    struct layer *layer;
    const struct parts *parts; /* NULL: keys are added directly, under the lock */
    uint32_t kinds, words_a_key, region_shift, region_count;
    uint32_t chunk_count;
    struct region *regions;
    struct chunk *chunks;
    uint32_t *places; /* `at` of all workers */
    uint64_t *words;
    void *own_words;

    uint8_t pad[PETAL_LINE_BYTES]; /* what stands above is only read */
    atomic_flag lock;              /* of the rest */
    uint32_t pool, cursor;
    petal_status failure; /* the first there was */
};

/* ---- locks ----------------------------------------------------------------------------------------------------------- */

static inline void take_lock(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) stripe_pause();
}

static inline void drop_lock(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

/* ---- emptying a region ----------------------------------------------------------------------------------------------- */

static void give_to_pool(petal_builder *builder, uint32_t first, uint32_t last)
{
    take_lock(&builder->lock);
    builder->chunks[last].next = builder->pool;
    builder->pool = first;
    drop_lock(&builder->lock);
}

/* Asks for a region in the order of its bytes, where the words will come in any: the only order that memory is fast in. */
static void fetch_region(const petal_builder *builder, uint32_t region)
{
    const struct bit_array *array = &builder->layer->array;
    uint64_t size = (uint64_t)PETAL_LINE_BYTES << builder->region_shift, from = region * size;
    uint64_t end = array->size_bytes - from < size ? array->size_bytes : from + size;
    for (; from < end; from += PETAL_LINE_BYTES) __builtin_prefetch(array->bytes + from, 1);
}

static void touch_region(const petal_builder *builder, uint32_t region)
{
    const struct bit_array *array = &builder->layer->array;
    uint64_t blocks = ((uint64_t)PETAL_LINE_BYTES << builder->region_shift) / PETAL_BLOCK_BYTES;
    uint64_t all = array->size_bytes / PETAL_BLOCK_BYTES + (array->size_bytes % PETAL_BLOCK_BYTES != 0);
    for (uint64_t i = region * blocks; i < (region + 1) * blocks && i < all; i++) builder->layer->touched[i] = 1;
}

static inline void add_words(const petal_builder *builder, uint32_t kind, uint32_t chunk, uint32_t from, uint32_t end)
{
    builder->parts->add(&builder->layer->array, kind, builder->words + (uint64_t)chunk * CHUNK_WORDS + from,
                        end - from);
}

/* The next chunk of a list is elsewhere: without this it would start with a wait. */
static inline void fetch_chunk(const petal_builder *builder, uint32_t chunk)
{
    const uint64_t *words = builder->words + (uint64_t)chunk * CHUNK_WORDS;
    for (uint32_t i = 0; chunk != NO_CHUNK && i < CHUNK_WORDS / 4; i += LINE_WORDS) __builtin_prefetch(words + i);
}

/* Adds a list of full chunks and gives them back. */
static void add_chunks(petal_builder *builder, uint32_t kind, uint32_t first)
{
    uint32_t last = NO_CHUNK;
    for (uint32_t i = first; i != NO_CHUNK; i = builder->chunks[i].next) {
        fetch_chunk(builder, builder->chunks[i].next);
        add_words(builder, kind, i, builder->chunks[i].from, builder->chunks[i].end);
        last = i;
    }
    if (last != NO_CHUNK) give_to_pool(builder, first, last);
}

/* Is a region worth fetching for these lists? */
static bool is_many(const petal_builder *builder, const uint32_t *lists)
{
    uint64_t words = 0, enough = (uint64_t)1 << builder->region_shift >> 1;
    for (uint32_t kind = 0; kind < builder->kinds; kind++)
        for (uint32_t i = lists[kind]; i != NO_CHUNK && words < enough; i = builder->chunks[i].next)
            words += CHUNK_WORDS;
    return words >= enough;
}

/* Makes the caller the one that empties this region: its lists are handed over. False: nothing to do, or another is at it. */
static bool claim(petal_builder *builder, uint32_t region, bool even_empty, uint32_t *lists)
{
    struct region *it = &builder->regions[region];
    bool any = even_empty;
    take_lock(&it->lock);
    for (uint32_t kind = 0; kind < builder->kinds; kind++) any = any || it->full[kind] != NO_CHUNK;
    bool claimed = any && !it->busy;
    for (uint32_t kind = 0; claimed && kind < builder->kinds; kind++) {
        lists[kind] = it->full[kind];
        it->full[kind] = NO_CHUNK;
    }
    it->busy = it->busy || claimed;
    drop_lock(&it->lock);
    return claimed;
}

static void unclaim(petal_builder *builder, uint32_t region)
{
    take_lock(&builder->regions[region].lock);
    builder->regions[region].busy = false;
    drop_lock(&builder->regions[region].lock);
}

/* Puts the chunks of a claimed region into the filter. */
static void empty_region(petal_builder *builder, uint32_t region, const uint32_t *lists)
{
    if (is_many(builder, lists)) fetch_region(builder, region);
    if (builder->layer->touched) touch_region(builder, region);
    for (uint32_t kind = 0; kind < PETAL_PART_KINDS; kind++) add_chunks(builder, kind, lists[kind]); /* or NO_CHUNK */
}

/* Empties the next region that has anything. */
static void empty_next(petal_builder *builder)
{
    uint32_t lists[PETAL_PART_KINDS] = {NO_CHUNK, NO_CHUNK};
    for (uint32_t tries = 0; tries < builder->region_count; tries++) {
        take_lock(&builder->lock);
        uint32_t region = builder->cursor;
        builder->cursor = region + 1 < builder->region_count ? region + 1 : 0;
        drop_lock(&builder->lock);
        if (!claim(builder, region, false, lists)) continue;
        empty_region(builder, region, lists);
        unclaim(builder, region);
        return;
    }
}

/* ---- a worker -------------------------------------------------------------------------------------------------------- */

/* A few chunks from the pool, as a list. */
static uint32_t take_handful(petal_builder *builder)
{
    take_lock(&builder->lock);
    uint32_t first = builder->pool, last = first;
    for (unsigned i = 1; last != NO_CHUNK && i < HANDFUL; i++)
        if (builder->chunks[last].next != NO_CHUNK) last = builder->chunks[last].next;
    if (last != NO_CHUNK) {
        builder->pool = builder->chunks[last].next;
        builder->chunks[last].next = NO_CHUNK;
    }
    drop_lock(&builder->lock);
    return first;
}

/* There are chunks for all that workers can hold, so this ends: one is free, or in a list, or in the hands of one who is about to
 * give it back. */
static uint32_t take_chunk(petal_builder *builder, struct worker *worker)
{
    while (worker->spare == NO_CHUNK && (worker->spare = take_handful(builder)) == NO_CHUNK) empty_next(builder);
    uint32_t chunk = worker->spare;
    worker->spare = builder->chunks[chunk].next;
    builder->chunks[chunk].from = 0;
    return chunk;
}

/* The chunk before `at` is full: it goes to its region. Returns where to go on. Not inlined, since the loop that calls it once in
 * 512 rounds needs its registers. */
__attribute__((noinline)) static uint32_t replace_chunk(petal_builder *builder, struct worker *worker, uint32_t kind,
                                                        uint32_t region, uint32_t at)
{
    uint32_t chunk = at / CHUNK_WORDS - 1;
    struct region *it = &builder->regions[region];
    builder->chunks[chunk].end = CHUNK_WORDS;
    take_lock(&it->lock);
    builder->chunks[chunk].next = it->full[kind];
    it->full[kind] = chunk;
    drop_lock(&it->lock);
    return take_chunk(builder, worker) * CHUNK_WORDS;
}

static void scatter(petal_builder *builder, struct worker *worker, uint32_t kind, const uint64_t *words,
                    const uint64_t *lines, size_t count)
{
    uint32_t *places = worker->at + (uint64_t)kind * builder->region_count, shift = builder->region_shift;
    uint64_t *scratch = builder->words;
    for (size_t i = 0; i < count; i++) {
        uint64_t region = lines[i] >> shift;
        uint32_t at = places[region];
        scratch[at++] = words[i];
        if (at % LINE_WORDS == 0) {
            __builtin_prefetch(scratch + at, 1); /* it is long until the next word comes here */
            if (at % CHUNK_WORDS == 0) at = replace_chunk(builder, worker, kind, (uint32_t)region, at);
        }
        places[region] = at;
    }
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
            scatter(builder, worker, kind, words, lines, piece * builder->words_a_key);
        }
    }
    worker->keys = saturating_add(worker->keys, count);
}

/* Empties the worker's open chunk of a region that the caller has claimed. */
static void empty_open(petal_builder *builder, struct worker *worker, uint32_t kind, uint32_t region)
{
    uint32_t *at = &worker->at[(uint64_t)kind * builder->region_count + region];
    uint32_t chunk = *at / CHUNK_WORDS, from = builder->chunks[chunk].from, end = *at % CHUNK_WORDS;
    if (builder->layer->touched && end > from) touch_region(builder, region);
    add_words(builder, kind, chunk, from, end);
    *at = chunk * CHUNK_WORDS + from;
}

static bool has_open(const petal_builder *builder, const struct worker *worker, uint32_t region)
{
    bool any = false;
    for (uint32_t kind = 0; kind < builder->kinds; kind++) {
        uint32_t at = worker->at[(uint64_t)kind * builder->region_count + region];
        any = any || at % CHUNK_WORDS != builder->chunks[at / CHUNK_WORDS].from;
    }
    return any;
}

static void flush_region(petal_builder *builder, struct worker *worker, uint32_t region)
{
    uint32_t lists[PETAL_PART_KINDS] = {NO_CHUNK, NO_CHUNK};
    bool own = has_open(builder, worker, region);
    while (!claim(builder, region, own, lists)) {
        if (!own) return;
        stripe_pause();
    }
    empty_region(builder, region, lists);
    for (uint32_t kind = 0; kind < builder->kinds; kind++) empty_open(builder, worker, kind, region);
    unclaim(builder, region);
}

/* Workers begin at different regions, so that they keep out of each other's way. */
static void flush(petal_builder *builder, struct worker *worker)
{
    uint32_t number = (uint32_t)(worker - builder->workers);
    uint32_t begin = (uint32_t)((uint64_t)builder->region_count * number / builder->worker_count);
    for (uint32_t i = 0; i < builder->region_count; i++)
        flush_region(builder, worker, (uint32_t)(((uint64_t)begin + i) % builder->region_count));
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

/* Direct adding, in pieces, so that nobody waits long. */
#define DIRECT_KEYS 4096u

static inline size_t piece_of(size_t left, size_t most)
{
    return left < most ? left : most;
}

static petal_status add_keys_directly(petal_builder *builder, const petal_key *keys, size_t count)
{
    petal_status status = PETAL_OK;
    for (size_t from = 0, piece; status >= 0 && from < count; from += piece) {
        piece = piece_of(count - from, DIRECT_KEYS);
        take_lock(&builder->lock);
        status = petal_add_many(builder->filter, keys + from, piece, NULL, NULL);
        drop_lock(&builder->lock);
    }
    return note(builder, status);
}

static petal_status add_i64_directly(petal_builder *builder, const int64_t *values, size_t count)
{
    petal_status status = PETAL_OK;
    for (size_t from = 0, piece; status >= 0 && from < count; from += piece) {
        piece = piece_of(count - from, DIRECT_KEYS);
        take_lock(&builder->lock);
        status = petal_add_many_i64(builder->filter, values + from, piece, NULL, NULL);
        drop_lock(&builder->lock);
    }
    return note(builder, status);
}

static petal_status add_hashes_directly(petal_builder *builder, const uint64_t *hashes, size_t count)
{
    petal_status status = PETAL_OK;
    for (size_t from = 0, piece; status >= 0 && from < count; from += piece) {
        piece = piece_of(count - from, DIRECT_KEYS);
        take_lock(&builder->lock);
        status = petal_add_hashes(builder->filter, hashes + from, piece, NULL, NULL);
        drop_lock(&builder->lock);
    }
    return note(builder, status);
}

#define HASH_WORDS 512u /* of hashes that are worked out at a time */

/* A key that the original of the filter does not take. */
static bool any_is_refused(const petal_filter *filter, const petal_key *keys, size_t key_count)
{
    for (size_t i = 0; filter->scheme->no_empty_key && i < key_count; i++)
        if (keys[i].size_bytes == 0) return true;
    return false;
}

petal_status petal_builder_add(petal_builder *builder, uint32_t worker, const petal_key *keys, size_t key_count)
{
    uint64_t hashes[HASH_WORDS];
    if (worker >= builder->worker_count) return note(builder, PETAL_ERR_ARGUMENT);
    if (any_is_refused(builder->filter, keys, key_count)) return note(builder, PETAL_ERR_UNSUPPORTED);
    if (!builder->parts) return add_keys_directly(builder, keys, key_count);
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
    if (worker >= builder->worker_count) return note(builder, PETAL_ERR_ARGUMENT);
    if (!builder->parts) return add_i64_directly(builder, values, value_count);
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
    if (worker >= builder->worker_count) return note(builder, PETAL_ERR_ARGUMENT);
    if (builder->filter->hash->words != 1) return note(builder, PETAL_ERR_UNSUPPORTED);
    if (!builder->parts) return add_hashes_directly(builder, hashes, hash_count);
    add_hashes(builder, &builder->workers[worker], hashes, hash_count);
    return PETAL_OK;
}

petal_status petal_builder_flush(petal_builder *builder, uint32_t worker)
{
    if (worker >= builder->worker_count) return note(builder, PETAL_ERR_ARGUMENT);
    if (builder->parts) flush(builder, &builder->workers[worker]);
    return PETAL_OK;
}

static void release(petal_builder *builder)
{
    petal_allocator memory = builder->allocator;
    uint64_t places = (uint64_t)builder->worker_count * builder->kinds * builder->region_count;
    petal_release_lines(&memory, builder->own_words, builder->chunk_count * CHUNK_BYTES);
    petal_release(&memory, builder->places, places * sizeof *builder->places);
    petal_release(&memory, builder->chunks, builder->chunk_count * sizeof *builder->chunks);
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

/* Do the filter's keys come apart, and is that worth it? A key with k parts takes k times as long, which is as long as a batch
 * takes; but several workers can share in it. */
static bool goes_by_regions(const petal_filter *filter, uint32_t workers)
{
    const struct parts *parts = filter->kernel->parts;
    const struct bit_array *array = &filter->layers->array;
    if (!parts || filter->hash->words == 0 || filter->layer_count > 1 || filter->grow) return false;
    if (filter->scheme->counts_new_only) return false;
    if (workers > 1) return array->size_bytes >= LEAST_BYTES_SHARED;
    return array->size_bytes >= LEAST_BYTES_ALONE && parts->words(&array->shape) == 1;
}

/* Chunks that workers can hold: open ones, spare ones, and one on its way. */
static uint64_t chunks_held(const petal_builder *builder)
{
    return (uint64_t)builder->worker_count * (builder->kinds * (uint64_t)builder->region_count + HANDFUL + 1);
}

static uint64_t regions_of(const petal_builder *builder, uint32_t shift)
{
    uint64_t lines = builder->layer->array.size_bytes / PETAL_LINE_BYTES + 1;
    return (lines >> shift) + ((lines & (((uint64_t)1 << shift) - 1)) != 0);
}

/* Regions as large as the cache, but some for each worker, and so few that open chunks take a quarter of the scratch at most. */
static petal_status plan_regions(petal_builder *builder, uint64_t scratch_bytes, petal_error *error)
{
    uint64_t workers = builder->worker_count, chunks = scratch_bytes / CHUNK_BYTES;
    uint32_t shift = MOST_REGION_SHIFT;
    if (scratch_bytes / LEAST_WORKER_BYTES < workers)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "scratch of %llu bytes is too little; a worker needs 64 KiB",
                          (unsigned long long)scratch_bytes);
    if (chunks > MOST_CHUNKS - 1) chunks = MOST_CHUNKS - 1;
    while (shift > LEAST_REGION_SHIFT && regions_of(builder, shift) < 8 * workers) shift--;
    while (regions_of(builder, shift) > 1 && regions_of(builder, shift) * builder->kinds * workers > chunks / 4)
        shift++;
    builder->region_shift = shift;
    builder->region_count = (uint32_t)regions_of(builder, shift);
    builder->chunk_count = (uint32_t)(chunks < chunks_held(builder) + 1 ? chunks_held(builder) + 1 : chunks);
    return PETAL_OK;
}

static petal_status alloc_scratch(petal_builder *builder, petal_error *error)
{
    const petal_allocator *memory = &builder->allocator;
    uint64_t places = (uint64_t)builder->worker_count * builder->kinds * builder->region_count;
    builder->regions = petal_alloc(memory, builder->region_count * sizeof *builder->regions);
    builder->chunks = petal_alloc(memory, builder->chunk_count * sizeof *builder->chunks);
    builder->places = petal_alloc(memory, places * sizeof *builder->places);
    builder->words =
        (uint64_t *)(void *)petal_alloc_lines(memory, builder->chunk_count * CHUNK_BYTES, &builder->own_words);
    if (builder->regions && builder->chunks && builder->places && builder->words) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory: building takes %llu bytes of scratch",
                      (unsigned long long)(builder->chunk_count * CHUNK_BYTES));
}

/* Gives each worker an open chunk for each region; they begin at different lines, so that what is written to at the same time
 * does not share the same sets of the cache. The rest is the pool. */
static void open_chunks(petal_builder *builder)
{
    uint32_t used = 0, lists = builder->kinds * builder->region_count;
    for (uint32_t i = 0; i < builder->worker_count; i++) {
        builder->workers[i].at = builder->places + (uint64_t)i * lists;
        builder->workers[i].spare = NO_CHUNK;
        for (uint32_t list = 0; list < lists; list++, used++) {
            builder->chunks[used].from = (uint16_t)(used * LINE_WORDS % CHUNK_WORDS);
            builder->workers[i].at[list] = used * CHUNK_WORDS + builder->chunks[used].from;
        }
    }
    for (uint32_t i = used; i < builder->chunk_count; i++)
        builder->chunks[i].next = i + 1 < builder->chunk_count ? i + 1 : NO_CHUNK;
    builder->pool = used;
    for (uint32_t i = 0; i < builder->region_count; i++) {
        atomic_flag_clear(&builder->regions[i].lock);
        for (uint32_t kind = 0; kind < PETAL_PART_KINDS; kind++) builder->regions[i].full[kind] = NO_CHUNK;
    }
}

static petal_status make_regions(petal_builder *builder, uint64_t scratch_bytes, petal_error *error)
{
    const struct parts *parts = builder->filter->kernel->parts;
    uint64_t half = builder->layer->array.size_bytes / 2, least = builder->worker_count * LEAST_WORKER_BYTES;
    builder->kinds = parts->kinds(&builder->layer->array.shape);
    builder->words_a_key = parts->words(&builder->layer->array.shape);
    if (scratch_bytes == 0) {
        scratch_bytes = half < DEFAULT_MOST_BYTES ? half : DEFAULT_MOST_BYTES;
        if (scratch_bytes < least) scratch_bytes = least;
    }
    petal_status status = plan_regions(builder, scratch_bytes, error);
    if (status == PETAL_OK) status = alloc_scratch(builder, error);
    if (status != PETAL_OK) return status;
    open_chunks(builder);
    builder->parts = parts;
    return PETAL_OK;
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

petal_status petal_builder_create(petal_filter *filter, const petal_builder_options *options, petal_builder **builder,
                                  petal_error *error)
{
    const petal_builder_options alone = PETAL_BUILDER_OPTIONS_INIT;
    petal_builder *made = NULL;
    *builder = NULL;
    if (!options) options = &alone;
    petal_status status = check_options(options, error);
    if (status == PETAL_OK) status = new_builder(filter, options, &made, error);
    if (status == PETAL_OK && goes_by_regions(filter, options->workers))
        status = make_regions(made, options->scratch_bytes, error);
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) {
        if (made) release(made);
        return status;
    }
    *builder = made;
    return PETAL_OK;
}

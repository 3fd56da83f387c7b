/* static_spill.c - builds a static filter from more keys than fit in memory. static_builder.c
 * contains the rest of the builder.
 *
 *     add      when the chunks take half of the memory, a worker whose chunk is full sorts it and
 *              writes it to a file: a run
 *     gather   the remaining chunks become runs too; the runs are merged once to count the
 *              distinct hashes, which determines the layer's size
 *     fill     the runs are merged again, a batch of pages at a time: each run contributes its
 *              hashes for each page, which are sorted and solved; bumped ones go into chunks
 *
 * Gathering and filling are repeated for each further layer, in the memory that the filter doesn't
 * use. The pages are the same as if they had been built in memory, since a page depends only on its
 * hashes.
 *
 *     run 0    [ page 0 | page 1 |     page 2     | page 3 | ...
 *     run 1    [  page 0  |  page 1 | page 2  |  page 3  | ...
 *                                    ^ piece ^             each run has one in memory
 *
 * Memory use is bounded, unless the hashes were chosen to fall into the same page, since all hashes
 * of a page are in memory at the same time. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/static_work.h"

#define MIN_BYTES_PER_WORKER 65536u

/* The minimum number of chunks that must fit in half of the memory. */
#define MIN_CHUNKS 16u

/* The minimum size of a piece, and the approximate size of a window whose hashes are only counted,
 * both in hashes. */
#define MIN_PIECE 64u
#define COUNTED_WINDOW 65536u

#define MAX_BATCH_WINDOWS 256u

/* A run: hashes in the file, in ascending order and without repeats. */
struct run {
    struct run *next;
    uint64_t offset; /* byte offset in the file */
    uint64_t count, fetched;
    uint64_t sum, fetched_sum; /* checksums of the hashes, as written and as read back */
    uint64_t *piece; /* hashes in memory; those from begin to end - 1 have not been used yet */
    uint64_t begin, end;
};

/* A part of the range of hashes: a page, or one of many parts of equal width. */
struct window {
    uint64_t begin, end; /* in batch.hashes */
    uint64_t kept, bumped;
};

struct spill {
    struct static_spill base; /* must be first: builder->spill points to it */
    struct static_spill_file file;
    uint64_t memory_bytes;
    _Atomic uint64_t file_bytes;
    struct run *runs; /* runs of the layer that is being built */
    uint64_t run_count, hash_count;
    uint64_t *pieces, piece_room, piece_bytes;
    struct {
        uint64_t *hashes, room;
        uint64_t first, count; /* windows */
        struct window windows[MAX_BATCH_WINDOWS];
    } batch;
};

static struct spill *spill_of(const petal_static_builder *builder)
{
    return (struct spill *)builder->spill;
}

static petal_status out_of_memory(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns how many bytes of the limit the filter and the workers leave, but at least an eighth of
 * the limit, since the filter alone may exceed it. */
static uint64_t bytes_left(const petal_static_builder *builder)
{
    const petal_filter *filter = builder->filter;
    uint64_t all = spill_of(builder)->memory_bytes, taken = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) taken += filter->layers[i].own_bytes;
    for (uint32_t i = 0; i < builder->worker_count; i++)
        taken += builder->workers[i].room.count * (sizeof(uint64_t) + sizeof(uint32_t));
    return taken < all - all / 8 ? all - taken : all / 8;
}

/* Chunks may take up to `bytes` bytes, plus the same amount while they are sorted in memory. */
static void limit_chunks(petal_static_builder *builder, uint64_t bytes)
{
    uint64_t chunks = 2 * (uint64_t)builder->worker_count;
    if (chunks < MIN_CHUNKS) chunks = MIN_CHUNKS;
    builder->max_held_bytes = bytes;
    builder->max_chunk_hashes = bytes / chunks / sizeof(uint64_t);
    if (builder->max_chunk_hashes < MIN_PIECE) builder->max_chunk_hashes = MIN_PIECE;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint64_t sum_of(const uint64_t *hashes, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += hashes[i] ^ hashes[i] >> 32;
    return sum;
}

static petal_status write_run(petal_static_builder *builder, struct worker *worker,
                              petal_error *error)
{
    struct spill *spill = spill_of(builder);
    struct chunk *chunk = worker->chunks;
    struct run *run = petal_alloc(&builder->allocator, sizeof *run);
    if (!run) return out_of_memory(error);
    petal_sort64(chunk->hashes, chunk->count);
    run->count = petal_static_drop_equal(chunk->hashes, chunk->count);
    uint64_t bytes = run->count * sizeof *chunk->hashes;
    run->sum = sum_of(chunk->hashes, run->count);
    run->offset = atomic_fetch_add(&spill->file_bytes, bytes);
    run->next = worker->runs;
    worker->runs = run;
    chunk->count = 0;
    return spill->file.write(spill->file.context, run->offset, chunk->hashes, bytes, error);
}

static petal_status empty_chunk(petal_static_builder *builder, struct worker *worker,
                                petal_error *error)
{
    petal_status status = write_run(builder, worker, error);
    if (status != PETAL_OK || worker->chunks->room >= builder->max_chunk_hashes) return status;
    petal_static_drop_chunk(builder, worker); /* small chunks would lead to many runs */
    return petal_static_add_chunk(builder, worker, builder->max_chunk_hashes, error);
}

/* Writes the remaining chunks of worker `number`, which need not be `worker`. */
static void write_rest(petal_static_builder *builder, struct worker *worker, uint64_t number)
{
    struct worker *owner = &builder->workers[number];
    petal_error error;
    (void)worker;
    while (owner->chunks) {
        bool is_written = owner->chunks->count == 0 || owner->failure.status != PETAL_OK ||
                          write_run(builder, owner, &error) == PETAL_OK;
        if (!is_written) owner->failure = error;
        petal_static_drop_chunk(builder, owner);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Goes back to the start of every run. The runs' pieces take about `bytes` bytes in total. */
static petal_status begin_reading(petal_static_builder *builder, uint64_t bytes, petal_error *error)
{
    struct spill *spill = spill_of(builder);
    uint64_t *at;
    spill->piece_room = bytes / sizeof *at / spill->run_count;
    if (spill->piece_room < MIN_PIECE) spill->piece_room = MIN_PIECE;
    if (!checked_mul(spill->run_count, spill->piece_room * sizeof *at, &spill->piece_bytes) ||
        !(spill->pieces = petal_alloc(&builder->allocator, spill->piece_bytes)))
        return out_of_memory(error);
    at = spill->pieces;
    for (struct run *run = spill->runs; run; run = run->next, at += spill->piece_room) {
        run->piece = at;
        run->fetched = run->fetched_sum = run->begin = run->end = 0;
    }
    return PETAL_OK;
}

static void end_reading(petal_static_builder *builder)
{
    struct spill *spill = spill_of(builder);
    petal_release(&builder->allocator, spill->pieces, spill->piece_bytes);
    petal_release(&builder->allocator, spill->batch.hashes,
                  spill->batch.room * sizeof *spill->batch.hashes);
    spill->pieces = spill->batch.hashes = NULL;
    spill->batch.room = 0;
}

static petal_status fetch_piece(const struct spill *spill, struct run *run, petal_error *error)
{
    uint64_t count = at_most(run->count - run->fetched, spill->piece_room);
    uint64_t offset = run->offset + run->fetched * sizeof *run->piece;
    run->fetched += count;
    run->begin = 0;
    run->end = count;
    petal_status status = spill->file.read(spill->file.context, offset, run->piece,
                                           count * sizeof *run->piece, error);
    if (status != PETAL_OK) return status;
    run->fetched_sum += sum_of(run->piece, count);
    if (run->fetched < run->count || run->fetched_sum == run->sum) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_IO, "the temporary file does not return what was written");
}

/* Returns the index, in the run's piece, of the first hash whose start (out of `starts`) is `end`
 * or later. */
static uint64_t window_end(const struct run *run, uint64_t starts, uint64_t end)
{
    uint64_t from = run->begin, to = run->end;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (mulhi64(run->piece[middle], starts) < end)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static petal_status make_room(petal_static_builder *builder, uint64_t room, petal_error *error)
{
    struct spill *spill = spill_of(builder);
    uint64_t bytes, old_bytes = spill->batch.room * sizeof *spill->batch.hashes;
    uint64_t *made =
        checked_mul(room, sizeof *made, &bytes) ? petal_alloc(&builder->allocator, bytes) : NULL;
    if (!made) return out_of_memory(error);
    if (old_bytes) memcpy(made, spill->batch.hashes, old_bytes);
    petal_release(&builder->allocator, spill->batch.hashes, old_bytes);
    spill->batch.hashes = made;
    spill->batch.room = room;
    return PETAL_OK;
}

/* Makes room for more hashes in the window that ends at *count. Drops the window's repeats, and
 * enlarges the buffer if it would still be more than half full. */
static petal_status make_room_for(petal_static_builder *builder, const struct window *window,
                                  uint64_t more, uint64_t *count, petal_error *error)
{
    struct spill *spill = spill_of(builder);
    if (more <= spill->batch.room - *count) return PETAL_OK;
    uint64_t *hashes = spill->batch.hashes + window->begin, own = *count - window->begin;
    petal_sort64(hashes, own);
    *count = window->begin + petal_static_drop_equal(hashes, own);
    uint64_t room = spill->batch.room, needed = saturating_add(*count, more);
    if (needed <= room / 2) return PETAL_OK;
    while (room < saturating_add(needed, needed / 2)) room = saturating_add(room, room);
    return room == spill->batch.room ? PETAL_OK : make_room(builder, room, error);
}

/* Appends the run's hashes whose start is below `end` to the window, which ends at *count. */
static petal_status take_from_run(petal_static_builder *builder, struct run *run,
                                  const struct window *window, uint64_t starts, uint64_t end,
                                  uint64_t *count, petal_error *error)
{
    struct spill *spill = spill_of(builder);
    petal_status status = PETAL_OK;
    while (status == PETAL_OK && (run->begin < run->end || run->fetched < run->count)) {
        if (run->begin == run->end) status = fetch_piece(spill, run, error);
        if (status != PETAL_OK) return status;
        uint64_t to = window_end(run, starts, end), taken = to - run->begin;
        status = make_room_for(builder, window, taken, count, error);
        if (status != PETAL_OK) return status;
        memcpy(spill->batch.hashes + *count, run->piece + run->begin, taken * sizeof *run->piece);
        *count += taken;
        run->begin = to;
        if (to < run->end) break;
    }
    return status;
}

/* ---- batches of windows ---------------------------------------------------------------------- */

/* The range of hashes, scaled to `starts` and divided into windows of equal width. */
struct range {
    uint64_t starts, window_starts, windows;
};

/* Reads as many windows as there is room for, starting with window number batch.first. */
static petal_status take_batch(petal_static_builder *builder, const struct range *range,
                               petal_error *error)
{
    struct spill *spill = spill_of(builder);
    uint64_t count = 0, expected = spill->hash_count / range->windows, number = spill->batch.first;
    petal_status status = PETAL_OK;
    spill->batch.count = 0;
    while (status == PETAL_OK && number < range->windows &&
           spill->batch.count < MAX_BATCH_WINDOWS &&
           (spill->batch.count == 0 || count + expected + expected / 8 <= spill->batch.room)) {
        struct window *window = &spill->batch.windows[spill->batch.count++];
        *window = (struct window){.begin = count};
        number++;
        uint64_t end = number == range->windows ? range->starts : number * range->window_starts;
        for (struct run *run = spill->runs; run && status == PETAL_OK; run = run->next)
            status = take_from_run(builder, run, window, range->starts, end, &count, error);
        window->end = count;
    }
    return status;
}

static struct window *sorted_window(petal_static_builder *builder, uint64_t number,
                                    uint64_t **hashes)
{
    struct spill *spill = spill_of(builder);
    struct window *window = &spill->batch.windows[number];
    uint64_t count = window->end - window->begin;
    *hashes = count ? spill->batch.hashes + window->begin : NULL;
    petal_sort64(*hashes, count);
    window->kept = petal_static_drop_equal(*hashes, count);
    return window;
}

static void sort_window(petal_static_builder *builder, struct worker *worker, uint64_t number)
{
    uint64_t *hashes;
    (void)worker;
    (void)sorted_window(builder, number, &hashes);
}

static void solve_window(petal_static_builder *builder, struct worker *worker, uint64_t number)
{
    const struct bit_array *array = &builder->layer->array;
    uint64_t *hashes, page = spill_of(builder)->batch.first + number;
    struct window *window = sorted_window(builder, number, &hashes);
    petal_error error;
    window->bumped = petal_static_solve(array, page, hashes, window->kept, &worker->room);
    for (uint64_t i = 0; i < window->bumped; i++)
        hashes[i] = static_next_hash(hashes[i], array->number + 1);
    if (worker->failure.status == PETAL_OK &&
        petal_static_keep(builder, worker, hashes, window->bumped, &error) != PETAL_OK)
        worker->failure = error;
}

struct totals {
    uint64_t kept, bumped;
};

/* If the layer is a list, appends the hashes of each window to it. */
static petal_status end_batch(petal_static_builder *builder, bool is_list, struct totals *totals,
                              petal_error *error)
{
    const struct spill *spill = spill_of(builder);
    for (uint64_t i = 0; i < spill->batch.count; i++) {
        const struct window *window = &spill->batch.windows[i];
        totals->kept += window->kept;
        totals->bumped += window->bumped;
        if (is_list && totals->kept <= builder->key_count)
            for (uint64_t k = 0; k < window->kept; k++)
                store64le(builder->layer->array.bytes + 8 * (totals->kept - window->kept + k),
                          spill->batch.hashes[window->begin + k]);
    }
    return petal_static_first_failure(builder, error);
}

/* Merges all runs. `step` sorts each window's hashes and may solve the window. If `is_list` is
 * true, the hashes are appended to the layer's list. */
static petal_status merge(petal_static_builder *builder, const struct runner *runner,
                          const struct range *range, static_step *step, bool is_list,
                          struct totals *totals, petal_error *error)
{
    struct spill *spill = spill_of(builder);
    uint64_t bytes = bytes_left(builder) / 4;
    *totals = (struct totals){0, 0};
    petal_status status = begin_reading(builder, bytes, error);
    if (status == PETAL_OK) status = make_room(builder, bytes / sizeof(uint64_t), error);
    for (spill->batch.first = 0; status == PETAL_OK && spill->batch.first < range->windows;
         spill->batch.first += spill->batch.count) {
        status = take_batch(builder, range, error);
        if (status != PETAL_OK) break;
        petal_static_do_steps(builder, runner, step, spill->batch.count);
        status = end_batch(builder, is_list, totals, error);
    }
    end_reading(builder);
    return status;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static bool has_runs(const petal_static_builder *builder)
{
    for (uint32_t i = 0; i < builder->worker_count; i++)
        if (builder->workers[i].runs) return true;
    return false;
}

static struct range windows_to_count(const struct spill *spill)
{
    uint64_t windows = spill->hash_count / COUNTED_WINDOW + 1;
    return (struct range){windows, 1, windows};
}

static petal_status gather(petal_static_builder *builder, const struct runner *runner,
                           petal_error *error)
{
    struct spill *spill = spill_of(builder);
    struct totals totals;
    petal_static_do_steps(builder, runner, write_rest, builder->worker_count);
    petal_status status = petal_static_first_failure(builder, error);
    for (uint32_t i = 0; i < builder->worker_count; i++) {
        struct worker *worker = &builder->workers[i];
        for (struct run *run; (run = worker->runs);) {
            worker->runs = run->next;
            run->next = spill->runs;
            spill->runs = run;
            spill->run_count++;
            spill->hash_count += run->count;
        }
        worker->keys = 0;
    }
    struct range range = windows_to_count(spill);
    if (status == PETAL_OK)
        status = merge(builder, runner, &range, sort_window, false, &totals, error);
    if (status == PETAL_OK) builder->key_count = totals.kept;
    return status;
}

static void drop_runs(petal_static_builder *builder, struct run **runs)
{
    for (struct run *run; (run = *runs);) {
        *runs = run->next;
        petal_release(&builder->allocator, run, sizeof *run);
    }
}

static petal_status fill(petal_static_builder *builder, const struct runner *runner,
                         petal_error *error)
{
    struct spill *spill = spill_of(builder);
    const struct bit_array *array = &builder->layer->array;
    bool is_list = array->shape.hashes == 0;
    struct totals totals;
    struct range range = windows_to_count(spill);
    if (!is_list)
        range = (struct range){array->shape.bits,
                               (uint64_t)array->pages.full.buckets * STATIC_BUCKET_STARTS,
                               array->pages.last_number + 1};
    limit_chunks(builder, bytes_left(builder) / 4);
    petal_status status = merge(builder, runner, &range, is_list ? sort_window : solve_window,
                                is_list, &totals, error);
    if (status != PETAL_OK) return status;
    if (totals.kept != builder->key_count)
        return petal_fail(error, PETAL_ERR_IO,
                          "the temporary file does not return what was written");
    builder->layer->items = builder->layer->capacity = totals.kept - totals.bumped;
    builder->key_count = totals.bumped;
    drop_runs(builder, &spill->runs);
    spill->run_count = spill->hash_count = 0;
    return PETAL_OK;
}

static void release(petal_static_builder *builder)
{
    struct spill *spill = spill_of(builder);
    end_reading(builder);
    drop_runs(builder, &spill->runs);
    for (uint32_t i = 0; i < builder->worker_count; i++)
        drop_runs(builder, &builder->workers[i].runs);
    spill->file.close(spill->file.context);
    petal_release(&builder->allocator, spill, sizeof *spill);
    builder->spill = NULL;
}

static const struct static_spill_calls calls = {
    .empty_chunk = empty_chunk,
    .has_runs = has_runs,
    .gather = gather,
    .fill = fill,
    .release = release,
};

petal_status petal_static_builder_check_spill(const petal_static_builder *builder,
                                              uint64_t memory_bytes, petal_error *error)
{
    uint64_t min = (uint64_t)MIN_BYTES_PER_WORKER * builder->worker_count;
    if (builder->spill)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the builder already has a temporary file");
    for (uint32_t i = 0; i < builder->worker_count; i++)
        if (builder->workers[i].chunks)
            return petal_fail(error, PETAL_ERR_ARGUMENT, "the builder already has keys");
    if (memory_bytes < min)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%llu bytes of memory are too few; the least is %u per thread, here %llu",
                          (unsigned long long)memory_bytes, MIN_BYTES_PER_WORKER,
                          (unsigned long long)min);
    return PETAL_OK;
}

petal_status petal_static_builder_spill(petal_static_builder *builder, uint64_t memory_bytes,
                                        const struct static_spill_file *file, petal_error *error)
{
    struct spill *made = petal_alloc(&builder->allocator, sizeof *made);
    if (!made) return out_of_memory(error);
    made->base.calls = &calls;
    made->file = *file;
    made->memory_bytes = memory_bytes;
    builder->spill = &made->base;
    limit_chunks(builder, memory_bytes / 2);
    return PETAL_OK;
}

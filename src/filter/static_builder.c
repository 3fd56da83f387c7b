/* static_builder.c - builds a static filter. scheme/static.c implements the scheme.
 *
 *     add        hashes, into chunks of each worker
 *     finish     chunks -> parts by the highest byte -> each part sorted -> equal ones dropped
 *                layer 0: pages solved, each on its own; what they bump is moved to the front
 *                layer 1: these, with a different hash, sorted; and so on until none is left
 *
 * Building needs at most 16 bytes of memory per key. A chunk is released when its hashes have been
 * moved to their parts, but an allocator may keep the memory. If less memory is available,
 * static_spill.c does the work. Parts and pages are tasks that any number of threads can execute.
 * The result does not depend on which thread executes which task. */
#include "filter/static_builder.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/batch.h"
#include "filter/missing_bits.h"
#include "filter/static_work.h"

#define MAX_WORKERS 1024u

/* Chunks double in size up to 1 MiB. */
#define FIRST_CHUNK_HASHES 512u
#define MAX_CHUNK_HASHES 131072u

/* ---- tasks ----------------------------------------------------------------------------------- */

struct job {
    petal_static_builder *builder;
    static_step *step;
    uint64_t count;
    _Atomic uint64_t next;
};

static void take_steps(void *argument, uint32_t worker)
{
    struct job *job = argument;
    uint64_t number;
    while ((number = atomic_fetch_add(&job->next, 1)) < job->count)
        job->step(job->builder, &job->builder->workers[worker], number);
}

void petal_static_do_steps(petal_static_builder *builder, const struct runner *runner,
                           static_step *step, uint64_t count)
{
    struct job job = {.builder = builder, .step = step, .count = count};
    if (runner->run && count > 1)
        runner->run(runner->context, take_steps, &job, builder->worker_count);
    take_steps(&job, 0);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint64_t chunk_bytes(uint64_t room)
{
    return sizeof(struct chunk) + room * sizeof(uint64_t);
}

petal_status petal_static_add_chunk(petal_static_builder *builder, struct worker *worker,
                                    uint64_t room, petal_error *error)
{
    struct chunk *made = petal_alloc(&builder->allocator, chunk_bytes(room));
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    made->next = worker->chunks;
    made->room = room;
    worker->chunks = made;
    atomic_fetch_add(&builder->held_bytes, chunk_bytes(room));
    return PETAL_OK;
}

void petal_static_drop_chunk(petal_static_builder *builder, struct worker *worker)
{
    struct chunk *chunk = worker->chunks;
    worker->chunks = chunk->next;
    atomic_fetch_sub(&builder->held_bytes, chunk_bytes(chunk->room));
    petal_release(&builder->allocator, chunk, chunk_bytes(chunk->room));
}

/* Ensures that the latest chunk has room for a hash. */
static petal_status prepare_chunk(petal_static_builder *builder, struct worker *worker,
                                  petal_error *error)
{
    const struct chunk *last = worker->chunks;
    if (last && last->count < last->room) return PETAL_OK;
    uint64_t room = at_most(last ? 2 * last->room : FIRST_CHUNK_HASHES, builder->max_chunk_hashes);
    if (last && builder->spill &&
        atomic_load(&builder->held_bytes) + chunk_bytes(room) > builder->max_held_bytes)
        return builder->spill->calls->empty_chunk(builder, worker, error);
    return petal_static_add_chunk(builder, worker, room, error);
}

petal_status petal_static_keep(petal_static_builder *builder, struct worker *worker,
                               const uint64_t *hashes, uint64_t count, petal_error *error)
{
    for (uint64_t done = 0, piece; done < count; done += piece) {
        petal_status status = prepare_chunk(builder, worker, error);
        if (status != PETAL_OK) return status;
        struct chunk *chunk = worker->chunks;
        piece = at_most(count - done, chunk->room - chunk->count);
        memcpy(chunk->hashes + chunk->count, hashes + done, (size_t)piece * sizeof *hashes);
        chunk->count += piece;
        worker->keys += piece;
    }
    return PETAL_OK;
}

petal_status petal_static_collect(petal_filter *filter, const uint64_t *words, size_t count,
                                  petal_error *error)
{
    petal_static_builder *builder = filter->builder;
    struct worker *worker = builder->workers;
    if (worker->failure.status != PETAL_OK) {
        *error = worker->failure;
        return error->status;
    }
    uint64_t before = worker->keys;
    petal_status status = petal_static_keep(builder, worker, words, count, error);
    filter->layers->items += worker->keys - before;
    return status;
}

static petal_status add(petal_static_builder *builder, struct worker *worker,
                        const petal_batch *batch, petal_error *error)
{
    for (uint64_t done = 0, piece; done < batch->count; done += piece) {
        petal_status status = prepare_chunk(builder, worker, error);
        if (status != PETAL_OK) return status;
        struct chunk *chunk = worker->chunks;
        uint64_t *to = chunk->hashes + chunk->count;
        piece = at_most(batch->count - done, chunk->room - chunk->count);
        const uint64_t *words = petal_batch_words(builder->filter, batch, done, (size_t)piece, to);
        if (words != to) memcpy(to, words, (size_t)piece * sizeof *to);
        chunk->count += piece;
        worker->keys += piece;
    }
    return PETAL_OK;
}

petal_status petal_static_add(petal_static_builder *builder, uint32_t worker,
                              const petal_batch *theirs, petal_error *error)
{
    petal_error own;
    petal_batch batch;
    if (!error) error = &own;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (worker >= builder->worker_count)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "the builder has no worker of number %u; it has %u, from 0", worker,
                          builder->worker_count);
    petal_status status = petal_batch_take(theirs, &batch, error);
    if (status == PETAL_OK) status = add(builder, &builder->workers[worker], &batch, error);
    petal_error *failure = &builder->workers[worker].failure;
    if (status != PETAL_OK && failure->status == PETAL_OK) *failure = *error;
    return status;
}

/* ---- sorted and all different ---------------------------------------------------------------- */

static void count_parts(petal_static_builder *builder)
{
    uint64_t *begins = builder->part_begins;
    for (uint32_t i = 0; i < builder->worker_count; i++)
        for (struct chunk *chunk = builder->workers[i].chunks; chunk; chunk = chunk->next)
            for (uint64_t k = 0; k < chunk->count; k++) begins[sort_part(chunk->hashes[k]) + 1]++;
    for (uint32_t part = 0; part < PETAL_SORT_PARTS; part++) begins[part + 1] += begins[part];
}

static void deal_parts(petal_static_builder *builder)
{
    uint64_t next[PETAL_SORT_PARTS];
    memcpy(next, builder->part_begins, sizeof next);
    for (uint32_t i = 0; i < builder->worker_count; i++) {
        struct worker *worker = &builder->workers[i];
        while (worker->chunks) {
            const struct chunk *chunk = worker->chunks;
            for (uint64_t k = 0; k < chunk->count; k++)
                builder->keys[next[sort_part(chunk->hashes[k])]++] = chunk->hashes[k];
            petal_static_drop_chunk(builder, worker);
        }
    }
}

static void sort_one_part(petal_static_builder *builder, struct worker *worker, uint64_t part)
{
    uint64_t from = builder->part_begins[part], to = builder->part_begins[part + 1];
    (void)worker;
    petal_sort64_part(builder->keys + from, to - from);
}

uint64_t petal_static_drop_equal(uint64_t *hashes, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || hashes[i] != hashes[kept - 1]) hashes[kept++] = hashes[i];
    return kept;
}

static petal_status gather(petal_static_builder *builder, const struct runner *runner,
                           petal_error *error)
{
    if (builder->spill && builder->spill->calls->has_runs(builder))
        return builder->spill->calls->gather(builder, runner, error);
    for (uint32_t i = 0; i < builder->worker_count; i++)
        builder->key_room = saturating_add(builder->key_room, builder->workers[i].keys);
    builder->key_count = builder->key_room;
    if (builder->key_count == 0) return PETAL_OK;
    uint64_t bytes;
    if (checked_mul(builder->key_room, sizeof *builder->keys, &bytes))
        builder->keys = petal_alloc(&builder->allocator, bytes);
    if (!builder->keys)
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory: %llu keys need 8 bytes each",
                          (unsigned long long)builder->key_room);
    count_parts(builder);
    deal_parts(builder);
    petal_static_do_steps(builder, runner, sort_one_part, PETAL_SORT_PARTS);
    builder->key_count = petal_static_drop_equal(builder->keys, builder->key_count);
    return PETAL_OK;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void solve_page(petal_static_builder *builder, struct worker *worker, uint64_t page)
{
    uint64_t from = builder->page_begins[page], to = builder->page_begins[page + 1];
    uint64_t *hashes = to > from ? builder->keys + from : NULL; /* NULL if there are no keys */
    builder->page_bumped[page] =
        petal_static_solve(&builder->layer->array, page, hashes, to - from, &worker->room);
}

/* Moves the hashes that pages have bumped to the front, and converts them to the next layer's
 * hash. */
static void bring_bumped(petal_static_builder *builder)
{
    uint64_t kept = 0, pages = builder->layer->array.pages.last_number + 1;
    uint32_t next = builder->layer->array.number + 1;
    for (uint64_t page = 0; page < pages; page++)
        for (uint64_t i = 0; i < builder->page_bumped[page]; i++)
            builder->keys[kept++] =
                static_next_hash(builder->keys[builder->page_begins[page] + i], next);
    builder->key_count = kept;
}

static void solve_pages(petal_static_builder *builder, const struct runner *runner)
{
    const struct bit_array *array = &builder->layer->array;
    uint64_t keys = builder->key_count, pages = array->pages.last_number + 1;
    for (uint64_t page = 0; page < pages; page++)
        builder->page_begins[page] = petal_static_page_begin(array, page, builder->keys, keys);
    builder->page_begins[pages] = keys;
    petal_static_do_steps(builder, runner, solve_page, pages);
    bring_bumped(builder);
    builder->layer->items = builder->layer->capacity = keys - builder->key_count;
    petal_sort64(builder->keys, builder->key_count);
}

static petal_status fill_with_pages(petal_static_builder *builder, const struct runner *runner,
                                    petal_error *error)
{
    uint64_t pages = builder->layer->array.pages.last_number + 1,
             bytes = (2 * pages + 1) * sizeof(uint64_t);
    builder->page_begins = petal_alloc(&builder->allocator, bytes);
    if (!builder->page_begins) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    builder->page_bumped = builder->page_begins + pages + 1;
    solve_pages(builder, runner);
    petal_release(&builder->allocator, builder->page_begins, bytes);
    return PETAL_OK;
}

static void fill_with_hashes(petal_static_builder *builder)
{
    for (uint64_t i = 0; i < builder->key_count; i++)
        store64le(builder->layer->array.bytes + 8 * i, builder->keys[i]);
    builder->layer->items = builder->layer->capacity = builder->key_count;
    builder->key_count = 0;
}

/* The first layer already exists, without bits. */
static petal_status begin_layer(petal_static_builder *builder, const struct shape *shape,
                                petal_error *error)
{
    petal_filter *filter = builder->filter;
    if (!builder->layer) {
        petal_layer_set_shape(filter->layers, shape, filter->hash);
        petal_status status = petal_filter_alloc_layer(filter, filter->layers, error);
        builder->layer = filter->layers;
        return status;
    }
    petal_status status = petal_filter_add_layer(filter, shape, error);
    builder->layer = petal_filter_last(filter);
    return status;
}

static petal_status make_layer(petal_static_builder *builder, const struct runner *runner,
                               uint32_t number, petal_error *error)
{
    double rate = builder->filter->layers->target_rate;
    bool is_list =
        builder->key_count > 0 && (number == STATIC_MAX_LAYERS ||
                                   petal_static_prefers_list(&builder->shape, builder->key_count));
    struct shape shape = builder->shape;
    if (is_list)
        shape = (struct shape){.scheme = PETAL_SCHEME_STATIC, .bits = 64 * builder->key_count};
    else
        shape.bits = petal_static_starts(builder->key_count);
    petal_status status = petal_normalize(&shape, error);
    if (status == PETAL_OK) status = begin_layer(builder, &shape, error);
    if (status != PETAL_OK) return status;
    builder->layer->target_rate = rate;
    if (builder->key_count > 0 && !builder->keys)
        return builder->spill->calls->fill(builder, runner, error);
    if (!is_list) return fill_with_pages(builder, runner, error);
    fill_with_hashes(builder);
    return PETAL_OK;
}

petal_status petal_static_first_failure(const petal_static_builder *builder, petal_error *error)
{
    for (uint32_t i = 0; i < builder->worker_count; i++)
        if (builder->workers[i].failure.status != PETAL_OK) {
            *error = builder->workers[i].failure;
            return error->status;
        }
    return PETAL_OK;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* The maximum number of rows in the pages that a worker solves. */
static uint32_t page_rows(const petal_static_builder *builder)
{
    struct bit_array array = {.shape = builder->shape};
    array.shape.bits = petal_static_starts(builder->key_count);
    petal_scheme_static.prepare(&array);
    return static_page_rows(array.pages.last_number ? &array.pages.full : &array.pages.last);
}

static petal_status make_rooms(petal_static_builder *builder, const struct runner *runner,
                               petal_error *error)
{
    uint32_t rows = page_rows(builder), count = runner->run ? builder->worker_count : 1;
    for (uint32_t i = 0; i < count; i++) {
        struct static_room *room = &builder->workers[i].room;
        room->count = rows;
        room->rows = petal_alloc(&builder->allocator, rows * sizeof *room->rows);
        room->sums = petal_alloc(&builder->allocator, rows * sizeof *room->sums);
        if (!room->rows || !room->sums) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    }
    return PETAL_OK;
}

static petal_status make_all(petal_static_builder *builder, const struct runner *runner,
                             petal_error *error)
{
    petal_status status = gather(builder, runner, error);
    if (status == PETAL_OK) status = make_rooms(builder, runner, error);
    uint32_t number = 0;
    do {
        if (status == PETAL_OK && number > 0 && !builder->keys)
            status = gather(builder, runner, error); /* bumped by a layer built from the file */
        if (status == PETAL_OK) status = make_layer(builder, runner, number++, error);
    } while (status == PETAL_OK && builder->key_count > 0);
    return status;
}

void petal_static_builder_release(petal_filter *filter)
{
    petal_static_builder *builder = filter->builder;
    const petal_allocator *memory = &filter->allocator;
    if (!builder) return;
    if (builder->spill) builder->spill->calls->release(builder);
    for (uint32_t i = 0; i < builder->worker_count; i++) {
        struct worker *worker = &builder->workers[i];
        while (worker->chunks) petal_static_drop_chunk(builder, worker);
        petal_release(memory, worker->room.rows, worker->room.count * sizeof *worker->room.rows);
        petal_release(memory, worker->room.sums, worker->room.count * sizeof *worker->room.sums);
    }
    petal_release(memory, builder->keys, builder->key_room * sizeof *builder->keys);
    petal_release(memory, builder->workers, builder->worker_count * sizeof *builder->workers);
    petal_release(memory, builder, sizeof *builder);
    filter->builder = NULL;
}

void petal_static_builder_follow(petal_filter *filter)
{
    filter->builder->filter = filter;
}

const petal_allocator *petal_static_builder_allocator(const petal_static_builder *builder)
{
    return &builder->allocator;
}

uint64_t petal_static_builder_bytes(const petal_filter *filter)
{
    const petal_static_builder *builder = filter->builder;
    uint64_t sum = 0;
    for (uint32_t i = 0; builder && i < builder->worker_count; i++)
        for (struct chunk *chunk = builder->workers[i].chunks; chunk; chunk = chunk->next)
            sum += chunk_bytes(chunk->room);
    return sum;
}

petal_status petal_static_take_keys(petal_static_builder *builder, const uint64_t **hashes,
                                    uint64_t *count, petal_error *error)
{
    const struct runner alone = {NULL, NULL};
    petal_status status = petal_static_first_failure(builder, error);
    if (status == PETAL_OK) status = gather(builder, &alone, error);
    if (status == PETAL_OK && builder->key_count > 0 && !builder->keys)
        status = petal_fail(error, PETAL_ERR_UNSUPPORTED,
                            "the keys are in a temporary file, and are needed in memory here");
    *hashes = builder->keys;
    *count = builder->key_count;
    return status;
}

const petal_filter *petal_static_pattern(const petal_static_builder *builder)
{
    return builder->filter;
}

/* After a failure, the layers contain only some of the keys, so they must not answer queries. */
static void drop_bits(petal_filter *filter)
{
    struct layer *first = filter->layers;
    if (filter->layer_count > 1) petal_filter_drop_layers(filter, 1, filter->layer_count - 1);
    petal_release(&filter->allocator, first->own_lines, first->own_bytes);
    first->own_lines = first->array.bytes = NULL;
    first->own_bytes = 0;
}

static petal_status build(petal_filter *filter, const struct runner *runner, petal_error *error)
{
    petal_static_builder *builder = filter->builder;
    petal_status status = petal_static_first_failure(builder, error);
    if (status == PETAL_OK) status = make_all(builder, runner, error);
    if (status != PETAL_OK) {
        drop_bits(filter);
        builder->workers->failure = *error;
        return status;
    }
    petal_static_builder_release(filter);
    petal_filter_note_bits(filter);
    return PETAL_OK;
}

petal_status petal_static_build(petal_filter *filter, petal_error *error)
{
    const struct runner alone = {NULL, NULL};
    petal_error own;
    return build(filter, &alone, error ? error : &own);
}

petal_status petal_static_finish(petal_static_builder *builder, petal_run run, void *context,
                                 petal_filter **filter, petal_error *error)
{
    const struct runner runner = {run, context};
    petal_error own;
    if (filter) *filter = NULL;
    if (!builder) return PETAL_OK;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_filter *made = builder->filter;
    petal_status status = filter ? build(made, &runner, error ? error : &own) : PETAL_OK;
    if (filter && status == PETAL_OK)
        *filter = made;
    else
        petal_free(made);
    return status;
}

petal_status petal_static_builder_attach(petal_filter *filter, uint32_t workers, petal_error *error)
{
    const petal_allocator *memory = &filter->allocator;
    if (workers == 0 || workers > MAX_WORKERS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a builder has 1 to %u workers, not %u",
                          MAX_WORKERS, workers);
    petal_static_builder *made = petal_alloc(memory, sizeof *made);
    struct worker *list = petal_alloc(memory, workers * sizeof *list);
    if (!made || !list) {
        petal_release(memory, made, sizeof *made);
        petal_release(memory, list, workers * sizeof *list);
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    }
    made->filter = filter;
    made->allocator = *memory;
    made->shape = filter->layers->array.shape;
    made->worker_count = workers;
    made->workers = list;
    made->max_chunk_hashes = MAX_CHUNK_HASHES;
    filter->builder = made;
    petal_filter_note_bits(filter);
    return PETAL_OK;
}

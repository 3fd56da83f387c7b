/* build.c - the aggregate petal_build(key [, rate [, capacity]]).
 *
 *   Without a capacity: a static filter (the smallest kind), for which each thread collects 8 bytes
 *   per key until the last row. With one: a blocked filter for this many keys, which can be merged
 *   with others of the same capacity and rate.
 *
 * DuckDB makes a state per thread and group, combines them, and may combine or finish a state more
 * than once (in windows). So these calls don't change their source. States share what they
 * collected. With a capacity, a state becomes a filter as soon as its hashes would take more memory
 * than one; two filters are merged.
 *
 * NULL keys are skipped. If nothing is left, the result is NULL. */
#include "glue.h"

#include <petal/petal_build.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4, MOST_ROOM = 1 << 16 };

/* Hashes of keys. Only a piece with one owner gets more. */
struct piece {
    atomic_uint owners;
    uint32_t used, room;
    uint64_t hashes[];
};

struct build {
    bool begun;
    double rate;
    uint64_t capacity; /* 0 if none */
    struct piece **pieces;
    size_t count, room;   /* pieces */
    uint64_t hashes;      /* in the pieces */
    petal_filter *filter; /* NULL while all keys are in the pieces */
};

static idx_t build_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(struct build);
}

static void build_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    memset(state, 0, sizeof(struct build));
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void drop_pieces(struct build *build)
{
    for (size_t i = 0; i < build->count; i++)
        if (atomic_fetch_sub(&build->pieces[i]->owners, 1) == 1) free(build->pieces[i]);
    free(build->pieces);
    build->pieces = NULL;
    build->count = build->room = 0;
    build->hashes = 0;
}

/* Makes room for `more` pointers to pieces. */
static bool reserve(struct build *build, size_t more)
{
    if (build->room - build->count >= more) return true;
    size_t room = 2 * build->room + more;
    struct piece **pieces = realloc(build->pieces, room * sizeof *pieces);
    if (!pieces) return false;
    build->pieces = pieces;
    build->room = room;
    return true;
}

/* The piece that gets the next hash: the last one, or a new one with twice its room. */
static struct piece *piece_with_room(struct build *build)
{
    struct piece *last = build->count > 0 ? build->pieces[build->count - 1] : NULL;
    if (last && last->used < last->room && atomic_load(&last->owners) == 1) return last;
    uint32_t room = last && last->room < MOST_ROOM ? 2 * last->room : last ? MOST_ROOM : FIRST_ROOM;
    struct piece *piece = malloc(sizeof *piece + room * sizeof *piece->hashes);
    if (!piece || !reserve(build, 1)) {
        free(piece);
        return NULL;
    }
    atomic_init(&piece->owners, 1);
    piece->used = 0;
    piece->room = room;
    return build->pieces[build->count++] = piece;
}

static bool collect(struct build *build, const uint64_t *hashes, uint64_t count)
{
    while (count > 0) {
        struct piece *piece = piece_with_room(build);
        if (!piece) return false;
        uint64_t room = piece->room - piece->used, taken = count < room ? count : room;
        memcpy(piece->hashes + piece->used, hashes, taken * sizeof *hashes);
        piece->used += (uint32_t)taken;
        build->hashes += taken;
        hashes += taken;
        count -= taken;
    }
    return true;
}

static bool share_pieces(struct build *to, const struct build *from)
{
    if (!reserve(to, from->count)) return false;
    for (size_t i = 0; i < from->count; i++) {
        atomic_fetch_add(&from->pieces[i]->owners, 1);
        to->pieces[to->count++] = from->pieces[i];
    }
    to->hashes += from->hashes;
    return true;
}

/* ---- filters --------------------------------------------------------------------------------- */

static petal_batch batch_of(const uint64_t *hashes, uint64_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_HASHES;
    batch.data = hashes;
    batch.count = count;
    return batch;
}

static petal_options options_of(const struct call *call, const struct build *build)
{
    return build_options(build->rate, build->capacity, key_kind(call->overload->key), NULL);
}

static bool add(const struct call *call, petal_filter *filter, const uint64_t *hashes,
                uint64_t count)
{
    petal_error error;
    petal_batch batch = batch_of(hashes, count);
    if (petal_add_batch(filter, &batch, NULL, NULL, &error) >= 0) return true;
    error.offset = PETAL_NO_OFFSET; /* the position in the batch is meaningless */
    return fail_with(call, NULL, &error);
}

static bool add_pieces(const struct call *call, petal_filter *filter, const struct build *build)
{
    bool done = true;
    for (size_t i = 0; i < build->count && done; i++)
        done = add(call, filter, build->pieces[i]->hashes, build->pieces[i]->used);
    return done;
}

/* The filter with a capacity; NULL after an error. */
static petal_filter *create_blocked(const struct call *call, const struct build *build)
{
    petal_error error;
    petal_filter *filter;
    petal_options options = options_of(call, build);
    if (petal_create(&options, &filter, &error) != PETAL_OK) {
        fail_with(call, NULL, &error);
        return NULL;
    }
    if (fits_in_a_blob(call, petal_serialized_bytes(filter, NULL)) &&
        add_pieces(call, filter, build))
        return filter;
    petal_free(filter);
    return NULL;
}

/* The filter without a capacity; NULL after an error. */
static petal_filter *create_static(const struct call *call, const struct build *build)
{
    petal_error error;
    petal_filter *filter = NULL;
    petal_static_builder *builder;
    petal_options options = options_of(call, build);
    if (petal_static_create(&options, 1, &builder, &error) != PETAL_OK) {
        fail_with(call, NULL, &error);
        return NULL;
    }
    for (size_t i = 0; i < build->count; i++) { /* petal_static_finish() returns its failures */
        petal_batch batch = batch_of(build->pieces[i]->hashes, build->pieces[i]->used);
        petal_static_add(builder, 0, &batch, NULL);
    }
    if (petal_static_finish(builder, NULL, NULL, &filter, &error) != PETAL_OK)
        fail_with(call, NULL, &error);
    return filter;
}

/* A blocked filter takes about as many bytes as its capacity. */
static bool is_worth_a_filter(const struct build *build)
{
    return build->capacity > 0 && build->hashes > build->capacity / sizeof(uint64_t);
}

static bool become_a_filter(const struct call *call, struct build *build)
{
    build->filter = create_blocked(call, build);
    if (build->filter) drop_pieces(build);
    return build->filter;
}

/* ---- update ---------------------------------------------------------------------------------- */

/* The arguments after the key. */
struct options {
    struct column rate, capacity;
    unsigned count;
};

static struct options options_in(const struct call *call, duckdb_data_chunk input)
{
    struct options options = {.count = call->overload->arguments - 1};
    if (options.count > 0) options.rate = column_of(input, 1);
    if (options.count > 1) options.capacity = column_of(input, 2);
    return options;
}

/* NULL in SQL means the default. */
static bool read_options(const struct call *call, const struct options *options, idx_t row,
                         double *rate, uint64_t *capacity)
{
    *rate = DEFAULT_RATE;
    *capacity = 0;
    if (options->count > 0 && !is_null(&options->rate, row)) {
        *rate = ((const double *)options->rate.data)[row];
        if (!(*rate > 0 && *rate < 1)) return fail(call, RATE_RULE);
    }
    if (options->count > 1 && !is_null(&options->capacity, row)) {
        int64_t given = ((const int64_t *)options->capacity.data)[row];
        if (given < 1) return fail(call, CAPACITY_RULE);
        *capacity = (uint64_t)given;
    }
    return true;
}

/* All rows of a group must have the same options: DuckDB decides their order. */
static bool begin(const struct call *call, struct build *build, double rate, uint64_t capacity)
{
    if (build->begun && (build->rate != rate || build->capacity != capacity))
        return fail(call, "the rate and the capacity must be the same in all rows of a group");
    build->begun = true;
    build->rate = rate;
    build->capacity = capacity;
    return true;
}

static bool take(const struct call *call, struct build *build, const uint64_t *hashes,
                 uint64_t count)
{
    if (build->filter) return add(call, build->filter, hashes, count);
    if (!collect(build, hashes, count)) return fail_memory(call);
    return !is_worth_a_filter(build) || become_a_filter(call, build);
}

static bool take_keys(const struct call *call, const struct options *options,
                      const struct keys *keys, const uint64_t *hashes,
                      duckdb_aggregate_state *states)
{
    uint64_t count = keys->batch.count, same;
    for (uint64_t i = 0; i < count; i += same) {
        double rate;
        uint64_t capacity;
        idx_t row = keys->rows ? keys->rows[i] : i;
        struct build *build = (struct build *)states[row];
        if (!read_options(call, options, row, &rate, &capacity) ||
            !begin(call, build, rate, capacity))
            return false;
        for (same = 1; i + same < count && options->count == 0; same++)
            if (states[keys->rows ? keys->rows[i + same] : i + same] != states[row]) break;
        if (!take(call, build, hashes + i, same)) return false;
    }
    return true;
}

static void build_update(duckdb_function_info info, duckdb_data_chunk input,
                         duckdb_aggregate_state *states)
{
    struct call call = aggregate_call(info);
    struct column key = column_of(input, 0);
    struct options options = options_in(&call, input);
    struct keys keys;
    petal_error error;
    idx_t rows = duckdb_data_chunk_get_size(input);
    if (!keys_read(&call, &key, call.overload->key, PETAL_KEY_TYPE_NONE, 0, rows, &keys)) return;
    uint64_t *hashes = malloc((rows > 0 ? rows : 1) * sizeof *hashes);
    if (!hashes)
        fail_memory(&call);
    else if (petal_hash_batch(library_hasher(call.overload->library), &keys.batch, hashes,
                              &error) != PETAL_OK)
        fail_with(&call, NULL, &error);
    else
        take_keys(&call, &options, &keys, hashes, states);
    free(hashes);
    keys_free(&keys);
}

/* ---- combine and finalize -------------------------------------------------------------------- */

/* `to` gets a filter with the keys of both. */
static bool merge_filter(const struct call *call, const struct build *from, struct build *to)
{
    petal_error error;
    if (to->filter)
        return petal_merge(to->filter, from->filter, &error) == PETAL_OK ||
               fail_with(call, NULL, &error);
    if (petal_clone(from->filter, &to->filter, &error) != PETAL_OK)
        return fail_with(call, NULL, &error);
    if (!add_pieces(call, to->filter, to)) return false;
    drop_pieces(to);
    return true;
}

static bool combine(const struct call *call, const struct build *from, struct build *to)
{
    if (!from->begun) return true;
    if (!begin(call, to, from->rate, from->capacity)) return false;
    if (from->filter) return merge_filter(call, from, to);
    if (to->filter) return add_pieces(call, to->filter, from);
    if (!share_pieces(to, from)) return fail_memory(call);
    return !is_worth_a_filter(to) || become_a_filter(call, to);
}

static void build_combine(duckdb_function_info info, duckdb_aggregate_state *source,
                          duckdb_aggregate_state *target, idx_t count)
{
    struct call call = aggregate_call(info);
    bool done = true;
    for (idx_t i = 0; i < count && done; i++)
        done = combine(&call, (const struct build *)source[i], (struct build *)target[i]);
}

static bool finish(const struct call *call, const struct build *build, duckdb_vector result,
                   idx_t row)
{
    petal_filter *made = build->filter     ? NULL
                         : build->capacity ? create_blocked(call, build)
                                           : create_static(call, build);
    const petal_filter *filter = build->filter ? build->filter : made;
    if (!filter) return false;
    bool done = petal_is_overfull(filter) /* merging does not notice */
                    ? fail(call, "full: the group has more than %llu keys",
                           (unsigned long long)build->capacity)
                    : result_filter(call, filter, NULL, result, row);
    petal_free(made);
    return done;
}

static void build_finalize(duckdb_function_info info, duckdb_aggregate_state *states,
                           duckdb_vector result, idx_t count, idx_t offset)
{
    struct call call = aggregate_call(info);
    bool done = true;
    for (idx_t i = 0; i < count && done; i++) {
        const struct build *build = (const struct build *)states[i];
        if (build->begun)
            done = finish(&call, build, result, offset + i);
        else
            set_null(result, offset + i);
    }
}

static void build_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        struct build *build = (struct build *)states[i];
        drop_pieces(build);
        petal_free(build->filter);
    }
}

const struct aggregate sql_build = {build_size,    build_init,     build_update,
                                    build_combine, build_finalize, build_destroy};

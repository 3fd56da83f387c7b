/* build.c - the aggregate functions that build filters.
 *
 *   petal_build(key [, rate [, capacity]])
 *       Without a capacity: a static filter, the smallest, whose group keeps 8 bytes per key until
 *       the last row. With one: a blocked filter for this many keys, which can be merged with
 *       others of the same capacity and rate.
 *   petal_merge(filter)
 *       The union of filters.
 *
 * NULL keys and NULL filters are skipped. If no other rows remain, the result is NULL.
 *
 * Several processes can aggregate in parallel, each taking part of the rows. They send their groups
 * to the leader as bytea, which contains the keys' hashes for a static filter, and otherwise the
 * filter's image. The leader concatenates the hashes, or merges the filters. The result is byte for
 * byte the same as with a single process. */
#include "glue.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"

/* ---- hashes ---------------------------------------------------------------------------------- */

/* The hashes of a static filter's keys are stored in pieces, because growing a single array would
 * copy it, and PostgreSQL limits an allocation to 1 GB. */
enum { SMALLEST_PIECE = 32, LARGEST_PIECE = 65536 };

struct piece {
    struct piece *next;
    uint32_t count, room;
    uint64_t hashes[FLEXIBLE_ARRAY_MEMBER];
};

struct hashes {
    struct piece *first, *last;
    uint64_t count;
};

static void make_room(MemoryContext context, struct hashes *hashes)
{
    uint32_t room = hashes->last ? Min(2 * hashes->last->room, LARGEST_PIECE) : SMALLEST_PIECE;
    struct piece *piece =
        MemoryContextAlloc(context, offsetof(struct piece, hashes) + room * sizeof(uint64_t));
    piece->next = NULL;
    piece->count = 0;
    piece->room = room;
    if (hashes->last)
        hashes->last->next = piece;
    else
        hashes->first = piece;
    hashes->last = piece;
}

static void add_hash(MemoryContext context, struct hashes *hashes, uint64_t hash)
{
    if (!hashes->last || hashes->last->count == hashes->last->room) make_room(context, hashes);
    hashes->last->hashes[hashes->last->count++] = hash;
    hashes->count++;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The options passed to petal_build() with its first row. */
struct options {
    double rate;
    uint64_t capacity; /* 0: static */
    uint32_t key_type;
};

/* A group of rows. `filter` is the result so far. If the filter is static, its keys are stored in
 * `hashes` until the last row. */
struct group {
    MemoryContext context;  /* of the aggregate */
    struct options options; /* rate 0: petal_merge() */
    petal_filter *filter;
    struct hashes hashes;
    const char *image; /* another process's group, in place of a filter and hashes */
    size_t image_bytes;
};

/* A group is sent as bytea, which contains this header and either hashes in the machine's byte
 * order or a petal file. */
struct header {
    struct options options;
    uint64_t hashes;
};

static bool is_static(const struct options *options)
{
    return options->rate > 0 && !options->capacity;
}

static MemoryContext aggregate_context(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "petal: called outside of an aggregate");
    return context;
}

static struct group *group_create(MemoryContext context)
{
    struct group *group = MemoryContextAllocZero(context, sizeof *group);
    group->context = context;
    return group;
}

static struct group *group_argument(FunctionCallInfo fcinfo, int argument)
{
    return PG_ARGISNULL(argument) ? NULL : (struct group *)PG_GETARG_POINTER(argument);
}

/* ---- petal_build: rows ----------------------------------------------------------------------- */

/* Reads the optional arguments. NULL selects the default. */
static struct options read_options(FunctionCallInfo fcinfo, uint32_t key_type)
{
    struct options options = {DEFAULT_RATE, 0, key_type};
    if (PG_NARGS() > 2 && !PG_ARGISNULL(2)) {
        options.rate = PG_GETARG_FLOAT8(2);
        if (!(options.rate > 0 && options.rate < 1))
            fail(ERRCODE_INVALID_PARAMETER_VALUE, RATE_RULE);
    }
    if (PG_NARGS() > 3 && !PG_ARGISNULL(3)) {
        int64_t capacity = PG_GETARG_INT64(3);
        if (capacity <= 0) fail(ERRCODE_INVALID_PARAMETER_VALUE, CAPACITY_RULE);
        options.capacity = (uint64_t)capacity;
    }
    return options;
}

/* Creates the group's filter. If the filter would be too large for a value, this raises an error
 * before memory is allocated. */
static void create_filter(struct group *group)
{
    petal_error error;
    petal_info plan = PETAL_INFO_INIT;
    petal_allocator memory = memory_of(group->context);
    petal_options options = build_options(group->options.rate, group->options.capacity,
                                          group->options.key_type, &memory);
    if (!is_static(&group->options)) {
        if (petal_plan(&options, &plan, NULL, &error) != PETAL_OK) fail_with(NULL, &error);
        check_size(plan.bytes);
    }
    if (petal_create(&options, &group->filter, &error) != PETAL_OK) fail_with(NULL, &error);
}

static struct group *build_begin(FunctionCallInfo fcinfo, uint32_t key_type)
{
    struct options options = read_options(fcinfo, key_type);
    struct group *group = group_create(aggregate_context(fcinfo));
    group->options = options;
    create_filter(group);
    return group;
}

static void build_add_key(struct group *group, const struct key *key)
{
    petal_error error;
    if (is_static(&group->options)) {
        add_hash(group->context, &group->hashes,
                 petal_hash_key(group->filter, key->data, key->size));
    } else if (petal_add(group->filter, key->data, key->size) < 0) {
        petal_last_error(group->filter, &error);
        fail_with(NULL, &error);
    }
}

/* Returns the source of the keys, which is determined once per query. */
static const struct key_source *source_of(FunctionCallInfo fcinfo)
{
    struct key_source *source = fcinfo->flinfo->fn_extra;
    if (source) return source;
    struct key_source found = key_source_of(fcinfo, 1);
    source = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *source);
    *source = found;
    fcinfo->flinfo->fn_extra = source;
    return source;
}

/* Adds the next row of petal_build(). */
SQL_FUNCTION(pg_petal_build_add)
{
    struct key key;
    struct group *group = group_argument(fcinfo, 0);
    const struct key_source *source = source_of(fcinfo);
    if (!PG_ARGISNULL(1)) {
        if (!group) group = build_begin(fcinfo, source->key_type);
        key_read(source, PG_GETARG_DATUM(1), source->key_type, &key);
        build_add_key(group, &key);
    }
    if (!group) PG_RETURN_NULL();
    PG_RETURN_POINTER(group);
}

/* ---- petal_merge: rows ----------------------------------------------------------------------- */

/* Merges an image into the group's filter, or loads it if it is the first. */
static void take_in(struct group *group, const void *bytes, size_t size)
{
    petal_allocator memory = memory_of(group->filter ? CurrentMemoryContext : group->context);
    if (!group->filter) {
        group->filter = value_load(bytes, size, &memory);
        return;
    }
    petal_filter *other = value_view(bytes, size, &memory);
    value_merge(group->filter, other);
    petal_free(other);
}

/* Adds the next row of petal_merge(). */
SQL_FUNCTION(pg_petal_merge_add)
{
    struct group *group = group_argument(fcinfo, 0);
    if (!PG_ARGISNULL(1)) {
        bytea *value = PG_GETARG_BYTEA_PP(1);
        if (!group) group = group_create(aggregate_context(fcinfo));
        take_in(group, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
    }
    if (!group) PG_RETURN_NULL();
    PG_RETURN_POINTER(group);
}

/* ---- parallel -------------------------------------------------------------------------------- */

static bytea *hashes_as_bytea(const struct hashes *hashes)
{
    uint64_t bytes = hashes->count * sizeof(uint64_t);
    if (bytes > VALUE_LIMIT - sizeof(struct header))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("petal: a parallel worker has %llu keys, too many to pass on",
                               (unsigned long long)hashes->count),
                        errhint("Set max_parallel_workers_per_gather to 0, or pass a capacity.")));
    bytea *value = palloc(VARHDRSZ + sizeof(struct header) + bytes);
    char *to = VARDATA(value) + sizeof(struct header);
    SET_VARSIZE(value, VARHDRSZ + sizeof(struct header) + bytes);
    for (const struct piece *piece = hashes->first; piece; piece = piece->next) {
        memcpy(to, piece->hashes, piece->count * sizeof(uint64_t));
        to += piece->count * sizeof(uint64_t);
    }
    return value;
}

static bytea *image_as_bytea(const petal_filter *filter)
{
    petal_error error;
    uint64_t size = petal_serialized_bytes(filter, NULL);
    check_size(size + sizeof(struct header));
    bytea *value = palloc(VARHDRSZ + sizeof(struct header) + size);
    SET_VARSIZE(value, VARHDRSZ + sizeof(struct header) + size);
    if (petal_serialize(filter, NULL, VARDATA(value) + sizeof(struct header), size, &error) !=
        PETAL_OK)
        fail_with(NULL, &error);
    return value;
}

static bytea *group_as_bytea(const struct group *group)
{
    struct header header = {group->options, group->hashes.count};
    bytea *value = is_static(&group->options) ? hashes_as_bytea(&group->hashes)
                                              : image_as_bytea(group->filter);
    memcpy(VARDATA(value), &header, sizeof header);
    return value;
}

SQL_FUNCTION(pg_petal_group_serialize)
{
    PG_RETURN_BYTEA_P(group_as_bytea((struct group *)PG_GETARG_POINTER(0)));
}

/* Keeps the bytes unchanged. pg_petal_group_combine() reads them. */
SQL_FUNCTION(pg_petal_group_deserialize)
{
    bytea *value = PG_GETARG_BYTEA_PP(0);
    struct group *group = group_create(CurrentMemoryContext);
    group->image = VARDATA_ANY(value);
    group->image_bytes = VARSIZE_ANY_EXHDR(value);
    PG_RETURN_POINTER(group);
}

static void take_in_hashes(struct group *group, const char *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t hash;
        memcpy(&hash, bytes + i * sizeof hash, sizeof hash);
        add_hash(group->context, &group->hashes, hash);
    }
}

static void take_in_image(struct group *group, const char *image, size_t size)
{
    struct header header;
    memcpy(&header, image, sizeof header);
    bool is_first = !group->filter;
    if (is_first) group->options = header.options;
    if (group->options.rate != header.options.rate ||
        group->options.capacity != header.options.capacity)
        fail(ERRCODE_INVALID_PARAMETER_VALUE, "rows differ in rate or capacity; pass constants");
    if (!is_static(&header.options)) {
        take_in(group, image + sizeof header, size - sizeof header);
    } else {
        if (is_first) create_filter(group);
        take_in_hashes(group, image + sizeof header, header.hashes);
    }
    if (header.options.capacity && petal_is_overfull(group->filter)) {
        petal_error error = {.status = PETAL_ERR_FULL, .offset = PETAL_NO_OFFSET};
        strlcpy(error.message, "the filter holds more keys than planned; make a larger one",
                sizeof error.message);
        fail_with(NULL, &error);
    }
}

SQL_FUNCTION(pg_petal_group_combine)
{
    struct group *group = group_argument(fcinfo, 0), *other = group_argument(fcinfo, 1);
    MemoryContext context = aggregate_context(fcinfo);
    if (other) {
        bytea *bytes = other->image ? NULL : group_as_bytea(other);
        if (!group) group = group_create(context);
        take_in_image(group, bytes ? VARDATA(bytes) : other->image,
                      bytes ? VARSIZE(bytes) - VARHDRSZ : other->image_bytes);
    }
    if (!group) PG_RETURN_NULL();
    PG_RETURN_POINTER(group);
}

/* ---- the results ----------------------------------------------------------------------------- */

/* Adds the hashes to the filter, and frees them piece by piece. */
static void add_hashes(petal_filter *filter, struct hashes *hashes)
{
    petal_error error;
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_HASHES;
    while (hashes->first) {
        struct piece *piece = hashes->first;
        CHECK_FOR_INTERRUPTS();
        batch.data = piece->hashes;
        batch.count = piece->count;
        if (petal_add_batch(filter, &batch, NULL, NULL, &error) != PETAL_OK)
            fail_with(NULL, &error);
        hashes->first = piece->next;
        pfree(piece);
    }
}

/* Returns the result of petal_build(). A static filter is built by this call. */
SQL_FUNCTION(pg_petal_build_result)
{
    petal_error error;
    struct group *group = group_argument(fcinfo, 0);
    if (!group) PG_RETURN_NULL();
    add_hashes(group->filter, &group->hashes);
    if (petal_freeze(group->filter, &error) != PETAL_OK) fail_with(NULL, &error);
    bytea *value = value_of(group->filter, NULL);
    petal_free(group->filter);
    PG_RETURN_BYTEA_P(value);
}

/* Returns the result of petal_merge(). */
SQL_FUNCTION(pg_petal_merge_result)
{
    struct group *group = group_argument(fcinfo, 0);
    if (!group) PG_RETURN_NULL();
    bytea *value = value_of(group->filter, NULL);
    petal_free(group->filter);
    PG_RETURN_BYTEA_P(value);
}

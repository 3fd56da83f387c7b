/* collect.c - builds an index from filters, and manages its names and groups. */
#include "base/checked.h"
#include "base/memory.h"
#include "base/sized.h"
#include "filter/missing_bits.h"
#include "filter/permission.h"
#include "filter/static_builder.h"
#include "index/index.h"
#include "scheme/plan.h"

/* ---- the handle ------------------------------------------------------------------------------ */

petal_status petal_index_new(const petal_allocator *allocator, petal_index **index,
                             petal_error *error)
{
    const petal_allocator *memory = allocator ? allocator : &petal_os_allocator;
    *index = petal_alloc(memory, sizeof **index);
    if (!*index) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    (*index)->allocator = *memory;
    (*index)->file = PETAL_NO_FILE;
    return PETAL_OK;
}

static petal_status check_options(const petal_index_options *options, petal_error *error)
{
    if (options->scheme > PETAL_SCHEME_CLASSIC)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "an index has filters of the schemes blocked and classic, not of number "
                          "%u",
                          options->scheme);
    return PETAL_OK;
}

petal_status petal_index_create(const petal_index_options *options, petal_index **index,
                                petal_error *error)
{
    petal_index_options own = PETAL_INDEX_OPTIONS_INIT;
    petal_status status = PETAL_OK;
    *index = NULL;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (options)
        status = petal_sized_take(options, &own, sizeof own, "PETAL_INDEX_OPTIONS_INIT", error);
    if (status == PETAL_OK) status = check_options(&own, error);
    if (status == PETAL_OK) status = petal_index_new(own.allocator, index, error);
    if (status == PETAL_OK && own.locked_path)
        status = petal_os_hold(own.locked_path, &(*index)->file, error);
    if (status != PETAL_OK) {
        petal_index_free(*index);
        *index = NULL;
        return status;
    }
    (*index)->scheme = own.scheme ? own.scheme : PETAL_SCHEME_BLOCKED;
    (*index)->fold = own.fold;
    return PETAL_OK;
}

/* ---- arrays that grow ------------------------------------------------------------------------ */

/* Grows an array if it has no room for another element. */
static petal_status grow(const petal_index *index, void **array, uint64_t count, uint64_t *room,
                         size_t element_bytes, petal_error *error)
{
    if (count < *room) return PETAL_OK;
    uint64_t larger = *room ? 2 * *room : 64;
    void *made = petal_alloc(&index->allocator, larger * element_bytes);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    if (count) memcpy(made, *array, (size_t)(count * element_bytes));
    petal_release(&index->allocator, *array, *room * element_bytes);
    *array = made;
    *room = larger;
    return PETAL_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns the slot of a name in the hash table, or the free slot into which the name would be
 * inserted. */
static uint64_t name_slot(const petal_index *index, const char *name, uint64_t name_bytes)
{
    uint64_t at = petal_xxh3(name, (size_t)name_bytes, 0) & (index->name_room - 1);
    for (;; at = (at + 1) & (index->name_room - 1)) {
        uint32_t number = index->names[at];
        if (number == 0) return at;
        const struct member *member = &index->members[number - 1];
        if (member->name_bytes == name_bytes && memcmp(member->name, name, (size_t)name_bytes) == 0)
            return at;
    }
}

/* Grows the hash table so that at least half of its slots stay free. */
static petal_status grow_names(petal_index *index, petal_error *error)
{
    if (2 * (index->filters + 1) <= index->name_room) return PETAL_OK;
    uint64_t room = index->name_room ? 2 * index->name_room : 128;
    uint32_t *made = petal_alloc(&index->allocator, room * sizeof *made);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_release(&index->allocator, index->names, index->name_room * sizeof *made);
    index->names = made;
    index->name_room = room;
    for (uint32_t i = 0; i < index->filters; i++) {
        const struct member *member = &index->members[i];
        made[name_slot(index, member->name, member->name_bytes)] = i + 1;
    }
    return PETAL_OK;
}

petal_status petal_index_check_name(const petal_index *index, const char *name, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (index->is_open)
        return petal_fail(error, PETAL_ERR_READ_ONLY,
                          "an index that was opened never changes; make a new one of it");
    size_t bytes = strlen(name);
    if (bytes == 0 || bytes > PETAL_INDEX_MAX_NAME_BYTES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a name has 1 to %u bytes, not %llu",
                          PETAL_INDEX_MAX_NAME_BYTES, (unsigned long long)bytes);
    if (index->filters == PETAL_INDEX_MAX_FILTERS)
        return petal_fail(error, PETAL_ERR_LIMIT, "an index has at most %u filters; make several",
                          PETAL_INDEX_MAX_FILTERS);
    if (index->name_room && index->names[name_slot(index, name, bytes + 1)])
        return petal_fail(error, PETAL_ERR_EXISTS, "the index already has a filter of this name");
    return PETAL_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct kind petal_index_kind(const petal_filter *filter)
{
    bool keyed = filter->hash->keyed;
    return (struct kind){filter->hash->id, keyed ? 0 : filter->hash_key.seed,
                         keyed ? petal_secret_check(filter->hash_key.secret) : 0,
                         filter->layers->array.shape};
}

#define COMPARE(field) \
    if (a->field != b->field) return a->field < b->field ? -1 : 1

int petal_index_compare_kinds(const struct kind *a, const struct kind *b)
{
    COMPARE(hash);
    COMPARE(seed);
    COMPARE(secret_check);
    COMPARE(shape.scheme);
    COMPARE(shape.hashes);
    COMPARE(shape.lines_per_key);
    COMPARE(shape.bits);
    return 0;
}

bool petal_index_find_group(const petal_index *index, const struct kind *kind, uint64_t *place)
{
    uint64_t from = 0, to = index->group_count;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        int order = petal_index_compare_kinds(&index->groups[middle].kind, kind);
        if (order == 0) {
            *place = middle;
            return true;
        }
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *place = from;
    return false;
}

static petal_status enter_group(petal_index *index, const struct kind *kind, petal_error *error)
{
    uint64_t at;
    if (!petal_index_find_group(index, kind, &at)) {
        petal_status status = grow(index, (void **)&index->groups, index->group_count,
                                   &index->group_room, sizeof *index->groups, error);
        if (status != PETAL_OK) return status;
        memmove(index->groups + at + 1, index->groups + at,
                (size_t)(index->group_count - at) * sizeof *index->groups);
        index->groups[at] = (struct group){.kind = *kind};
        index->group_count++;
    }
    index->groups[at].columns++;
    return PETAL_OK;
}

/* ---- filters --------------------------------------------------------------------------------- */

static petal_status check_filter(const petal_filter *filter, petal_error *error)
{
    const struct scheme_def *scheme = filter->scheme;
    if (!scheme->positions || scheme->counters || filter->hash->words != 1 ||
        filter->hash->long_seed || filter->layers->array.shape.hashes > PETAL_MAX_POSITIONS)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "an index has filters of the schemes blocked and classic, not %s; %s",
                          scheme->name,
                          scheme->counters ? "drop the counts first" : "index the keys instead");
    if (!petal_filter_can_fold(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the filter has several layers; index the keys instead");
    return petal_filter_check_secret(filter, error);
}

/* The default key type is text. */
static uint32_t key_type_of(const petal_filter *filter)
{
    return filter->key_type ? filter->key_type : PETAL_KEY_TYPE_TEXT;
}

static petal_status check_mates(const petal_index *index, const petal_filter *filter,
                                petal_error *error)
{
    uint32_t id = filter->hash->keyed ? petal_secret_id(filter->hash_key.secret) : 0;
    if (index->filters > 0 && index->key_type != key_type_of(filter))
        return petal_fail(error, PETAL_ERR_MISMATCH,
                          "its keys are of type number %u, those of the index of type %u; make "
                          "another index",
                          key_type_of(filter), index->key_type);
    if (id && index->secret_id && id != index->secret_id)
        return petal_fail(error, PETAL_ERR_MISMATCH,
                          "its secret has the id %08x, that of the index %08x; make another index",
                          id, index->secret_id);
    return PETAL_OK;
}

/* Filters that fit into memory can't be too large for a file, so this size computation can't
 * fail. */
static void measure(petal_index *index)
{
    index->image.filters = index->filters;
    index->image.names_bytes = index->names_bytes;
    index->image.group_count = index->group_count;
    index->image.key_type = index->key_type;
    index->image.secret_id = index->secret_id;
    (void)petal_index_measure(&index->image, index->groups, NULL);
}

static petal_status insert(petal_index *index, const char *name, petal_filter *filter,
                           petal_error *error)
{
    struct member member = {.name_bytes = strlen(name) + 1, .filter = filter};
    petal_status status = petal_index_check_name(index, name, error);
    if (status == PETAL_OK) status = check_filter(filter, error);
    if (status == PETAL_OK) status = check_mates(index, filter, error);
    if (status == PETAL_OK)
        status = grow(index, (void **)&index->members, index->filters, &index->member_room,
                      sizeof member, error);
    if (status == PETAL_OK) status = grow_names(index, error);
    if (status != PETAL_OK) return status;
    member.name = petal_alloc(&index->allocator, member.name_bytes);
    if (!member.name) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    memcpy(member.name, name, (size_t)member.name_bytes);
    struct kind kind = petal_index_kind(filter);
    status = enter_group(index, &kind, error);
    if (status != PETAL_OK) {
        petal_release(&index->allocator, member.name, member.name_bytes);
        return status;
    }
    index->members[index->filters] = member;
    index->names[name_slot(index, name, member.name_bytes)] = (uint32_t)++index->filters;
    index->names_bytes += member.name_bytes;
    index->key_type = key_type_of(filter);
    if (filter->hash->keyed) index->secret_id = petal_secret_id(filter->hash_key.secret);
    measure(index);
    return PETAL_OK;
}

petal_status petal_index_insert(petal_index *index, const char *name, petal_filter *filter,
                                petal_error *error)
{
    petal_status status = insert(index, name, filter, error);
    if (status != PETAL_OK) petal_free(filter);
    return status;
}

/* ---- size classes ---------------------------------------------------------------------------- */

/* Rounds a size up to four significant bits, so the result is 8, 9, ... or 15 times a power of
 * two. */
static uint64_t size_class(uint64_t units)
{
    uint64_t step = 1;
    while (units / step > 15) step *= 2;
    return (units + step - 1) / step * step;
}

/* Makes a copy of the filter, folded to the smallest size class that divides the filter's size and
 * keeps its false-positive rate. */
static petal_status add_folded(const petal_filter *filter, petal_filter **made, petal_error *error)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *least = NULL;
    uint64_t unit = filter->scheme->fold_bits, own = filter->layers->array.shape.bits / unit;
    petal_status status = petal_fold(filter, NULL, &least, error);
    if (status != PETAL_OK) return status;
    uint64_t units = size_class(least->layers->array.shape.bits / unit);
    petal_free(least);
    while (units < own && own % units != 0) units = size_class(units + 1);
    if (units >= own) return petal_clone(filter, made, error);
    options.bits = units * unit;
    return petal_fold(filter, &options, made, error);
}

petal_status petal_index_add(petal_index *index, const char *name, const petal_filter *filter,
                             petal_error *error)
{
    petal_filter *made = NULL;
    petal_status status = petal_index_check_name(index, name, error);
    if (status == PETAL_OK) status = petal_filter_check_present(filter, error);
    if (status == PETAL_OK) status = check_filter(filter, error);
    if (status == PETAL_OK)
        status = index->fold && filter->layers->target_rate > 0 ? add_folded(filter, &made, error)
                                                                : petal_clone(filter, &made, error);
    return status == PETAL_OK ? petal_index_insert(index, name, made, error) : status;
}

/* Plans a filter for the given number of keys, and rounds its size up to a size class. */
static petal_status make_of_keys(const petal_index *index, const petal_filter *pattern,
                                 const uint64_t *hashes, uint64_t count, petal_filter **made,
                                 petal_error *error)
{
    const struct layer *layer = pattern->layers;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_batch batch = PETAL_BATCH_INIT;
    struct shape shape;
    options.scheme = index->scheme;
    options.hash = pattern->hash->id;
    options.seed = pattern->hash->keyed ? 0 : pattern->hash_key.seed;
    options.secret = pattern->hash->keyed ? pattern->hash_key.secret : NULL;
    options.key_type = pattern->key_type;
    options.allocator = &index->allocator;
    options.capacity = count ? count : 1;
    options.rate = layer->target_rate;
    petal_status status = petal_plan_shape(&options, &shape, error);
    if (status != PETAL_OK) return status;
    uint64_t unit = petal_scheme_find(shape.scheme)->fold_bits;
    options.bits = size_class(shape.bits / unit) * unit;
    options.hashes = shape.hashes;
    options.lines_per_key = shape.lines_per_key;
    status = petal_create(&options, made, error);
    batch.layout = PETAL_LAYOUT_HASHES;
    batch.data = hashes;
    batch.count = count;
    return status == PETAL_OK ? petal_add_batch(*made, &batch, NULL, NULL, error) : status;
}

static petal_status add_keys(petal_index *index, const char *name, petal_static_builder *builder,
                             petal_filter **made, petal_error *error)
{
    const uint64_t *hashes;
    uint64_t count;
    petal_status status = petal_index_check_name(index, name, error);
    if (status == PETAL_OK) status = petal_static_take_keys(builder, &hashes, &count, error);
    return status == PETAL_OK
               ? make_of_keys(index, petal_static_pattern(builder), hashes, count, made, error)
               : status;
}

petal_status petal_index_add_keys(petal_index *index, const char *name,
                                  petal_static_builder *builder, petal_error *error)
{
    petal_filter *made = NULL;
    petal_error own;
    if (!error) error = &own;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_status status = add_keys(index, name, builder, &made, error);
    petal_status finished = petal_static_finish(builder, NULL, NULL, NULL, NULL);
    if (status == PETAL_OK) status = finished;
    if (status == PETAL_OK) return petal_index_insert(index, name, made, error);
    petal_free(made);
    return status;
}

/* ---- other indexes --------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names, uint64_t count)
{
    uint64_t i = 0;
    while (i < count && strcmp(names[i], name) != 0) i++;
    return i < count;
}

/* Checks that the index contains all of these names. */
static petal_status check_without(const petal_index *other, const char *const *without,
                                  uint64_t count, petal_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = 0;
        while (number < other->filters && strcmp(petal_index_name(other, number), without[i]) != 0)
            number++;
        if (number == other->filters)
            return petal_fail_at(error, PETAL_ERR_ARGUMENT, i, "the index has no filter %.150s",
                                 without[i]);
    }
    return PETAL_OK;
}

petal_status petal_index_make_frame(const petal_index *other, uint64_t number, petal_filter **made,
                                    petal_error *error)
{
    struct index_record record = petal_index_record(&other->image, number);
    const struct group *group = &other->groups[record.group];
    const petal_filter *hasher = group->hasher;
    const void *secret = hasher->hash->keyed ? hasher->hash_key.secret : NULL;
    petal_status status =
        petal_filter_new(&group->kind.shape, 1, group->kind.hash, group->kind.seed, secret,
                         &other->allocator, made, error);
    if (status != PETAL_OK) return status;
    (*made)->layers->items = record.items;
    (*made)->layers->capacity = record.capacity;
    (*made)->layers->target_rate = record.rate;
    (*made)->key_type = other->key_type;
    return PETAL_OK;
}

/* Creates a group's filters, and stores each filter at the index given by its number. */
static petal_status take_group(const petal_index *other, const struct group *group,
                               petal_filter **made, petal_error *error)
{
    const uint8_t *rows = other->image.bytes + other->image.bits_offset + group->offset;
    const uint32_t *numbers = other->numbers + group->first;
    for (uint64_t column = 0; column < group->columns; column += PETAL_SLICE) {
        petal_filter *slice[PETAL_SLICE];
        uint32_t count = (uint32_t)at_most(group->columns - column, PETAL_SLICE);
        for (uint32_t i = 0; i < count; i++) {
            petal_filter **filter = &made[numbers[column + i]];
            petal_status status = petal_index_make_frame(other, numbers[column + i], filter, error);
            if (status == PETAL_OK) status = petal_filter_alloc_bits(*filter, error);
            if (status != PETAL_OK) return status;
            slice[i] = *filter;
        }
        petal_index_take_columns(rows, group, column, slice, count);
    }
    return PETAL_OK;
}

/* Inserts the filters. After the call, each filter is either owned by the index or freed. */
static petal_status insert_all(petal_index *index, const petal_index *other, petal_filter **made,
                               const char *const *without, uint64_t without_count,
                               petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; status == PETAL_OK && i < other->filters; i++) {
        const char *name = petal_index_name(other, i);
        if (is_among(name, without, without_count)) continue;
        status = petal_index_insert(index, name, made[i], error);
        made[i] = NULL;
    }
    return status;
}

static petal_status add_opened(petal_index *index, const petal_index *other,
                               const char *const *without, uint64_t without_count,
                               petal_error *error)
{
    uint64_t bytes = other->filters * sizeof(petal_filter *);
    petal_filter **made = petal_alloc(&index->allocator, bytes);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_status status = petal_index_verify(other, error);
    for (uint64_t i = 0; status == PETAL_OK && i < other->group_count; i++)
        status = take_group(other, &other->groups[i], made, error);
    if (status == PETAL_OK) status = insert_all(index, other, made, without, without_count, error);
    for (uint64_t i = 0; i < other->filters; i++) petal_free(made[i]);
    petal_release(&index->allocator, made, bytes);
    return status;
}

static petal_status add_made(petal_index *index, const petal_index *other,
                             const char *const *without, uint64_t without_count, petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; status == PETAL_OK && i < other->filters; i++) {
        const struct member *member = &other->members[i];
        if (!is_among(member->name, without, without_count))
            status = petal_index_add(index, member->name, member->filter, error);
    }
    return status;
}

petal_status petal_index_add_index(petal_index *index, const petal_index *other,
                                   const char *const *without, uint64_t without_count,
                                   petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (index == other)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "an index can't be added to itself");
    petal_status status = check_without(other, without, without_count, error);
    if (status != PETAL_OK) return status;
    return (other->is_open ? add_opened : add_made)(index, other, without, without_count, error);
}

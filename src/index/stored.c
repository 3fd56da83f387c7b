/* stored.c - saves, opens, describes and verifies indexes in files and in memory. */
#include "index/index.h"

#include "api/info.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/sized.h"
#include "filter/guard.h"
#include "store/budget.h"
#include "store/write.h"

/* ---- saving ---------------------------------------------------------------------------------- */

/* Gathers pieces of any size, such as a row of a few bytes, into blocks. */
struct gathering {
    uint8_t *block;
    uint64_t used, number;
    uint64_t *sums;        /* receives the blocks' checksums if `to` is NULL */
    const struct sink *to; /* receives the blocks themselves, or NULL */
};

static petal_status end_block(struct gathering *gathering, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (gathering->used == 0) return status;
    if (gathering->to)
        status = petal_put(gathering->to, gathering->block, gathering->used, error);
    else
        gathering->sums[gathering->number] =
            petal_index_block_sum(gathering->block, gathering->used, gathering->number);
    gathering->number++;
    gathering->used = 0;
    return status;
}

static petal_status gather(void *context, const void *bytes, uint64_t size_bytes,
                           petal_error *error)
{
    struct gathering *gathering = context;
    const uint8_t *from = bytes;
    petal_status status = PETAL_OK;
    for (uint64_t done = 0, piece; status == PETAL_OK && done < size_bytes; done += piece) {
        piece = at_most(size_bytes - done, PETAL_BLOCK_BYTES - gathering->used);
        memcpy(gathering->block + gathering->used, from + done, (size_t)piece);
        gathering->used += piece;
        if (gathering->used == PETAL_BLOCK_BYTES) status = end_block(gathering, error);
    }
    return status;
}

/* The buffers that saving an index needs, in one allocation. */
struct saving_room {
    uint32_t *numbers;
    uint64_t *next, *sums;
    uint8_t *tables, *block, *rows;
    void *memory;
    uint64_t bytes;
};

static petal_status make_room(const petal_index *index, const struct index_image *image,
                              struct saving_room *room, petal_error *error)
{
    uint64_t rows = 0;
    for (uint64_t i = 0; i < index->group_count; i++)
        if (petal_index_room(&index->groups[i]) > rows) rows = petal_index_room(&index->groups[i]);
    uint64_t next = index->group_count * sizeof(uint64_t), sums = image->blocks * sizeof(uint64_t),
             numbers = (index->filters + 1) / 2 * sizeof(uint64_t);
    room->bytes = next + sums + numbers + image->bits_offset + PETAL_BLOCK_BYTES + rows;
    uint8_t *memory = petal_alloc(&index->allocator, room->bytes);
    if (!memory) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    room->memory = memory;
    room->next = (uint64_t *)memory;
    room->sums = room->next + index->group_count;
    room->numbers = (uint32_t *)(room->sums + image->blocks);
    room->tables = memory + next + sums + numbers;
    room->block = room->tables + image->bits_offset;
    room->rows = room->block + PETAL_BLOCK_BYTES;
    return PETAL_OK;
}

/* Sorts the filters of each group. */
static void arrange(const petal_index *index, const struct saving_room *room)
{
    for (uint64_t i = 0; i < index->group_count; i++) room->next[i] = index->groups[i].first;
    for (uint32_t i = 0; i < index->filters; i++) {
        struct kind kind = petal_index_kind(index->members[i].filter);
        uint64_t group;
        petal_index_find_group(index, &kind, &group);
        room->numbers[room->next[group]++] = i;
    }
}

/* Writes the blocks to the sink, or computes their checksums if there is no sink. */
static petal_status put_blocks(const petal_index *index, const struct saving_room *room,
                               const struct sink *to, petal_error *error)
{
    struct gathering gathering = {.block = room->block, .sums = room->sums, .to = to};
    struct sink pieces = {gather, &gathering, false};
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; status == PETAL_OK && i < index->group_count; i++) {
        const struct group *group = &index->groups[i];
        status = petal_index_put_rows(index, group, room->numbers + group->first, room->rows,
                                      &pieces, error);
    }
    return status == PETAL_OK ? end_block(&gathering, error) : status;
}

static petal_status put_all(const petal_index *index, const struct index_image *image,
                            const struct saving_room *room, const struct sink *sink,
                            petal_error *error)
{
    arrange(index, room);
    petal_status status = put_blocks(index, room, NULL, error);
    if (status != PETAL_OK) return status;
    petal_index_write_tables(index, image, room->sums, room->tables);
    status = petal_put(sink, room->tables, image->bits_offset, error);
    return status == PETAL_OK ? put_blocks(index, room, sink, error) : status;
}

static petal_status put_made(const petal_index *index, const struct sink *sink, petal_error *error)
{
    struct saving_room room = {0};
    petal_status status = make_room(index, &index->image, &room, error);
    if (status == PETAL_OK) status = put_all(index, &index->image, &room, sink, error);
    petal_release(&index->allocator, room.memory, room.bytes);
    return status;
}

/* Verifies an opened index, and copies its bytes unchanged. */
static petal_status put_opened(const petal_index *index, const struct sink *sink,
                               petal_error *error)
{
    petal_status status = petal_index_verify(index, error);
    return status == PETAL_OK ? petal_put(sink, index->image.bytes, index->image.file_bytes, error)
                              : status;
}

petal_status petal_index_save(const petal_index *index, const char *path,
                              const petal_save_options *options, petal_error *error)
{
    struct replacement made;
    struct sink sink = {petal_os_put, &made, false};
    struct saving saving;
    petal_error own;
    /* If locked_path is given, the lock moves to the new file. The contents of the index don't
     * change. */
    struct file *file = (struct file *)(uintptr_t)&index->file;
    struct file *held = file->is_locked && petal_os_is_owner(file) ? file : NULL;
    if (!error) error = &own;
    petal_status status = petal_saving_take(options, &saving, error);
    if (status == PETAL_OK && saving.format != &petal_format_petal)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "an index has no format; leave it out");
    if (status == PETAL_OK && index->filters == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the index has no filters; add some");
    if (status == PETAL_OK) status = petal_os_begin(path, saving.flags, held, &made, error);
    if (status != PETAL_OK) return status;
    status = (PETAL_IS_READ_ONLY || index->is_open ? put_opened : put_made)(index, &sink, error);
    petal_status finished =
        petal_os_finish(&made, status == PETAL_OK, status == PETAL_OK ? error : NULL);
    return status == PETAL_OK ? finished : status;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Checks that the index has this secret, or is not keyed and needs none. All keyed groups have the
 * same secret. */
static petal_status check_secret(const petal_index *index, const void *secret, petal_error *error)
{
    const struct group *keyed = NULL;
    for (uint64_t i = 0; i < index->group_count; i++)
        if (index->groups[i].kind.hash == PETAL_HASH_SIPHASH) keyed = &index->groups[i];
    if (!keyed)
        return secret ? petal_fail(error, PETAL_ERR_SECRET_WRONG,
                                   "is not keyed, but a secret was given; leave it out")
                      : PETAL_OK;
    if (!secret)
        return petal_fail(error, PETAL_ERR_SECRET_MISSING,
                          "needs the secret with id %08x, and none was given", index->secret_id);
    for (uint64_t i = 0; i < index->group_count; i++)
        if (index->groups[i].kind.hash == PETAL_HASH_SIPHASH &&
            index->groups[i].kind.secret_check != petal_secret_check(secret))
            return petal_fail(error, PETAL_ERR_SECRET_WRONG,
                              "needs the secret with id %08x, the one given is %08x",
                              index->secret_id, petal_secret_id(secret));
    return PETAL_OK;
}

/* Creates, for each hash, a filter without bits that is used to hash keys. */
static petal_status make_hashers(petal_index *index, const void *secret, petal_error *error)
{
    static const struct shape shape = {PETAL_SCHEME_CLASSIC, 1, 0, 64};
    uint64_t bytes = index->group_count * sizeof *index->hashers;
    index->hashers = petal_alloc(&index->allocator, bytes);
    if (!index->hashers) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint64_t i = 0; i < index->group_count; i++) {
        struct group *group = &index->groups[i];
        if (i == 0 || !has_same_hash(&group->kind, &group[-1].kind)) {
            petal_status status =
                petal_filter_new(&shape, 1, group->kind.hash, group->kind.seed,
                                 petal_hash_find(group->kind.hash)->keyed ? secret : NULL,
                                 &index->allocator, &index->hashers[index->hasher_count], error);
            if (status != PETAL_OK) return status;
            index->hasher_count++;
        }
        group->hasher = index->hashers[index->hasher_count - 1];
    }
    return PETAL_OK;
}

/* The rows of a group with a single filter are the bits of the filter. */
static void find_only_filters(petal_index *index)
{
    for (uint64_t i = 0; i < index->group_count; i++) {
        struct group *group = &index->groups[i];
        if (group->columns != 1) continue;
        struct layer layer = {.items = 0};
        petal_layer_set_shape(&layer, &group->kind.shape, petal_hash_find(group->kind.hash));
        group->only = layer.array;
        group->only.bytes =
            (uint8_t *)(uintptr_t)index->image.bytes + index->image.bits_offset + group->offset;
    }
}

#define FLAGS (PETAL_OPEN_VERIFY | PETAL_OPEN_VERIFY_ON_USE)

static petal_status take_options(const petal_open_options *theirs, petal_open_options *options,
                                 petal_error *error)
{
    petal_status status = PETAL_OK;
    *options = PETAL_OPEN_OPTIONS_INIT;
    if (theirs)
        status =
            petal_sized_take(theirs, options, sizeof *options, "PETAL_OPEN_OPTIONS_INIT", error);
    if (status == PETAL_OK && ((options->flags & ~FLAGS) || options->format))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "an index takes the flags VERIFY and VERIFY_ON_USE, and no format");
    return status;
}

static petal_status read_all(petal_index *index, const uint8_t *bytes, uint64_t size_bytes,
                             const petal_open_options *options, petal_error *error)
{
    index->is_open = true;
    petal_status status = petal_index_read_tables(index, bytes, size_bytes, error);
    if (status == PETAL_OK) status = check_secret(index, options->secret, error);
    if (status == PETAL_OK) status = make_hashers(index, options->secret, error);
    if (status == PETAL_OK) find_only_filters(index);
    if (status == PETAL_OK && (options->flags & PETAL_OPEN_VERIFY))
        status = petal_index_verify(index, error);
    if (status != PETAL_OK || !(options->flags & PETAL_OPEN_VERIFY_ON_USE)) return status;
    index->blocks = petal_alloc(&index->allocator, index->image.blocks);
    return index->blocks ? PETAL_OK : petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
}

/* Reads the index within the memory limit, which applies until this call returns. */
static petal_status read_index(petal_index *index, const uint8_t *bytes, uint64_t size_bytes,
                               const petal_open_options *options, petal_error *error)
{
    const petal_allocator inner = index->allocator;
    struct budget budget;
    petal_budget_begin(&budget, &inner, options->memory_limit, size_bytes);
    index->allocator = budget.bounded;
    petal_status status = read_all(index, bytes, size_bytes, options, error);
    index->allocator = inner;
    for (uint64_t i = 0; i < index->hasher_count; i++) index->hashers[i]->allocator = inner;
    return petal_budget_end(&budget, status, error);
}

static petal_status map_index(petal_index *index, const char *path,
                              const petal_open_options *options, petal_error *error)
{
    petal_status status = petal_os_open(path, ACCESS_READ, &index->file, error);
    if (status == PETAL_OK)
        status = petal_os_map(&index->file, false, options->max_bytes, &index->map, error);
    if (status != PETAL_OK) return status;
    if (options->flags & PETAL_OPEN_VERIFY) petal_os_will_read(&index->map);
    const uint8_t *bytes = index->map.bytes ? index->map.bytes : (const uint8_t *)"";
    return read_index(index, bytes, index->map.size_bytes, options, error);
}

/* Passes the index to the caller, or releases it after a failure. */
static petal_status hand_over(petal_index *made, petal_status status, petal_index **index)
{
    if (status == PETAL_OK)
        *index = made;
    else
        petal_index_free(made);
    return status;
}

petal_status petal_index_open(const char *path, const petal_open_options *options,
                              petal_index **index, petal_error *error)
{
    petal_open_options own;
    petal_index *made = NULL;
    *index = NULL;
    petal_status status = take_options(options, &own, error);
    if (status == PETAL_OK) status = petal_index_new(own.allocator, &made, error);
    if (status == PETAL_OK) status = map_index(made, path, &own, error);
    if (status == PETAL_OK) petal_os_close(&made->file); /* the mapping remains valid */
    return hand_over(made, status, index);
}

petal_status petal_index_view(const void *bytes, uint64_t size_bytes,
                              const petal_open_options *options, petal_index **index,
                              petal_error *error)
{
    petal_open_options own;
    petal_index *made = NULL;
    *index = NULL;
    petal_status status = take_options(options, &own, error);
    if (status == PETAL_OK && own.max_bytes && size_bytes > own.max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, and the limit is %llu",
                          (unsigned long long)size_bytes, (unsigned long long)own.max_bytes);
    if (status == PETAL_OK) status = petal_index_new(own.allocator, &made, error);
    if (status == PETAL_OK)
        status = read_index(made, size_bytes ? bytes : "", size_bytes, &own, error);
    if (status == PETAL_OK) {
        made->release = own.release;
        made->release_context = own.release_context;
        made->view = bytes;
        made->view_bytes = size_bytes;
    }
    return hand_over(made, status, index);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void free_members(petal_index *index)
{
    for (uint64_t i = 0; index->members && i < index->filters; i++) {
        petal_free(index->members[i].filter);
        petal_release(&index->allocator, index->members[i].name, index->members[i].name_bytes);
    }
    petal_release(&index->allocator, index->members, index->member_room * sizeof *index->members);
    petal_release(&index->allocator, index->names, index->name_room * sizeof *index->names);
}

void petal_index_free(petal_index *index)
{
    if (!index) return;
    const petal_allocator memory = index->allocator;
    free_members(index);
    for (uint64_t i = 0; i < index->hasher_count; i++) petal_free(index->hashers[i]);
    petal_release(&memory, index->hashers, index->group_count * sizeof *index->hashers);
    petal_release(&memory, index->groups, index->group_room * sizeof *index->groups);
    petal_release(&memory, index->opened_names, index->filters * sizeof *index->opened_names);
    petal_release(&memory, index->numbers, index->filters * sizeof *index->numbers);
    petal_release(&memory, index->blocks, index->image.blocks);
    petal_os_unmap(&index->map);
    petal_os_close(&index->file);
    if (index->release) index->release(index->release_context, index->view, index->view_bytes);
    petal_release(&memory, index, sizeof *index);
}

/* ---- looking inside -------------------------------------------------------------------------- */

const char *petal_index_name(const petal_index *index, uint64_t number)
{
    if (number >= index->filters) return NULL;
    return PETAL_IS_READ_ONLY || index->is_open ? index->opened_names[number]
                                                : index->members[number].name;
}

static uint64_t memory_of(const petal_index *index)
{
    uint64_t sum = sizeof *index + index->group_room * sizeof *index->groups;
    if (index->is_open)
        return sum + index->filters * (sizeof *index->opened_names + sizeof *index->numbers) +
               index->group_count * sizeof *index->hashers +
               index->hasher_count * (sizeof(petal_filter) + sizeof(struct layer)) +
               (index->blocks ? index->image.blocks : 0);
    for (uint64_t i = 0; i < index->filters; i++) {
        petal_info info;
        petal_filter_describe(index->members[i].filter, PETAL_ALL_LAYERS, &info);
        sum += info.memory_bytes;
    }
    return sum + index->member_room * sizeof *index->members + index->names_bytes +
           index->name_room * sizeof *index->names;
}

petal_status petal_index_get_info(const petal_index *index, petal_index_info *info,
                                  petal_error *error)
{
    petal_index_info own = PETAL_INDEX_INFO_INIT;
    petal_status status = petal_sized_check(info, "PETAL_INDEX_INFO_INIT", error);
    if (status != PETAL_OK) return status;
    own.groups = (uint32_t)index->group_count;
    own.filters = index->filters;
    own.row_words = (index->filters + 63) / 64;
    own.bytes = index->image.file_bytes;
    own.bits_bytes = index->image.bits_bytes;
    for (uint64_t i = 0; i < index->group_count; i++)
        own.filter_bytes =
            saturating_add(own.filter_bytes, index->groups[i].columns *
                                                 petal_shape_bytes(&index->groups[i].kind.shape));
    own.memory_bytes = memory_of(index);
    own.key_type = index->key_type;
    own.secret_id = index->secret_id;
    own.opened = index->is_open;
    petal_sized_give(&own, sizeof own, info);
    return PETAL_OK;
}

static petal_status describe_opened(const petal_index *index, uint64_t number, petal_info *info,
                                    petal_error *error)
{
    petal_filter *frame;
    petal_status status = petal_index_make_frame(index, number, &frame, error);
    if (status != PETAL_OK) return status;
    petal_filter_describe(frame, PETAL_ALL_LAYERS, info);
    petal_free(frame);
    return PETAL_OK;
}

petal_status petal_index_get_filter_info(const petal_index *index, uint64_t number,
                                         petal_info *info, petal_error *error)
{
    petal_info own;
    petal_status status = petal_sized_check(info, "PETAL_INFO_INIT", error);
    if (status != PETAL_OK) return status;
    if (number >= index->filters)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no filter %llu; the index has %llu",
                          (unsigned long long)number, (unsigned long long)index->filters);
    if (index->is_open)
        status = describe_opened(index, number, &own, error);
    else
        petal_filter_describe(index->members[number].filter, PETAL_ALL_LAYERS, &own);
    if (status != PETAL_OK) return status;
    own.memory_bytes = 0;
    petal_sized_give(&own, sizeof own, info);
    return PETAL_OK;
}

/* ---- verifying ------------------------------------------------------------------------------- */

petal_status petal_index_check_block(const petal_index *index, uint64_t number, petal_error *error)
{
    const struct index_image *image = &index->image;
    uint64_t from = number * PETAL_BLOCK_BYTES,
             size = at_most(image->bits_bytes - from, PETAL_BLOCK_BYTES),
             offset = image->bits_offset + from;
    if (petal_index_block_sum(image->bytes + offset, size, number) ==
        petal_index_recorded_sum(image, number))
        return PETAL_OK;
    return petal_fail_at(error, PETAL_ERR_DAMAGED, offset,
                         "damaged: the block at byte %llu does not match its checksum; copy it "
                         "again, or make it again",
                         (unsigned long long)offset);
}

petal_status petal_index_verify(const petal_index *index, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (!index->is_open) return PETAL_UNCHECKED;
    for (uint64_t i = 0; status == PETAL_OK && i < index->image.blocks; i++)
        status = petal_index_check_block(index, i, error);
    return status;
}

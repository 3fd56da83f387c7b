/* backing.c - see backing.h. Implements maps for reading, and petal files that are changed in
 * place.
 *
 * A block of a writable map is UNCHECKED, CHECKED or CHANGED (scheme/scheme.h). Before its first
 * change, a block is compared with its recorded sum. Only changed blocks receive new sums, so bits
 * that the disk corrupted never receive a valid sum. A guarded map compares a block before the
 * first query that reads it. */
#include "store/backing.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "filter/static_builder.h"

#include <string.h>

static petal_status refuse_after_failure(const struct backing *backing, petal_error *error)
{
    return petal_fail_errno(
        error, backing->io_errno,
        "an earlier write failed, so the file's contents are unknown; open it again");
}

static petal_status refuse_after_damage(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_DAMAGED,
                      "damage was found in it; restore a copy or rebuild from the keys");
}

/* ---- forks: only the process that opened a file for writing may change it -------------------- */

static bool is_owner(const petal_filter *filter)
{
    const struct file *file = &filter->backing->held.file;
    return !file->path || petal_os_is_owner(file);
}

static petal_status check_owner(const petal_filter *filter, petal_error *error)
{
    if (is_owner(filter)) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_READ_ONLY,
        "the parent process opened the file, so this fork cannot change it; open it here after the parent has closed it");
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool agrees(const petal_filter *filter, const struct image *image, const uint8_t *bytes,
                   uint32_t layer, uint64_t block)
{
    uint64_t number = image->about.layers[layer].first_block + block;
    return petal_block_sum(&filter->layers[layer].array, block, number) ==
           petal_image_sum(image, bytes, number);
}

void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes)
{
    filter->recovered_blocks = filter->blocks_compared = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        uint64_t blocks = petal_block_count(&filter->layers[i].array);
        filter->blocks_compared += blocks;
        for (uint64_t block = 0; block < blocks; block++)
            filter->recovered_blocks += !agrees(filter, image, bytes, i, block);
    }
}

/* ---- damage: keeps the number of the first damaged block + 1, or 0 --------------------------- */

static petal_status describe_damage(const struct backing *backing, uint64_t number,
                                    petal_error *error)
{
    const struct description *about = &backing->image.about;
    uint32_t layer = about->layer_count - 1;
    while (layer > 0 && about->layers[layer].first_block > number) layer--;
    return petal_image_block_damaged(&backing->image, layer,
                                     number - about->layers[layer].first_block, error);
}

static petal_status damaged(const petal_filter *filter, uint32_t layer, uint64_t block,
                            petal_error *error)
{
    struct backing *backing = filter->backing;
    uint64_t number = backing->image.about.layers[layer].first_block + block, none = 0;
    atomic_compare_exchange_strong(&backing->first_damage, &none, number + 1);
    return describe_damage(backing, number, error);
}

static petal_status first_damage(const petal_filter *filter, petal_error *error)
{
    uint64_t number = atomic_load(&filter->backing->first_damage);
    return number ? describe_damage(filter->backing, number - 1, error) : PETAL_OK;
}

/* Checks the blocks of a writable map that are in this state, and sets their state to `then`. */
static petal_status check_blocks(const petal_filter *filter, enum block_state state,
                                 enum block_state then, petal_error *error)
{
    const struct backing *backing = filter->backing;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        uint8_t *blocks = filter->layers[i].blocks;
        const uint8_t *end = blocks + petal_block_count(&filter->layers[i].array);
        /* Few blocks are in this state, and memchr() skips the other blocks quickly. */
        for (uint8_t *at = blocks; (at = memchr(at, (int)state, (size_t)(end - at))) != NULL;
             at++) {
            uint64_t block = (uint64_t)(at - blocks);
            if (!agrees(filter, &backing->image, backing->bytes, i, block))
                return damaged(filter, i, block, error);
            petal_guard_pass(filter, at, then);
        }
    }
    return PETAL_OK;
}

static petal_status check_wanted(petal_filter *filter, petal_error *error)
{
    petal_status status = check_blocks(filter, BLOCK_WANTED, BLOCK_CHANGED, error);
    if (status != PETAL_OK) filter->needs_permission = filter->backing->damaged = true;
    return status;
}

/* While another process changes the file, the file's sums are stale, so blocks can't be compared
 * with them. */
static petal_status refuse_live(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_BUSY,
                      "another process is changing the file; open it again later");
}

/* Returns PETAL_ERR_BUSY if another process has begun to change the file since this process opened
 * it. */
static petal_status check_unchanged(const petal_filter *filter, petal_error *error)
{
    const struct backing *backing = filter->backing;
    struct image now;
    uint8_t head[PETAL_HEAD_BYTES];
    uint64_t got;
    if (!backing->held.file.path) return PETAL_OK;
    petal_status status = petal_os_read(&backing->held.file, 0, head, sizeof head, &got, error);
    if (status != PETAL_OK) return status;
    if (got == sizeof head || got == backing->image.file_bytes)
        status = petal_image_parse(head, backing->bytes, backing->image.file_bytes, &now, NULL);
    else
        status = PETAL_ERR_TRUNCATED;
    if (status == PETAL_OK && now.sequence == backing->image.sequence && petal_image_is_clean(&now))
        return PETAL_OK;
    return refuse_live(error);
}

/* ---- one block, before it is queried: see filter/guard.h ------------------------------------- */

/* Returns true if the file is clean, and sets *sequence to its sequence number. Returns false if
 * the file can't be read. */
static bool is_settled(const struct backing *backing, uint64_t *sequence)
{
    struct image now;
    uint8_t head[PETAL_HEAD_BYTES];
    uint64_t got;
    bool is_clean =
        petal_os_read(&backing->held.file, 0, head, sizeof head, &got, NULL) == PETAL_OK &&
        petal_image_parse_slots(head, got, &now, NULL) == PETAL_OK && petal_image_is_clean(&now);
    *sequence = is_clean ? now.sequence : 0;
    return is_clean;
}

/* Another process may be changing the block, in which case the block's sum is stale. The other
 * process compared the block before changing it. When the change is complete, block and sum match
 * again. */
#define MAX_COMPARISONS 3
static bool is_being_changed(const petal_filter *filter, uint32_t layer, uint64_t block)
{
    const struct backing *backing = filter->backing;
    uint64_t before, after;
    bool is_mine = !filter->read_only && is_owner(filter);
    if (!PETAL_HAS_MAPS || !backing->held.file.path || backing->held.map.is_copy || is_mine)
        return false;
    for (int i = 0; i < MAX_COMPARISONS; i++) {
        if (!is_settled(backing, &before)) return true;
        if (agrees(filter, &backing->image, backing->bytes, layer, block)) return true;
        if (is_settled(backing, &after) && before == after) return false;
    }
    return true;
}

static petal_status check_block(const petal_filter *filter, uint32_t layer, uint64_t block,
                                petal_error *error)
{
    if (!PETAL_HAS_MAPS) return PETAL_OK;
    const struct backing *backing = filter->backing;
    uint8_t *state = &filter->layers[layer].blocks[block];
    if (__atomic_load_n(state, __ATOMIC_RELAXED) != BLOCK_DAMAGED &&
        (agrees(filter, &backing->image, backing->bytes, layer, block) ||
         is_being_changed(filter, layer, block))) {
        petal_guard_pass(filter, state, BLOCK_CHECKED);
        return PETAL_OK;
    }
    __atomic_store_n(state, BLOCK_DAMAGED, __ATOMIC_RELAXED);
    return damaged(filter, layer, block, error);
}

/* Compares all bits with the sums in the file. */
static petal_status compare_all(const petal_filter *filter, petal_error *error)
{
    const struct backing *backing = filter->backing;
    if (filter->live) return refuse_live(error);
    petal_status status = petal_image_verify(filter, &backing->image, backing->bytes, error);
    if (status != PETAL_OK && petal_filter_check_unchanged(filter, NULL) != PETAL_OK)
        return refuse_live(error);
    if (status == PETAL_OK) petal_guard_pass_all(filter, BLOCK_CHECKED);
    return status;
}

/* The process that opened a writable map knows which blocks it has changed. A forked child doesn't
 * know these blocks, so it checks the map like any reader. */
static petal_status check_unchanged_by_owner(const petal_filter *filter, petal_error *error)
{
    return is_owner(filter) ? PETAL_OK : check_unchanged(filter, error);
}

/* Compares the blocks of a writable map that are not known to match their sums. A forked child
 * compares all blocks. */
static petal_status compare_unchecked(const petal_filter *filter, petal_error *error)
{
    if (!is_owner(filter)) {
        petal_status unchanged = check_unchanged(filter, error);
        return unchanged == PETAL_OK ? compare_all(filter, error) : unchanged;
    }
    petal_status status = check_blocks(filter, BLOCK_UNCHECKED, BLOCK_CHECKED, error);
    if (status == PETAL_OK) status = check_blocks(filter, BLOCK_DAMAGED, BLOCK_CHECKED, error);
    return status == PETAL_OK ? check_blocks(filter, BLOCK_WANTED, BLOCK_CHANGED, error) : status;
}

static bool has_sums(const petal_filter *filter)
{
    return filter->store && filter->store->check_bits && !filter->backing->changed;
}

bool petal_backing_is_verifiable(const petal_filter *filter)
{
    return has_sums(filter) && !filter->live;
}

static petal_status verify(const petal_filter *filter, petal_error *error)
{
    return has_sums(filter) ? compare_all(filter, error) : PETAL_UNCHECKED;
}

petal_status petal_verify(const petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, verify(filter, error), error);
}

/* ---- changing a file in place ---------------------------------------------------------------- */

/* Writes the image's next state to the inactive slot, and makes it durable. The slot is built in
 * memory and written with one system call, so a reader never sees part of a slot. If this process
 * is killed, the next process sees either the whole new slot or none of it. */
static petal_status write_state(struct backing *backing, enum image_state state, petal_error *error)
{
    uint8_t slot[PETAL_SLOT_MAX_BYTES];
    uint64_t slot_bytes = backing->image.slot_bytes;
    unsigned number = petal_image_next(&backing->image, state);
    petal_image_write_slot(&backing->image, number, slot);
    petal_status status =
        petal_os_write(&backing->held.file, number * slot_bytes, slot, slot_bytes, error);
    return status == PETAL_OK ? petal_os_sync(&backing->held.file, &backing->held.map, 0,
                                              PETAL_SLOTS * slot_bytes, error)
                              : status;
}

/* After a failed write, nothing more is written, because the kernel may have marked the pages as
 * clean although they are not on disk. */
static petal_status note_io(petal_filter *filter, petal_status status, const petal_error *error)
{
    struct backing *backing = filter->backing;
    if (status == PETAL_OK) return PETAL_OK;
    backing->io_failed = true;
    backing->io_errno = error->system_errno;
    filter->needs_permission = true;
    return status;
}

static petal_status mark(petal_filter *filter, enum image_state state, petal_error *error)
{
    struct backing *backing = filter->backing;
    if (backing->io_failed) return refuse_after_failure(backing, error);
    if (backing->damaged) return refuse_after_damage(error);
    if (backing->changed && backing->image.state >= state) return PETAL_OK;
    filter->content_recorded = false;
    petal_status status = note_io(filter, write_state(backing, state, error), error);
    backing->changed = true;
    if (status == PETAL_OK) filter->needs_permission = filter->fork_mark == NULL;
    return status;
}

/* Before the first change, marks the file on disk as being changed, because its sums then become
 * stale. */
static petal_status mark_rising(petal_filter *filter, petal_error *error)
{
    return mark(filter, IMAGE_RISING, error);
}

/* If bits will be cleared, the mark must also record that even the bits of the last clean state are
 * unreliable. */
static petal_status mark_lowering(petal_filter *filter, enum lowering lowering, petal_error *error)
{
    return mark(filter, lowering == LOWERING_COUNTS ? IMAGE_REMOVING : IMAGE_FALLING, error);
}

/* Updates the sums of the changed blocks, and the content id. */
static void update_sums(petal_filter *filter, struct backing *backing)
{
    uint8_t *sums = backing->held.map.bytes + backing->image.sums_offset;
    uint64_t id = petal_content_start(filter), number = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        for (uint64_t block = 0; block < petal_block_count(&layer->array); block++, number++) {
            if (layer->blocks[block] == BLOCK_CHANGED)
                store64le(sums + 8 * number, petal_block_sum(&layer->array, block, number));
            id = petal_content_add(id, load64le(sums + 8 * number));
        }
        backing->image.about.layers[i].items = petal_layer_items(filter, i);
    }
    backing->image.content_id = id;
}

/* Writes bits and sums first, and then the header that declares them valid. Even a failed sync
 * marks pages as clean, so the pages of a recovered file may not be on disk although the kernel
 * considers them clean. Therefore, all pages of a recovered file are written again. */
static petal_status write_back(petal_filter *filter, struct backing *backing, petal_error *error)
{
    const struct image *image = &backing->image;
    update_sums(filter, backing);
    if (backing->rewrite) petal_os_touch(&backing->held.map, 0, image->file_bytes);
    uint64_t from = backing->rewrite ? 0 : image->sums_offset;
    petal_status status = petal_os_sync(&backing->held.file, &backing->held.map, from,
                                        image->file_bytes - from, error);
    return status == PETAL_OK ? write_state(backing, IMAGE_CLEAN, error) : status;
}

static void note_synced(petal_filter *filter, struct backing *backing)
{
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        uint8_t *blocks = filter->layers[i].blocks;
        for (uint64_t block = 0; block < petal_block_count(&filter->layers[i].array); block++)
            if (blocks[block] == BLOCK_CHANGED) blocks[block] = BLOCK_CHECKED;
    }
    filter->needs_permission = true;
    backing->changed = backing->rewrite = false;
    filter->content_recorded = true;
    filter->content_id = backing->image.content_id;
}

static petal_status check_replaced(struct backing *backing, petal_error *error)
{
    petal_status status = backing->replaced
                              ? PETAL_ERR_REPLACED
                              : petal_os_is_at(&backing->held.file, backing->held.file.path, error);
    backing->replaced = status == PETAL_ERR_REPLACED;
    if (!backing->replaced) return status;
    return petal_fail(error, PETAL_ERR_REPLACED,
                      "was replaced or deleted meanwhile; your changes are lost, apply them again");
}

static petal_status sync(petal_filter *filter, petal_error *error)
{
    struct backing *backing = filter->backing;
    petal_status owner = petal_filter_check_owner(filter, error);
    if (owner != PETAL_OK) return owner;
    if (!backing->changed) return backing->replaced ? check_replaced(backing, error) : PETAL_OK;
    if (backing->io_failed) return refuse_after_failure(backing, error);
    petal_status status = note_io(filter, write_back(filter, backing, error), error);
    if (status != PETAL_OK) return status;
    note_synced(filter, backing);
    return check_replaced(backing, error);
}

petal_status petal_sync(petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return filter->store ? petal_filter_note_error(filter, sync(filter, error), error) : PETAL_OK;
}

/* ---- freezing -------------------------------------------------------------------------------- */

petal_status petal_freeze(petal_filter *filter, petal_error *error)
{
    petal_status status = petal_sync(filter, error);
    if (status == PETAL_OK && filter->builder && !PETAL_IS_READ_ONLY)
        status = petal_static_build(filter, error);
    if (status != PETAL_OK) return status;
    petal_filter_stop_sharing(filter);
    petal_filter_refuse_changes(filter);
    return PETAL_OK;
}

/* ---- attaching ------------------------------------------------------------------------------- */

static void close_backing(petal_filter *filter)
{
    struct backing *backing = filter->backing;
    struct holdings held = backing->held;
    if (held.map.bytes && is_owner(filter)) {
        petal_status status = petal_sync(filter, NULL);
        (void)status; /* if this fails, the file stays dirty and the next reader reports it */
    }
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&filter->allocator, filter->layers[i].blocks,
                      petal_block_count(&filter->layers[i].array));
    petal_release(&filter->allocator, backing, sizeof *backing);
    petal_os_unmap(&held.map);
    petal_os_close(&held.file);
    if (held.release) held.release(held.context, held.bytes, held.size_bytes);
}

static const struct store_def writable_map = {.has_bits = true,
                                              .before_write = mark_rising,
                                              .before_lowering = mark_lowering,
                                              .check_owner = check_owner,
                                              .check_unchanged = check_unchanged_by_owner,
                                              .check_wanted = check_wanted,
                                              .check_bits = compare_unchecked,
                                              .check_block = check_block,
                                              .first_damage = first_damage,
                                              .close = close_backing};
/* The store of a map or a view that is only read. */
static const struct store_def readable = {.has_bits = true,
                                          .check_bits = compare_all,
                                          .check_unchanged = check_unchanged,
                                          .check_block = check_block,
                                          .first_damage = first_damage,
                                          .close = close_backing};
static const struct store_def readable_foreign = {.has_bits = true, .close = close_backing};
static const struct store_def holdings_only = {.close = close_backing};

static petal_status make_backing(petal_filter *filter, const struct store_def *store,
                                 petal_error *error)
{
    filter->backing = petal_alloc(&filter->allocator, sizeof *filter->backing);
    if (!filter->backing) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    filter->backing->held.file = PETAL_NO_FILE;
    filter->store = store;
    petal_filter_choose_strategy(filter);
    return PETAL_OK;
}

static bool alloc_blocks(petal_filter *filter)
{
    bool all = true;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        struct layer *layer = &filter->layers[i];
        uint64_t blocks = petal_block_count(&layer->array);
        layer->blocks = petal_alloc(&filter->allocator, blocks);
        filter->unchecked += blocks;
        all = all && layer->blocks;
    }
    return all;
}

/* Stores the image of a petal file in the filter's backing. The image's sums are valid for the
 * bits, unless the file is being recovered or another process is changing it. */
static void take_image(petal_filter *filter, const struct image *image, const struct opening *from)
{
    struct backing *backing = filter->backing;
    bool has_sums = petal_image_is_clean(image) && !from->reseal;
    backing->image = *image;
    filter->content_recorded = has_sums;
    filter->content_id = image->content_id;
    if (has_sums || !from->recover) return;
    petal_backing_count_changed(filter, image, backing->bytes);
    /* The file is already marked dirty on disk, and all sums will be recomputed. */
    filter->needs_permission = false;
    petal_filter_touch_all(filter);
    backing->changed = backing->rewrite = true;
}

petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error)
{
    const struct store_def *readable_here = image ? &readable : &readable_foreign;
    bool writes = PETAL_HAS_MAPS && from->writable;
    petal_status status = make_backing(filter, writes ? &writable_map : readable_here, error);
    if (status != PETAL_OK) return status;
    filter->backing->bytes = from->bytes;
    filter->live = from->live;
    filter->read_only = !writes;
    filter->needs_permission = true;
    bool guards = PETAL_HAS_MAPS && from->guard && !from->reseal && image &&
                  petal_image_is_clean(image) && !from->live;
    if ((from->writable || guards) && !alloc_blocks(filter))
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < filter->layer_count; i++) /* never written if read-only */
        filter->layers[i].array.bytes = (uint8_t *)(uintptr_t)from->bytes + about->layers[i].offset;
    petal_filter_choose_strategy(filter);
    if (image) take_image(filter, image, from);
    filter->is_guarded = guards;
    if (guards) petal_filter_choose_strategy(filter);
    return PETAL_OK;
}

petal_status petal_backing_hold(petal_filter *filter, const struct holdings *held,
                                petal_error *error)
{
    petal_status status = filter->store ? PETAL_OK : make_backing(filter, &holdings_only, error);
    if (status != PETAL_OK) return status;
    filter->backing->held = *held;
    struct file *file = petal_backing_file(filter);
    if (file) petal_os_own(file);
    if (filter->store == &writable_map) filter->fork_mark = file->mark;
    if (filter->store == &writable_map && !filter->fork_mark) filter->needs_permission = true;
    return PETAL_OK;
}

struct file *petal_backing_file(const petal_filter *filter)
{
    bool is_for_writing = filter->store == &writable_map || filter->store == &holdings_only;
    return is_for_writing && filter->backing->held.file.path ? &filter->backing->held.file : NULL;
}

petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error)
{
    return filter->store == &writable_map ? petal_os_is_at(&filter->backing->held.file, path, error)
                                          : PETAL_ERR_REPLACED;
}

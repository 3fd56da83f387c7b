/* backing.c - see backing.h: maps that are read, and petal files that are changed in place. */
#include "store/backing.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"

#include <string.h>

petal_status petal_refuse_write(petal_filter *filter, petal_error *error)
{
    (void)filter;
    return petal_fail(error, PETAL_ERR_READ_ONLY, "the filter is open for reading only");
}

static petal_status refuse_after_failure(petal_filter *filter, petal_error *error)
{
    (void)filter;
    return petal_fail(error, PETAL_ERR_IO, "an earlier write to disk failed; what the file holds is unknown");
}

/* ---- changing a file in place ---------------------------------------------------------------------------------------- */

/* Writes the image's next state into the slot that does not count now, and makes it durable. */
static petal_status write_state(struct backing *backing, bool dirty, petal_error *error)
{
    unsigned slot = petal_image_next(&backing->image, dirty);
    petal_image_write_slot(&backing->image, slot, backing->map.bytes + slot * backing->image.slot_bytes);
    return petal_io_sync(&backing->map, 0, PETAL_SLOTS * backing->image.slot_bytes, error);
}

/* Before the first change the file must say on disk that it is being changed: from then on its sums are wrong. */
static petal_status mark_dirty(petal_filter *filter, petal_error *error)
{
    struct backing *backing = filter->backing;
    filter->content_recorded = false;
    petal_status status = write_state(backing, true, error);
    backing->changed = true;
    filter->before_write = status == PETAL_OK ? NULL : refuse_after_failure;
    return status;
}

/* Brings the sums of touched blocks up to date, and the content id with them. */
static void update_sums(petal_filter *filter, struct backing *backing)
{
    uint8_t *sums = backing->map.bytes + backing->image.sums_offset;
    uint64_t id = petal_content_start(filter), number = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        for (uint64_t block = 0; block < petal_block_count(&layer->array); block++, number++) {
            if (layer->touched[block]) store64le(sums + 8 * number, petal_block_sum(&layer->array, block, number));
            id = petal_content_add(id, load64le(sums + 8 * number));
        }
        backing->image.about.layers[i].items = petal_layer_items(filter, i);
    }
    backing->image.content_id = id;
}

/* Bits and sums first, then the header that vouches for them. */
static petal_status write_back(petal_filter *filter, struct backing *backing, petal_error *error)
{
    const struct image *image = &backing->image;
    update_sums(filter, backing);
    petal_status status =
        petal_io_sync(&backing->map, image->sums_offset, image->file_bytes - image->sums_offset, error);
    return status == PETAL_OK ? write_state(backing, false, error) : status;
}

petal_status petal_sync(petal_filter *filter, petal_error *error)
{
    struct backing *backing = filter->backing;
    if (!backing || !backing->changed) return PETAL_OK;
    if (filter->before_write) return filter->before_write(filter, error);
    petal_status status = write_back(filter, backing, error);
    filter->before_write = status == PETAL_OK ? mark_dirty : refuse_after_failure;
    if (filter->sharing) atomic_store(&filter->sharing->may_write, false);
    if (status != PETAL_OK) return status;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        memset(filter->layers[i].touched, 0, (size_t)petal_block_count(&filter->layers[i].array));
    backing->changed = false;
    filter->content_recorded = true;
    filter->content_id = backing->image.content_id;
    return PETAL_OK;
}

petal_status petal_verify(const petal_filter *filter, petal_error *error)
{
    const struct backing *backing = filter->backing;
    if (!backing || !backing->is_petal || backing->changed) return PETAL_OK; /* no sums, or sums known to be old */
    return petal_image_verify(filter, &backing->image, backing->bytes, error);
}

/* ---- attaching ------------------------------------------------------------------------------------------------------- */

static void close_backing(petal_filter *filter)
{
    struct backing *backing = filter->backing;
    petal_sync(filter, NULL); /* where it fails the file stays dirty, which the next reader is told */
    petal_io_unmap(&backing->map);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&filter->allocator, filter->layers[i].touched, petal_block_count(&filter->layers[i].array));
    petal_release(&filter->allocator, backing, sizeof *backing);
}

static bool alloc_touched(petal_filter *filter)
{
    bool all = true;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        struct layer *layer = &filter->layers[i];
        layer->touched = petal_alloc(&filter->allocator, petal_block_count(&layer->array));
        all = all && layer->touched;
    }
    return all;
}

/* The image of a petal file: its sums vouch for the bits, unless it is being recovered. */
static void take_image(petal_filter *filter, struct backing *backing, const struct image *image)
{
    backing->is_petal = true;
    backing->image = *image;
    filter->content_recorded = !image->recovered;
    filter->content_id = image->content_id;
    if (!image->recovered) return;
    filter->before_write = NULL; /* dirty on disk already, and every sum is to be made anew */
    petal_filter_touch_all(filter);
    backing->changed = true;
}

petal_status petal_backing_attach(petal_filter *filter, const struct description *about, const struct image *image,
                                  const uint8_t *bytes, const struct mapping *map, bool writable, petal_error *error)
{
    struct mapping none = {NULL, 0, -1};
    struct backing *backing = petal_alloc(&filter->allocator, sizeof *backing);
    if (!backing) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    backing->bytes = bytes;
    backing->map = none;
    filter->backing = backing;
    filter->close = close_backing;
    filter->before_write = writable ? mark_dirty : petal_refuse_write;
    if (writable && !alloc_touched(filter)) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < filter->layer_count; i++) /* written through `map` only */
        filter->layers[i].array.bytes = (uint8_t *)(uintptr_t)bytes + about->layers[i].offset;
    if (image) take_image(filter, backing, image);
    backing->map = *map;
    return PETAL_OK;
}

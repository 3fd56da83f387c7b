/* store.c - where filters, files and other memory meet: save, open, view, sync, verify. The only place that knows all three of
 * filter, format and io. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "format/image.h"
#include "io/io.h"

#include <string.h>

/* ---- writing --------------------------------------------------------------------------------------------------------- */

uint64_t petal_serialized_bytes(const petal_filter *filter)
{
    struct image image;
    return petal_image_of(filter, &image, NULL) == PETAL_OK ? image.file_bytes : 0;
}

petal_status petal_serialize(const petal_filter *filter, void *bytes, size_t size_bytes, petal_error *error)
{
    struct image image;
    petal_status status = petal_image_of(filter, &image, error);
    if (status != PETAL_OK) return status;
    if (size_bytes < image.file_bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the buffer has %zu bytes, the image %llu", size_bytes,
                          (unsigned long long)image.file_bytes);
    memset(bytes, 0, (size_t)image.payload_offset);
    petal_image_write_head(filter, &image, bytes);
    memset((uint8_t *)bytes + image.payload_offset, 0, (size_t)(image.file_bytes - image.payload_offset));
    for (uint32_t i = 0; i < image.layer_count; i++)
        memcpy((uint8_t *)bytes + image.layers[i].offset, filter->layers[i].array.bytes, (size_t)image.layers[i].size_bytes);
    return PETAL_OK;
}

/* The file of a filter in spans: the head, then each layer and the zeros up to the next. */
static size_t spans_of(const petal_filter *filter, const struct image *image, const uint8_t *head, struct span *spans)
{
    static const uint8_t zeros[PETAL_LINE_BYTES];
    size_t count = 0;
    spans[count++] = (struct span){head, image->payload_offset};
    for (uint32_t i = 0; i < image->layer_count; i++) {
        uint64_t size = image->layers[i].size_bytes;
        spans[count++] = (struct span){filter->layers[i].array.bytes, size};
        spans[count++] = (struct span){zeros, (PETAL_LINE_BYTES - size % PETAL_LINE_BYTES) % PETAL_LINE_BYTES};
    }
    return count;
}

petal_status petal_save(const petal_filter *filter, const char *path, unsigned flags, petal_error *error)
{
    struct image image;
    if (flags & ~PETAL_SAVE_NO_REPLACE) return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", flags);
    petal_status status = petal_image_of(filter, &image, error);
    if (status != PETAL_OK) return status;
    uint8_t *head = petal_alloc(&filter->allocator, image.payload_offset);
    if (!head) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_image_write_head(filter, &image, head);
    struct span spans[1 + 2 * PETAL_MAX_LAYERS];
    status = petal_io_replace(path, spans, spans_of(filter, &image, head, spans), flags & PETAL_SAVE_NO_REPLACE, error);
    petal_release(&filter->allocator, head, image.payload_offset);
    return status;
}

/* ---- filters on bytes that are not their own ------------------------------------------------------------------------- */

/* What a mapped or viewed filter stands on. */
struct backing {
    struct image image;
    const uint8_t *bytes; /* the whole file image */
    struct mapping map;   /* of nothing (descriptor -1) for a view */
    bool changed;         /* a writable map that is marked dirty on disk */
};

static petal_status refuse_write(petal_filter *filter, petal_error *error)
{
    (void)filter;
    return petal_fail(error, PETAL_ERR_READ_ONLY, "the filter is open for reading only");
}

static petal_status refuse_after_failure(petal_filter *filter, petal_error *error)
{
    (void)filter;
    return petal_fail(error, PETAL_ERR_IO, "an earlier write to disk failed; what the file holds is unknown");
}

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
        backing->image.layers[i].items = layer->items;
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
    if (status != PETAL_OK) return status;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        memset(filter->layers[i].touched, 0, (size_t)petal_block_count(&filter->layers[i].array));
    backing->changed = false;
    filter->content_recorded = true;
    filter->content_id = backing->image.content_id;
    return PETAL_OK;
}

static void close_backing(petal_filter *filter)
{
    struct backing *backing = filter->backing;
    petal_sync(filter, NULL); /* where it fails the file stays dirty, which the next reader is told */
    petal_io_unmap(&backing->map);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&filter->allocator, filter->layers[i].touched, petal_block_count(&filter->layers[i].array));
    petal_release(&filter->allocator, backing, sizeof *backing);
}

petal_status petal_verify(const petal_filter *filter, petal_error *error)
{
    const struct backing *backing = filter->backing;
    if (!backing || backing->changed) return PETAL_OK; /* the recorded sums are known to be old */
    return petal_image_verify(filter, &backing->image, backing->bytes, error);
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static petal_status check_secret(const struct image *image, const void *secret, petal_error *error)
{
    if (!petal_hash_find(image->hash)->keyed)
        return secret ? petal_fail(error, PETAL_ERR_SECRET, "is not keyed, but a secret was given; leave it out") : PETAL_OK;
    if (!secret)
        return petal_fail(error, PETAL_ERR_SECRET, "needs the secret with id %08x, none given; nothing was checked",
                          image->secret_id);
    if (petal_secret_check(secret) != image->secret_check)
        return petal_fail(error, PETAL_ERR_SECRET, "needs the secret with id %08x, the one given is %08x",
                          image->secret_id, petal_secret_id(secret));
    return PETAL_OK;
}

/* A filter that knows everything of the image, and has no bits yet. */
static petal_status filter_of(const struct image *image, const uint8_t *bytes, const petal_open_options *options,
                              petal_filter **filter, petal_error *error)
{
    petal_filter *made;
    petal_status status = check_secret(image, options->secret, error);
    if (status != PETAL_OK) return status;
    struct shape shapes[PETAL_MAX_LAYERS];
    for (uint32_t i = 0; i < image->layer_count; i++) shapes[i] = image->layers[i].shape;
    status = petal_filter_new(shapes, image->layer_count, image->hash, image->seed, options->secret, options->allocator,
                              &made, error);
    if (status != PETAL_OK) return status;
    status = petal_filter_set_metadata(made, bytes + image->metadata_offset, (size_t)image->metadata_bytes, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    made->origin = image->origin;
    for (uint32_t i = 0; i < image->layer_count; i++) {
        made->layers[i].capacity = image->layers[i].capacity;
        made->layers[i].target_rate = image->layers[i].target_rate;
        made->layers[i].items = image->layers[i].items;
    }
    *filter = made;
    return PETAL_OK;
}

/* Checked against the file's own sums while they are still beside the bits. Those of a recovered file may be old. */
static petal_status verify_image(petal_filter *filter, const struct image *image, const uint8_t *bytes,
                                 const petal_open_options *options, petal_error *error)
{
    if (!(options->flags & PETAL_OPEN_VERIFY) || image->recovered) return PETAL_OK;
    return petal_image_verify(filter, image, bytes, error);
}

/* Lets the layers stand on the image. They are written through a writable map only. */
static void borrow_bits(petal_filter *filter, const struct image *image, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < filter->layer_count; i++)
        filter->layers[i].array.bytes = (uint8_t *)(uintptr_t)bytes + image->layers[i].offset;
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

/* Makes the filter stand on the map. On success it owns the map; on failure the caller still does. */
static petal_status attach(petal_filter *filter, const struct image *image, const uint8_t *bytes,
                           const struct mapping *map, bool writable, petal_error *error)
{
    struct mapping none = {NULL, 0, -1};
    struct backing *backing = petal_alloc(&filter->allocator, sizeof *backing);
    if (!backing) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    *backing = (struct backing){*image, bytes, none, false};
    filter->backing = backing;
    filter->close = close_backing;
    filter->content_recorded = !image->recovered;
    filter->content_id = image->content_id;
    filter->before_write = writable ? mark_dirty : refuse_write;
    if (writable && !alloc_touched(filter)) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    if (image->recovered) { /* dirty on disk already, and every sum is to be made anew */
        filter->before_write = NULL;
        petal_filter_touch_all(filter);
        backing->changed = true;
    }
    backing->map = *map;
    return PETAL_OK;
}

static petal_status check_open_options(const petal_open_options *options, petal_error *error)
{
    unsigned mode = options->flags & 15u, known = 15u | PETAL_OPEN_VERIFY | PETAL_OPEN_RECOVER;
    if (options->struct_size != sizeof *options)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "options are not set up with PETAL_OPEN_OPTIONS_INIT");
    if (mode > PETAL_OPEN_LOAD || (options->flags & ~known))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", options->flags);
    if ((options->flags & PETAL_OPEN_RECOVER) && mode == PETAL_OPEN_MAP)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "recovering needs WRITABLE or LOAD");
    return PETAL_OK;
}

/* Copies the bits of an image into memory of the filter's own. */
static petal_status load(const uint8_t *bytes, uint64_t size_bytes, const petal_open_options *options,
                         petal_filter **filter, petal_error *error)
{
    struct image image;
    petal_filter *made = NULL;
    petal_status status =
        petal_image_parse(bytes, size_bytes, options->flags & PETAL_OPEN_RECOVER, &image, error);
    if (status == PETAL_OK) status = filter_of(&image, bytes, options, &made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK) {
        for (uint32_t i = 0; i < image.layer_count; i++)
            memcpy(made->layers[i].array.bytes, bytes + image.layers[i].offset, (size_t)image.layers[i].size_bytes);
        status = verify_image(made, &image, bytes, options, error);
    }
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    *filter = made;
    return PETAL_OK;
}

/* Borrows the bits of an image. */
static petal_status borrow(const uint8_t *bytes, uint64_t size_bytes, const struct mapping *map, bool writable,
                           const petal_open_options *options, petal_filter **filter, petal_error *error)
{
    struct image image;
    petal_filter *made = NULL;
    petal_status status = petal_image_parse(bytes, size_bytes, options->flags & PETAL_OPEN_RECOVER, &image, error);
    if (status == PETAL_OK) status = filter_of(&image, bytes, options, &made, error);
    if (status == PETAL_OK) {
        borrow_bits(made, &image, bytes);
        status = verify_image(made, &image, bytes, options, error);
    }
    if (status == PETAL_OK) status = attach(made, &image, bytes, map, writable, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    *filter = made;
    return PETAL_OK;
}

static const petal_open_options default_options = PETAL_OPEN_OPTIONS_INIT;

petal_status petal_open(const char *path, const petal_open_options *options, petal_filter **filter, petal_error *error)
{
    struct mapping map;
    *filter = NULL;
    if (!options) options = &default_options;
    petal_status status = check_open_options(options, error);
    if (status != PETAL_OK) return status;
    unsigned mode = options->flags & 15u;
    bool writable = mode == PETAL_OPEN_WRITABLE;
    status = petal_io_map(path, writable, options->max_bytes, &map, error);
    if (status != PETAL_OK) return status;
    if (mode == PETAL_OPEN_LOAD)
        status = load(map.bytes, map.size_bytes, options, filter, error);
    else
        status = borrow(map.bytes, map.size_bytes, &map, writable, options, filter, error);
    if (status != PETAL_OK || mode == PETAL_OPEN_LOAD) petal_io_unmap(&map);
    return status;
}

petal_status petal_load_from_memory(const void *bytes, size_t size_bytes, const petal_open_options *options,
                                    petal_filter **filter, petal_error *error)
{
    *filter = NULL;
    if (!options) options = &default_options;
    petal_open_options loading = *options;
    if ((loading.flags & 15u) == PETAL_OPEN_MAP) loading.flags |= PETAL_OPEN_LOAD;
    petal_status status = check_open_options(&loading, error);
    return status == PETAL_OK ? load(bytes, size_bytes, &loading, filter, error) : status;
}

petal_status petal_view(const void *bytes, size_t size_bytes, const petal_open_options *options, petal_filter **filter,
                        petal_error *error)
{
    struct mapping none = {NULL, 0, -1};
    *filter = NULL;
    if (!options) options = &default_options;
    petal_status status = check_open_options(options, error);
    if (status == PETAL_OK && (options->flags & (15u | PETAL_OPEN_RECOVER)) != PETAL_OPEN_MAP)
        status = petal_fail(error, PETAL_ERR_ARGUMENT, "a view is for reading only");
    return status == PETAL_OK ? borrow(bytes, size_bytes, &none, false, options, filter, error) : status;
}

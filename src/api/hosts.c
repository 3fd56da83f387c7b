/* hosts.c - calls for programs that store a filter's bytes themselves: they read and write a
 * layer's bits, answer queries from byte ranges of a file, and let the filter move in memory. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "filter/missing_bits.h"
#include "filter/permission.h"
#include "filter/static_builder.h"
#include "petal/petal_host.h"
#include "store/backing.h"

#include <string.h>

/* ---- bits in and out ------------------------------------------------------------------------- */

static petal_status check_layer(const petal_filter *filter, uint32_t layer, petal_error *error)
{
    if (layer < filter->layer_count) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no layer %u; the filter has %u", layer,
                      filter->layer_count);
}

petal_status petal_bits(const petal_filter *filter, uint32_t layer, const void **bytes,
                        uint64_t *size_bytes, petal_error *error)
{
    *bytes = NULL;
    *size_bytes = 0;
    petal_status status = check_layer(filter, layer, error);
    if (status != PETAL_OK) return status;
    const struct bit_array *array = &filter->layers[layer].array;
    *bytes = array->bytes;
    if (array->bytes) *size_bytes = array->size_bytes;
    return PETAL_OK;
}

/* Checks that the caller may change this layer's bits directly. */
static petal_status check_own(const petal_filter *filter, uint32_t layer, petal_error *error)
{
    petal_status status = check_layer(filter, layer, error);
    if (status == PETAL_OK) status = petal_filter_check_secret(filter, error);
    if (status == PETAL_OK && filter->builder) status = petal_filter_check_present(filter, error);
    if (status == PETAL_OK && (petal_filter_has_foreign_bits(filter) || filter->read_only))
        return petal_fail(error, PETAL_ERR_READ_ONLY,
                          "the bits belong to a file or to a view, or are frozen; load a copy");
    return status;
}

static petal_status check_tail(const struct bit_array *array, const void *bytes, uint32_t layer,
                               petal_error *error)
{
    if (petal_tail_is_clear(&array->shape, bytes, array->size_bytes)) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_DAMAGED,
                      "layer %u has a bit that no key can set; load a sound copy", layer);
}

static void note_changed(petal_filter *filter)
{
    filter->content_recorded = false;
    petal_filter_touch_all(filter);
    petal_filter_note_bits(filter);
}

/* Writes the bytes of the layer's last line. Refuses bytes with a bit that no key can set, because
 * a filter with such a bit could be saved but not opened again. */
static petal_status write_end(struct bit_array *array, uint32_t layer, uint64_t offset,
                              const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    uint8_t before[PETAL_LINE_BYTES];
    uint64_t size = array->size_bytes < sizeof before ? array->size_bytes : sizeof before;
    uint64_t line = array->size_bytes - size, from = offset > line ? offset : line;
    if (from >= offset + size_bytes) return PETAL_OK;
    memcpy(before, array->bytes + line, (size_t)size);
    memcpy(array->bytes + from, bytes + (from - offset), (size_t)(offset + size_bytes - from));
    petal_status status = check_tail(array, array->bytes, layer, error);
    if (status != PETAL_OK) memcpy(array->bytes + line, before, (size_t)size);
    return status;
}

static petal_status write_bits(petal_filter *filter, uint32_t layer, uint64_t offset,
                               const void *bytes, uint64_t size_bytes, petal_error *error)
{
    petal_status status = check_own(filter, layer, error);
    if (status != PETAL_OK) return status;
    struct bit_array *array = &filter->layers[layer].array;
    if (offset > array->size_bytes || size_bytes > array->size_bytes - offset)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "layer %u has only %llu bytes", layer,
                          (unsigned long long)array->size_bytes);
    if (!array->bytes) status = petal_filter_alloc_absent(filter, layer, error);
    if (status != PETAL_OK || !array->bytes) return status;
    status = write_end(array, layer, offset, bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    if (size_bytes) memcpy(array->bytes + offset, bytes, (size_t)size_bytes);
    note_changed(filter);
    return PETAL_OK;
}

petal_status petal_write_bits(petal_filter *filter, uint32_t layer, uint64_t offset,
                              const void *bytes, uint64_t size_bytes, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = write_bits(filter, layer, offset, bytes, size_bytes, error);
    return petal_filter_note_error(filter, status, error);
}

static petal_status adopt(petal_filter *filter, uint32_t layer, void *bytes, uint64_t size_bytes,
                          petal_error *error)
{
    petal_status status = check_own(filter, layer, error);
    if (status != PETAL_OK) return status;
    struct layer *to = &filter->layers[layer];
    if (to->array.bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "layer %u already has bits", layer);
    if (!bytes || size_bytes != to->array.size_bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "layer %u needs a buffer of %llu bytes", layer,
                          (unsigned long long)to->array.size_bytes);
    status = check_tail(&to->array, bytes, layer, error);
    if (status != PETAL_OK) return status;
    to->array.bytes = to->own_lines = bytes;
    to->own_bytes = size_bytes;
    note_changed(filter);
    return PETAL_OK;
}

petal_status petal_adopt_bits(petal_filter *filter, uint32_t layer, void *bytes,
                              uint64_t size_bytes, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, adopt(filter, layer, bytes, size_bytes, error), error);
}

/* ---- memory that moves ----------------------------------------------------------------------- */

struct move {
    petal_mover mover;
    void *context;
};

static void *moved(const struct move *move, void *memory, uint64_t size_bytes)
{
    void *to = memory ? move->mover(move->context, memory, (size_t)size_bytes) : NULL;
    return to ? to : memory;
}

/* The bits start on a line boundary within their block, wherever the block is. */
static void move_bits(const struct move *move, struct layer *layer)
{
    struct bit_array *array = &layer->array;
    if (!layer->own_lines) return;
    uint64_t at = (uint64_t)(array->bytes - (uint8_t *)layer->own_lines),
             room = layer->own_bytes - array->size_bytes;
    layer->own_lines = moved(move, layer->own_lines, layer->own_bytes);
    array->bytes = (uint8_t *)layer->own_lines + at;
    uint64_t to =
        (PETAL_LINE_BYTES - (uintptr_t)layer->own_lines % PETAL_LINE_BYTES) % PETAL_LINE_BYTES;
    if (to == at || to > room) return;
    array->bytes =
        memmove((uint8_t *)layer->own_lines + to, array->bytes, (size_t)array->size_bytes);
}

/* The mover copies the handle and frees the old block, which other code may then allocate. The
 * freed block must not contain the secret, so the secret is stored elsewhere during the move. */
static petal_filter *move_handle(const struct move *move, petal_filter *filter)
{
    uint8_t secret[sizeof filter->hash_key.secret];
    memcpy(secret, filter->hash_key.secret, sizeof secret);
    memset(filter->hash_key.secret, 0, sizeof secret);
    petal_filter *to = moved(move, filter, sizeof *filter);
    memcpy(to->hash_key.secret, secret, sizeof secret);
    petal_wipe(secret, sizeof secret);
    return to;
}

petal_status petal_relocate(petal_filter **filter, petal_mover mover, void *context,
                            petal_error *error)
{
    struct move move = {mover, context};
    if (!mover || !*filter)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the filter or the function is NULL");
    petal_filter *to = *filter = move_handle(&move, *filter);
    if (to->builder && !PETAL_IS_READ_ONLY) petal_static_builder_follow(to);
    to->layers = moved(&move, to->layers, to->layer_room * sizeof *to->layers);
    for (uint32_t i = 0; i < to->layer_count; i++) {
        struct layer *layer = &to->layers[i];
        move_bits(&move, layer);
        layer->blocks = moved(&move, layer->blocks, petal_block_count(&layer->array));
    }
    to->metadata = moved(&move, to->metadata, to->metadata_bytes);
    to->origin.far = moved(&move, (uint8_t *)(uintptr_t)to->origin.far, to->origin.size_bytes);
    to->sharing = moved(&move, to->sharing, sizeof *to->sharing);
    to->backing = moved(&move, to->backing, sizeof(struct backing));
    petal_filter_choose_strategy(to); /* the strategy contains the layers' addresses */
    return PETAL_OK;
}

/* ---- one handle for many filters ------------------------------------------------------------- */

/* Returns true if this filter's layers can be exchanged. */
static petal_status check_exchangeable(const petal_filter *filter, petal_error *error)
{
    petal_status status = check_own(filter, 0, error);
    if (status != PETAL_OK) return status;
    status = petal_filter_refuse_static(filter, error);
    if (status != PETAL_OK) return status;
    if (petal_filter_rotates(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "layers of a window cannot be lent: they also have times");
    if (filter->sharing)
        return petal_fail(error, PETAL_ERR_BUSY, "several threads add to the filter");
    return PETAL_OK;
}

/* A growing or rotating filter compares this number with its capacity to see when its newest layer
 * is full. */
petal_status petal_set_items(petal_filter *filter, uint64_t items, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = check_exchangeable(filter, error);
    if (status == PETAL_OK && (filter->grow || filter->layer_count != 1))
        status = petal_fail(error, PETAL_ERR_UNSUPPORTED,
                            "a filter that grows or has a window counts its own items; leave them");
    if (status != PETAL_OK) return petal_filter_note_error(filter, status, error);
    filter->layers->items = items;
    return PETAL_OK;
}

/* ---- a host's layers ------------------------------------------------------------------------- */

static struct shape shape_of(const petal_filter *filter, const petal_lent_layer *lent)
{
    return (struct shape){filter->scheme->id, lent->hashes, lent->lines_per_key, lent->bits};
}

/* Checks that the filter's scheme allows this shape, which the host got from petal_get_info(). */
static petal_status check_shape(const petal_filter *filter, const petal_lent_layer *lent,
                                uint32_t number, petal_error *error)
{
    struct shape asked = shape_of(filter, lent), made = asked;
    petal_status status = petal_normalize(&made, error);
    if (status != PETAL_OK) return status;
    if (made.bits == asked.bits && made.lines_per_key == asked.lines_per_key) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "layer %u: no filter of this scheme has %llu bits and %u lines per key",
                      number, (unsigned long long)asked.bits, asked.lines_per_key);
}

/* make_room() allocates a quarter more layers than needed, and their number must still fit in 32
 * bits. */
#define MAX_LENT_LAYERS (UINT32_MAX / 2)

/* Keeps spare room for the next filter, unless there is far more room than this filter needs. */
static petal_status make_room(petal_filter *filter, uint32_t layer_count, petal_error *error)
{
    uint64_t room = filter->layer_room, new_room = layer_count + (uint64_t)layer_count / 4;
    if (layer_count <= room && (room <= 64 || new_room > room / 8)) return PETAL_OK;
    struct layer *layers = petal_alloc(&filter->allocator, new_room * sizeof *layers);
    if (!layers) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&filter->allocator, filter->layers[i].own_lines, filter->layers[i].own_bytes);
    petal_release(&filter->allocator, filter->layers, room * sizeof *filter->layers);
    filter->layers = layers;
    filter->layer_room = (uint32_t)new_room;
    filter->layer_count = 0;
    return PETAL_OK;
}

static void borrow(petal_filter *filter, const petal_lent_layer *lent, struct layer *layer)
{
    struct shape shape = shape_of(filter, lent);
    petal_layer_set_shape(layer, &shape, filter->hash);
    layer->array.bytes = lent->bytes;
    layer->capacity = lent->capacity;
    layer->target_rate = lent->rate;
    layer->items = lent->items;
}

/* The host owns the layers, so only the host can add more. */
static petal_status refuse_to_grow(petal_filter *filter, petal_error *error)
{
    return petal_fail(error, PETAL_ERR_FULL, "full: the last layer holds its %llu keys",
                      (unsigned long long)petal_filter_last(filter)->capacity);
}

petal_status petal_lend(petal_filter *filter, const petal_lent_layer *layers, uint64_t count,
                        petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = check_exchangeable(filter, error);
    if (status == PETAL_OK && count == 0)
        status = petal_fail(error, PETAL_ERR_ARGUMENT, "a filter has at least 1 layer");
    if (status == PETAL_OK && count > MAX_LENT_LAYERS)
        status = petal_fail(error, PETAL_ERR_LIMIT, "a filter has at most %u layers",
                            (unsigned)MAX_LENT_LAYERS);
    uint32_t layer_count = (uint32_t)count;
    for (uint32_t i = 0; status == PETAL_OK && i < layer_count; i++)
        status = check_shape(filter, &layers[i], i, error);
    const struct layer *before = filter->layers;
    uint32_t count_before = filter->layer_count;
    if (status == PETAL_OK) status = make_room(filter, layer_count, error);
    if (status != PETAL_OK) return petal_filter_note_error(filter, status, error);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&filter->allocator, filter->layers[i].own_lines, filter->layers[i].own_bytes);
    filter->layer_count = layer_count;
    for (uint32_t i = 0; i < layer_count; i++) {
        filter->layers[i] = (struct layer){0};
        borrow(filter, &layers[i], &filter->layers[i]);
    }
    /* Choosing a strategy takes as long as adding several keys. This is skipped if the layers'
     * addresses and parameters, on which the strategy depends, have not changed. */
    bool is_known = filter->layers == before && layer_count == count_before &&
                    !filter->direct.lines && (!filter->grow || filter->grow == refuse_to_grow);
    if (filter->grow) filter->grow = refuse_to_grow;
    filter->content_recorded = false;
    filter->removals = 0;
    petal_filter_touch_all(filter);
    petal_filter_note_bits(filter);
    if (!is_known) petal_filter_choose_strategy(filter);
    return PETAL_OK;
}

/* ---- queries by ranges of the file ----------------------------------------------------------- */

/* The lines of a layer that a query for one key reads, in the order in which the key's positions
 * first reach them. */
struct lines {
    uint32_t position_count, line_count;
    uint64_t positions[PETAL_MAX_POSITIONS]; /* positions, as bit numbers in the array */
    uint32_t line_of[PETAL_MAX_POSITIONS];   /* each position's index in `lines` */
    uint64_t lines[PETAL_MAX_POSITIONS];
};

static void find_lines(const struct layer *layer, const struct scheme_def *scheme, uint64_t hash,
                       struct lines *found)
{
    found->position_count = scheme->positions(&layer->array.shape, hash, found->positions);
    found->line_count = 0;
    for (uint32_t i = 0; i < found->position_count; i++) {
        uint64_t line = found->positions[i] / PETAL_LINE_BITS;
        uint32_t j = 0;
        while (j < found->line_count && found->lines[j] != line) j++;
        if (j == found->line_count) found->lines[found->line_count++] = line;
        found->line_of[i] = j;
    }
}

static petal_status check_ranged(const petal_filter *filter, petal_error *error)
{
    if (filter->scheme->positions || filter->scheme->stretch)
        return petal_filter_check_secret(filter, error);
    return petal_fail(
        error, PETAL_ERR_UNSUPPORTED,
        "only blocked, classic, counting and static filters can be queried by ranges");
}

struct range_list {
    petal_range *ranges;
    uint64_t room, count;
};

static void list_range(struct range_list *list, uint64_t offset, uint64_t size_bytes)
{
    if (list->count < list->room) list->ranges[list->count] = (petal_range){offset, size_bytes};
    list->count++;
}

/* Lists the ranges of a layer. `offset` is the file offset of the layer's first byte. */
static void list_ranges(struct range_list *list, const struct layer *layer,
                        const struct scheme_def *scheme, uint64_t hash, uint64_t offset)
{
    struct lines found;
    struct stretch stretch;
    for (uint64_t i = 0; scheme->stretch && scheme->stretch(&layer->array, hash, i, &stretch); i++)
        list_range(list, offset + stretch.offset, stretch.size_bytes);
    if (scheme->stretch) return;
    find_lines(layer, scheme, hash, &found);
    for (uint32_t j = 0; j < found.line_count; j++)
        list_range(list, offset + found.lines[j] * PETAL_LINE_BYTES, PETAL_LINE_BYTES);
}

petal_status petal_key_ranges(const petal_filter *filter, const void *key, size_t key_bytes,
                              petal_range *ranges, uint64_t room, uint64_t *count,
                              petal_error *error)
{
    struct image image;
    struct range_list list = {ranges, room, 0};
    *count = 0;
    petal_status status = check_ranged(filter, error);
    if (status == PETAL_OK) status = petal_image_of(filter, &image, error);
    if (status != PETAL_OK) return status;
    uint64_t hash = petal_hash_key(filter, key, key_bytes);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        list_ranges(&list, &filter->layers[i], filter->scheme, hash, image.about.layers[i].offset);
    *count = list.count;
    return PETAL_OK;
}

/* Returns true if all positions, which are `width` bits wide, are set in these lines. */
static bool all_set(const struct lines *found, uint32_t width, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < found->position_count; i++) {
        uint64_t place =
            found->line_of[i] * (uint64_t)PETAL_LINE_BITS + found->positions[i] % PETAL_LINE_BITS;
        if (!(bytes[place / 8] >> place % 8 & ((1u << width) - 1))) return false;
    }
    return true;
}

/* Computes the layer's answer from ranges whose contents start at `bytes`. Sets *taken to the
 * number of bytes used. If there are too few bytes, there is no answer. */
static enum turn turn_of(const struct layer *layer, const struct scheme_def *scheme, uint64_t hash,
                         const uint8_t *bytes, uint64_t size_bytes, uint64_t *taken)
{
    struct lines found;
    struct stretch stretch;
    *taken = 0;
    if (scheme->stretch) {
        for (uint64_t i = 0; scheme->stretch(&layer->array, hash, i, &stretch); i++)
            *taken += stretch.size_bytes;
        if (*taken > size_bytes) return TURN_ABSENT;
        return (enum turn)scheme->turn_of_stretches(&layer->array, hash, bytes);
    }
    find_lines(layer, scheme, hash, &found);
    *taken = (uint64_t)found.line_count * PETAL_LINE_BYTES;
    uint32_t width = scheme->counters ? scheme->counters->bits : 1;
    return *taken <= size_bytes && all_set(&found, width, bytes) ? TURN_IN : TURN_NEXT;
}

petal_status petal_contains_in_ranges(const petal_filter *filter, const void *key, size_t key_bytes,
                                      const void *bytes, uint64_t size_bytes, bool *answer,
                                      petal_error *error)
{
    enum turn first = TURN_NEXT; /* the first layer that decides the answer */
    uint64_t at = 0, taken;
    petal_status status = check_ranged(filter, error);
    if (status != PETAL_OK) return status;
    uint64_t hash = petal_hash_key(filter, key, key_bytes);
    for (uint32_t i = 0; i < filter->layer_count; i++, at += taken) {
        if (first != TURN_NEXT && at == size_bytes) break; /* the other layers are not needed */
        enum turn turn = turn_of(&filter->layers[i], filter->scheme, hash,
                                 (const uint8_t *)bytes + at, size_bytes - at, &taken);
        if (taken > size_bytes - at)
            return petal_fail_at(error, PETAL_ERR_TRUNCATED, at + taken,
                                 "the next of this key's ranges end after %llu bytes, not %llu",
                                 (unsigned long long)(at + taken), (unsigned long long)size_bytes);
        if (first == TURN_NEXT) first = turn;
    }
    if (at != size_bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the ranges of this key have %llu bytes",
                          (unsigned long long)at);
    *answer = first == TURN_IN;
    return PETAL_OK;
}

/* ---- the block that a range is in ------------------------------------------------------------ */

#define SUM_BYTES 8u

struct block {
    uint32_t layer;
    uint64_t index, number; /* block number within its layer, and across all layers */
    petal_range bits, sum;
};

static struct block block_at(const struct image *image, uint32_t layer, uint64_t place)
{
    const struct layer_description *about = &image->about.layers[layer];
    uint64_t index = place / PETAL_BLOCK_BYTES, from = index * PETAL_BLOCK_BYTES,
             number = about->first_block + index, left = about->size_bytes - from;
    return (struct block){
        .layer = layer,
        .index = index,
        .number = number,
        .bits = {about->offset + from, left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES},
        .sum = {image->sums_offset + number * SUM_BYTES, SUM_BYTES}};
}

static petal_status find_block(const petal_filter *filter, uint64_t offset, struct image *image,
                               struct block *found, petal_error *error)
{
    petal_status status = petal_image_of(filter, image, error);
    if (status != PETAL_OK) return status;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct layer_description *layer = &image->about.layers[i];
        if (offset < layer->offset || offset - layer->offset >= layer->size_bytes) continue;
        *found = block_at(image, i, offset - layer->offset);
        return PETAL_OK;
    }
    return petal_fail(error, PETAL_ERR_ARGUMENT, "there are no bits at offset %llu of the file",
                      (unsigned long long)offset);
}

petal_status petal_block_ranges(const petal_filter *filter, uint64_t offset, petal_range *block,
                                petal_range *sum, petal_error *error)
{
    struct image image;
    struct block found;
    petal_status status = find_block(filter, offset, &image, &found, error);
    if (status != PETAL_OK) return status;
    *block = found.bits;
    *sum = found.sum;
    return PETAL_OK;
}

petal_status petal_verify_block(const petal_filter *filter, uint64_t offset, const void *block,
                                uint64_t block_bytes, const void *sum, uint64_t sum_bytes,
                                petal_error *error)
{
    struct image image;
    struct block found;
    petal_status status = find_block(filter, offset, &image, &found, error);
    if (status != PETAL_OK) return status;
    if (block_bytes != found.bits.size_bytes || sum_bytes != SUM_BYTES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the block has %llu bytes, its checksum 8",
                          (unsigned long long)found.bits.size_bytes);
    struct bit_array bits = {.bytes = (uint8_t *)(uintptr_t)block, .size_bytes = block_bytes};
    if (petal_block_sum(&bits, 0, found.number) == load64le(sum)) return PETAL_OK;
    return petal_image_block_damaged(&image, found.layer, found.index, error);
}

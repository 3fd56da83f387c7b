/* patching.c - implements petal_diff() and petal_apply_patch(). */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "filter/permission.h"
#include "format/patch.h"
#include "store/write.h"

#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

/* Counts the bits that differ, but stops when the count exceeds `max`. */
static uint64_t count_different(const struct bit_array *from, const struct bit_array *to,
                                uint64_t max)
{
    uint64_t count = 0, at = 0;
    for (; at < to->size_bytes && count <= max; at += PETAL_LINE_BYTES)
        for (uint64_t i = at; i < at + PETAL_LINE_BYTES; i += 8)
            count += popcount64((from ? load64le(from->bytes + i) : 0) ^ load64le(to->bytes + i));
    return count;
}

static uint64_t cost_of_shift(const petal_filter *from, const petal_filter *to, uint32_t shift,
                              uint64_t max)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; i < to->layer_count && cost <= max; i++) {
        const struct layer *source = petal_patch_source(from, shift, i);
        cost += count_different(source ? &source->array : NULL, &to->layers[i].array, max - cost);
    }
    return cost;
}

/* Returns the number of generations that were dropped between `from` and `to`, which is the number
 * that leaves the fewest bits different. Other filters with layers never drop a layer. */
static uint32_t find_shift(const petal_filter *from, const petal_filter *to)
{
    uint64_t least = UINT64_MAX;
    uint32_t best = 0;
    if (!petal_filter_rotates(from)) return 0;
    for (uint32_t shift = 0; shift <= from->layer_count && least; shift++) {
        uint64_t cost = cost_of_shift(from, to, shift, least - 1);
        if (cost >= least) continue;
        least = cost;
        best = shift;
    }
    return best;
}

static petal_status check_related(const petal_filter *from, const petal_filter *to,
                                  petal_error *error)
{
    petal_status status = petal_filter_check_kin(from, to, error);
    if (status == PETAL_OK && from->scheme->is_in_turn)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "nearly all bits of a static filter change; send the whole file, or a "
                          "Bloom filter of the new keys beside it");
    if (status == PETAL_OK && from->policy.kind != to->policy.kind)
        return petal_fail(error, PETAL_ERR_MISMATCH,
                          "they differ in how they grow or forget; send the whole file");
    for (uint32_t i = 0; status == PETAL_OK && i < to->layer_count && i < from->layer_count; i++)
        status = petal_filter_check_shapes_alike(&from->layers[i].array.shape,
                                                 &to->layers[i].array.shape, error);
    return status;
}

static petal_status diff(const petal_filter *from, const petal_filter *to, const struct sink *sink,
                         petal_error *error)
{
    uint64_t from_id, to_id;
    petal_status status = check_related(from, to, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(from, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(to, error);
    if (status == PETAL_OK) status = petal_content_id(from, &from_id, error);
    if (status == PETAL_OK) status = petal_content_id(to, &to_id, error);
    if (status == PETAL_OK)
        status = petal_patch_write(from, from_id, to, to_id, find_shift(from, to), sink, error);
    if (status == PETAL_OK) status = petal_filter_check_unchanged(from, error);
    return status == PETAL_OK ? petal_filter_check_unchanged(to, error) : status;
}

petal_status petal_diff(const petal_filter *from, const petal_filter *to, petal_sink sink,
                        void *context, petal_error *error)
{
    struct stream stream = {.sink = sink, .context = context};
    struct sink through = {petal_stream_put, &stream, false};
    petal_status status = sink ? diff(from, to, &through, error)
                               : petal_fail(error, PETAL_ERR_ARGUMENT, "the sink is NULL");
    return status == PETAL_OK ? petal_stream_flush(&stream, error) : status;
}

/* ---- applying -------------------------------------------------------------------------------- */

static petal_status check_writable(const petal_filter *filter, petal_error *error)
{
    if (filter->read_only)
        return petal_fail(error, PETAL_ERR_READ_ONLY, "the filter is open for reading only");
    if (petal_filter_has_foreign_bits(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a map cannot be patched in place; load a copy, and save it");
    return petal_filter_check_present(filter, error);
}

static petal_status check_base(const petal_filter *filter, const struct patch *patch,
                               petal_error *error)
{
    uint64_t id;
    petal_status status = petal_content_id(filter, &id, error);
    if (status != PETAL_OK || id == patch->base_id) return status;
    return petal_fail(
        error, PETAL_ERR_MISMATCH,
        id == patch->image.content_id
            ? "the patch was applied already: content id %016llx is its result"
            : "the patch is for content id %016llx, the filter has %016llx; fetch the "
              "whole file",
        (unsigned long long)(id == patch->image.content_id ? id : patch->base_id),
        (unsigned long long)id);
}

/* Even if the patch is applied to the right filter, it may produce another kind of filter. */
static petal_status check_kin(const petal_filter *filter, const struct patch *patch,
                              petal_error *error)
{
    const struct image *image = &patch->image;
    const struct description *about = &image->about;
    bool keyed = filter->hash->keyed;
    bool good = about->layers->shape.scheme == filter->scheme->id &&
                about->hash == filter->hash->id && about->seed == filter->hash_key.seed &&
                image->secret_check == (keyed ? petal_secret_check(filter->hash_key.secret) : 0) &&
                about->policy.kind == filter->policy.kind &&
                about->origin.format == filter->origin.format &&
                patch->shift <= filter->layer_count;
    for (uint32_t i = 0; good && i < about->layer_count; i++) {
        const struct layer *source = petal_patch_source(filter, patch->shift, i);
        good = !source || petal_filter_check_shapes_alike(
                              &source->array.shape, &about->layers[i].shape, NULL) == PETAL_OK;
    }
    return good ? PETAL_OK
                : petal_fail(error, PETAL_ERR_MISMATCH,
                             "the patch makes another kind of filter; fetch the whole file");
}

/* Limits the memory that new layers may take. */
static petal_status check_memory_limit(const petal_filter *filter, const struct patch *patch,
                                       uint64_t memory_limit, petal_error *error)
{
    uint64_t held = patch->size_bytes, needed = 0,
             own = filter->memory_limit == UINT64_MAX ? 0 : filter->memory_limit;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        held = saturating_add(held, filter->layers[i].array.size_bytes);
    for (uint32_t i = 0; i < patch->image.about.layer_count; i++)
        if (!petal_patch_source(filter, patch->shift, i))
            needed = saturating_add(needed, patch->image.about.layers[i].size_bytes);
    uint64_t limit = memory_limit ? memory_limit : petal_memory_limit(own, held);
    if (needed <= limit) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_LIMIT,
                      "the patch adds layers of %llu bytes, the limit is %llu; if you trust it, "
                      "raise the limit (--memory-limit, memory_limit)",
                      (unsigned long long)needed, (unsigned long long)limit);
}

/* Creates the result without its bits. */
static petal_status make_frame(const petal_filter *filter, const struct patch *patch,
                               petal_filter **frame, petal_error *error)
{
    const struct description *about = &patch->image.about;
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    petal_status status = petal_filter_of(about, secret, &filter->allocator, frame, error);
    return status == PETAL_OK
               ? petal_filter_set_metadata(*frame, patch->bytes + about->metadata_offset,
                                           about->metadata_bytes, error)
               : status;
}

/* A filter that several threads add to always has one layer. */
static petal_status check_sharing(const petal_filter *filter, const petal_filter *frame,
                                  petal_error *error)
{
    if (!filter->sharing || petal_filter_is_single(frame)) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_MISMATCH,
                      "the patch adds layers, but threads add to the filter; load a copy");
}

static petal_status alloc_new_layers(const petal_filter *filter, const struct patch *patch,
                                     petal_filter *frame, petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint32_t i = 0; status == PETAL_OK && i < frame->layer_count; i++)
        if (!petal_patch_source(filter, patch->shift, i))
            status = petal_filter_alloc_layer(frame, &frame->layers[i], error);
    return status;
}

static void move_bits(struct layer *from, struct layer *to)
{
    to->array.bytes = from->array.bytes;
    to->own_lines = from->own_lines;
    to->own_bytes = from->own_bytes;
    from->array.bytes = NULL;
    from->own_lines = NULL;
    from->own_bytes = 0;
}

#define SWAP(type, a, b) \
    do { \
        type swapped = (a); \
        (a) = (b); \
        (b) = swapped; \
    } while (0)

/* Swaps the states of the filter and the frame; the frame, with the old state, is then freed. */
static void take_over(petal_filter *filter, const struct patch *patch, petal_filter *frame)
{
    petal_filter_settle_items(filter); /* the patch overwrites these counts */
    for (uint32_t i = 0; i < frame->layer_count; i++)
        if (petal_patch_source(filter, patch->shift, i))
            move_bits(&filter->layers[i + patch->shift], &frame->layers[i]);
    SWAP(struct layer *, filter->layers, frame->layers);
    SWAP(uint32_t, filter->layer_count, frame->layer_count);
    SWAP(uint32_t, filter->layer_room, frame->layer_room);
    SWAP(struct origin, filter->origin, frame->origin);
    SWAP(void *, filter->metadata, frame->metadata);
    SWAP(uint64_t, filter->metadata_bytes, frame->metadata_bytes);
    filter->policy = frame->policy;
    filter->grow = frame->grow;
    filter->is_fixed = frame->is_fixed;
    filter->key_type = frame->key_type;
    filter->removals = 0;
    petal_filter_touch_all(filter);
    petal_filter_choose_strategy(filter);
}

static petal_status apply(petal_filter *filter, const struct patch *patch, uint64_t memory_limit,
                          petal_error *error)
{
    petal_filter *frame = NULL;
    petal_status status = check_base(filter, patch, error);
    if (status == PETAL_OK) status = check_kin(filter, patch, error);
    if (status == PETAL_OK) status = check_memory_limit(filter, patch, memory_limit, error);
    if (status == PETAL_OK) status = make_frame(filter, patch, &frame, error);
    if (status == PETAL_OK) status = check_sharing(filter, frame, error);
    if (status == PETAL_OK) status = petal_patch_check(patch, filter, frame, error);
    if (status == PETAL_OK) status = alloc_new_layers(filter, patch, frame, error);
    if (status == PETAL_OK) {
        take_over(filter, patch, frame);
        petal_patch_apply(patch, filter);
    }
    petal_free(frame);
    return status;
}

static petal_status read_and_apply(petal_filter *filter, const void *bytes, uint64_t size_bytes,
                                   uint64_t memory_limit, petal_error *error)
{
    struct patch patch;
    petal_status status = check_writable(filter, error);
    if (status == PETAL_OK) status = petal_patch_read(bytes, size_bytes, &patch, error);
    return status == PETAL_OK ? apply(filter, &patch, memory_limit, error) : status;
}

petal_status petal_apply_patch(petal_filter *filter, const void *patch, uint64_t patch_bytes,
                               uint64_t memory_limit, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_filter_refuse_static(filter, error);
    if (status == PETAL_OK)
        status = read_and_apply(filter, patch, patch_bytes, memory_limit, error);
    return petal_filter_note_error(filter, status, error);
}

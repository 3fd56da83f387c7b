/* reader.c - loads a filter from a stream that arrives in pieces.
 *
 * At first, everything is buffered. If the stream ends before the format is known, the buffer is
 * opened as petal_load() would open it. For a petal file, only the front is buffered, which is
 * everything before the bits. The bits are stored directly in the filter's memory:
 *
 *     0          payload_offset                        file_bytes
 *     +----------+---------------------+---------------+
 *     | buffered | bits of layer 0     | of layer 1    |
 *     +----------+---------------------+---------------+
 *                 stored as they arrive
 *
 * petal_load() checks the header, the size, the front, the ends of the layers, whether the file may
 * be opened, and finally the bits. petal_load() reports the first failure, and the reader must
 * report the same failure. So the reader holds back a failure until the stream has ended, unless no
 * further bytes can change the result. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "petal/petal_host.h"
#include "store/budget.h"
#include "store/source.h"

#include <string.h>

#define MIN_ROOM 4096u
#define SLICE_BYTES 65536u

/* A failure that has been found, but is held back until it is certain. */
struct finding {
    petal_status status;
    petal_error error;
};

struct petal_reader {
    uint8_t secret[PETAL_SECRET_BYTES];
    petal_allocator allocator;
    struct source source;
    uint64_t expected_bytes, fed_bytes;
    struct finding failure; /* final failure, which every later call returns */

    uint8_t *buffer;
    uint64_t room, used;

    bool is_parsed; /* true if the stream is a petal file with a valid header, described by
                     * `image` */
    bool takes_bits;
    struct image image;
    struct finding front, opening; /* failures in the front, and in creating the filter */
    petal_filter *made;            /* the filter that receives the bits, unless `opening` failed */
    uint32_t layer;                /* number of the layer that the next bytes belong to */
    uint8_t end[PETAL_LINE_BYTES]; /* the last bytes of this layer */
    bool has_padding;              /* true if bytes after the layer's end are nonzero */
    bool has_bad_end;
    uint32_t bad_end; /* number of the first layer with an invalid end */
};

/* ---- the buffer ------------------------------------------------------------------------------ */

static petal_status check_length(const struct petal_reader *reader, petal_error *error)
{
    uint64_t max = reader->source.options.max_bytes, expected = reader->expected_bytes;
    if (expected && reader->fed_bytes > expected)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "the stream has more than the %llu bytes that were expected",
                          (unsigned long long)expected);
    if (max && reader->fed_bytes > max)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "the stream has more than the limit of %llu bytes",
                          (unsigned long long)max);
    return PETAL_OK;
}

/* Doubles the buffer when it is full, so that copying costs no more than reading the stream. The
 * buffer never exceeds the expected or allowed size. */
static petal_status make_room(struct petal_reader *reader, uint64_t needed, petal_error *error)
{
    uint64_t limit = reader->source.options.memory_limit, room = MIN_ROOM;
    if (needed <= reader->room) return PETAL_OK;
    if (limit && needed > limit)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "buffering the stream takes more memory than the limit of %llu bytes; if "
                          "you trust it, raise it (options.memory_limit)",
                          (unsigned long long)limit);
    while (room < needed) room = room > UINT64_MAX / 2 ? UINT64_MAX : 2 * room;
    if (limit && room > limit) room = limit;
    if (reader->expected_bytes && room > reader->expected_bytes) room = reader->expected_bytes;
    uint8_t *buffer = petal_alloc(&reader->allocator, room);
    if (!buffer) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    if (reader->used) memcpy(buffer, reader->buffer, (size_t)reader->used);
    petal_release(&reader->allocator, reader->buffer, reader->room);
    reader->buffer = buffer;
    reader->room = room;
    return PETAL_OK;
}

static petal_status keep(struct petal_reader *reader, const uint8_t *bytes, size_t size_bytes,
                         petal_error *error)
{
    petal_status status = make_room(reader, reader->used + size_bytes, error);
    if (status != PETAL_OK) return status;
    memcpy(reader->buffer + reader->used, bytes, size_bytes);
    reader->used += size_bytes;
    return PETAL_OK;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Returns true if this failure is final, no matter what bytes follow. */
static bool is_certain(const struct petal_reader *reader, const struct finding *found)
{
    struct image image;
    struct finding later;
    later.status = petal_image_parse_slots(reader->buffer, UINT64_MAX, &image, &later.error);
    return later.status == found->status && later.error.offset == found->error.offset &&
           strcmp(later.error.message, found->error.message) == 0;
}

static petal_status parse_header(struct petal_reader *reader, petal_error *error)
{
    struct finding found;
    found.status =
        petal_image_parse_slots(reader->buffer, reader->used, &reader->image, &found.error);
    reader->is_parsed = found.status == PETAL_OK;
    if (!reader->is_parsed) {
        if (!is_certain(reader, &found)) return PETAL_OK;
        *error = found.error;
        return found.status;
    }
    if (!reader->expected_bytes) return PETAL_OK;
    return petal_format_check_size(reader->image.file_bytes, reader->expected_bytes, error);
}

/* ---- the bits -------------------------------------------------------------------------------- */

/* Without a memory limit, the number of bytes received limits the memory, because the size in the
 * header is not trusted. If too few bytes have arrived to justify allocating memory for the bits,
 * it is allocated later. */
static bool may_take_bits(const struct petal_reader *reader)
{
    if (!reader->is_parsed || reader->used < reader->image.payload_offset) return false;
    return reader->source.options.memory_limit ||
           reader->image.file_bytes <= petal_memory_limit(0, reader->fed_bytes) / 2;
}

/* Creates the filter that receives the bits, in the same way as petal_load(). */
static petal_status make_filter(struct petal_reader *reader, petal_error *error)
{
    struct source *source = &reader->source;
    struct budget budget;
    petal_status status = petal_source_check(source, &reader->image, error);
    if (status != PETAL_OK) return status;
    petal_budget_begin(&budget, &reader->allocator, reader->source.options.memory_limit,
                       reader->fed_bytes);
    source->allocator = &budget.bounded;
    source->from.bytes = reader->buffer;
    status = petal_source_make_frame(source, &reader->image.about, &reader->made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(reader->made, error);
    source->allocator = NULL; /* the budget applies until this line */
    if (status == PETAL_OK) {
        reader->made->allocator = reader->allocator;
        return PETAL_OK;
    }
    petal_free(reader->made);
    reader->made = NULL;
    return petal_budget_end(&budget, status, error);
}

/* Returns true if all bits after the layer's last valid bit are clear. */
static bool has_clear_end(const struct petal_reader *reader, const struct layer_description *layer)
{
    uint64_t size = layer->size_bytes < PETAL_LINE_BYTES ? layer->size_bytes : PETAL_LINE_BYTES;
    return petal_end_is_clear(&layer->shape, layer->size_bytes - size, reader->end, size) &&
           !reader->has_padding;
}

static void end_layer(struct petal_reader *reader, const struct layer_description *layer)
{
    if (!reader->has_bad_end && !has_clear_end(reader, layer)) {
        reader->has_bad_end = true;
        reader->bad_end = reader->layer;
    }
    reader->has_padding = false;
    reader->layer++;
}

/* Saves the bytes of the layer's last line for checking. `bytes` starts at this offset in the
 * layer. */
static void keep_end(struct petal_reader *reader, const struct layer_description *layer,
                     uint64_t place, const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t first =
        layer->size_bytes < PETAL_LINE_BYTES ? 0 : layer->size_bytes - PETAL_LINE_BYTES;
    uint64_t from = place < first ? first : place;
    if (from < place + size_bytes)
        memcpy(reader->end + (from - first), bytes + (from - place),
               (size_t)(place + size_bytes - from));
}

/* Stores the next bytes, which start at this offset in the file, and don't extend beyond its
 * end. */
static void take_bits(struct petal_reader *reader, uint64_t at, const uint8_t *bytes,
                      uint64_t size_bytes)
{
    while (size_bytes) {
        const struct layer_description *layer = &reader->image.about.layers[reader->layer];
        bool is_last = reader->layer + 1 == reader->image.about.layer_count;
        uint64_t place = at - layer->offset, part,
                 next = is_last ? reader->image.file_bytes : layer[1].offset;
        bool is_padding = place >= layer->size_bytes;
        part = (is_padding ? next : layer->offset + layer->size_bytes) - at;
        if (part > size_bytes) part = size_bytes;
        if (is_padding) {
            for (uint64_t i = 0; i < part; i++) reader->has_padding |= bytes[i] != 0;
        } else {
            keep_end(reader, layer, place, bytes, part);
            if (reader->made)
                petal_copy_to_zeroed(reader->made->layers[reader->layer].array.bytes + place, bytes,
                                     part);
        }
        at += part;
        bytes += part;
        size_bytes -= part;
        if (at == next) end_layer(reader, layer);
    }
}

/* Begins to store bits, starting with the bits already in the buffer. */
static petal_status begin_bits(struct petal_reader *reader, petal_error *error)
{
    uint64_t front_bytes = reader->image.payload_offset;
    reader->takes_bits = true;
    reader->front.status =
        petal_image_check_front(reader->buffer, &reader->image, &reader->front.error);
    if (reader->front.status == PETAL_OK)
        reader->opening.status = make_filter(reader, &reader->opening.error);
    take_bits(reader, front_bytes, reader->buffer + front_bytes, reader->used - front_bytes);
    reader->used = front_bytes;
    const struct finding *found =
        reader->front.status != PETAL_OK ? &reader->front : &reader->opening;
    bool is_certain = reader->expected_bytes || found->status == PETAL_ERR_MEMORY;
    if (found->status == PETAL_OK || !is_certain) return PETAL_OK;
    *error = found->error;
    return found->status;
}

/* ---- public calls ---------------------------------------------------------------------------- */

petal_status petal_reader_create(const petal_open_options *options, uint64_t expected_bytes,
                                 petal_reader **reader, petal_error *error)
{
    struct source source;
    *reader = NULL;
    petal_status status = petal_source_to_load(options, &source, error);
    if (status != PETAL_OK) return status;
    petal_allocator allocator = *petal_source_allocator(&source);
    petal_reader *made = petal_alloc(&allocator, sizeof *made);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    made->source = source;
    made->allocator = allocator;
    made->source.options.allocator = &made->allocator;
    if (source.options.secret) {
        memcpy(made->secret, source.options.secret, sizeof made->secret);
        made->source.options.secret = made->secret;
    }
    made->expected_bytes = expected_bytes;
    *reader = made;
    return PETAL_OK;
}

/* Buffers at most one slice at a time, so that bits can be stored as early as possible. */
static petal_status feed(struct petal_reader *reader, const uint8_t *bytes, size_t size_bytes,
                         petal_error *error)
{
    const struct source *source = &reader->source;
    bool is_petal =
        source->format == &petal_format_petal && !source->is_auto && !source->header_only;
    uint64_t at = reader->fed_bytes;
    if (!checked_add(at, size_bytes, &reader->fed_bytes))
        return petal_fail(error, PETAL_ERR_LIMIT, "the stream has no end");
    petal_status status = check_length(reader, error);
    while (status == PETAL_OK && size_bytes && !reader->takes_bits) {
        size_t slice = size_bytes < SLICE_BYTES ? size_bytes : SLICE_BYTES;
        bool had_head = reader->used >= PETAL_HEAD_BYTES;
        status = keep(reader, bytes, slice, error);
        if (status != PETAL_OK) break;
        at += slice;
        bytes += slice;
        size_bytes -= slice;
        if (is_petal && !had_head && reader->used >= PETAL_HEAD_BYTES)
            status = parse_header(reader, error);
        if (status == PETAL_OK && reader->is_parsed && at > reader->image.file_bytes)
            status = petal_format_check_size(reader->image.file_bytes, at, error);
        if (status == PETAL_OK && may_take_bits(reader)) status = begin_bits(reader, error);
    }
    if (status != PETAL_OK || !reader->takes_bits) return status;
    if (size_bytes > reader->image.file_bytes - at)
        return petal_format_check_size(reader->image.file_bytes, at + size_bytes, error);
    take_bits(reader, at, bytes, size_bytes);
    return PETAL_OK;
}

/* After a failure, frees everything except the reader itself and the failure. */
static void drop(struct petal_reader *reader)
{
    petal_free(reader->made);
    petal_release(&reader->allocator, reader->buffer, reader->room);
    reader->made = NULL;
    reader->buffer = NULL;
    reader->used = reader->room = 0;
}

static petal_status fail_for_good(struct petal_reader *reader, const struct finding *found,
                                  petal_error *error)
{
    drop(reader);
    reader->failure = *found;
    if (error) *error = found->error;
    return found->status;
}

petal_status petal_reader_feed(petal_reader *reader, const void *bytes, size_t size_bytes,
                               petal_error *error)
{
    struct finding found = reader->failure;
    if (found.status == PETAL_OK) found.status = feed(reader, bytes, size_bytes, &found.error);
    return found.status == PETAL_OK ? PETAL_OK : fail_for_good(reader, &found, error);
}

static petal_status finish_bits(struct petal_reader *reader, petal_error *error)
{
    const struct image *image = &reader->image;
    petal_status status = petal_format_check_size(image->file_bytes, reader->fed_bytes, error);
    if (status != PETAL_OK) return status;
    if (reader->front.status == PETAL_OK && reader->has_bad_end)
        return petal_image_layer_end_damaged(&image->about.layers[reader->bad_end], error);
    const struct finding *found =
        reader->front.status != PETAL_OK ? &reader->front : &reader->opening;
    if (found->status == PETAL_OK)
        return petal_source_verify(&reader->source, image, reader->buffer, reader->made, error);
    *error = found->error;
    return found->status;
}

static petal_status finish(struct petal_reader *reader, petal_filter **filter, petal_error *error)
{
    if (!reader->takes_bits) {
        reader->source.from.bytes = reader->buffer;
        reader->source.from.size_bytes = reader->used;
        return petal_source_open(&reader->source, filter, error);
    }
    petal_status status = finish_bits(reader, error);
    if (status != PETAL_OK) return status;
    *filter = reader->made;
    reader->made = NULL;
    return PETAL_OK;
}

petal_status petal_reader_finish(petal_reader *reader, petal_filter **filter, petal_error *error)
{
    struct finding found = reader->failure;
    *filter = NULL;
    if (found.status == PETAL_OK) found.status = finish(reader, filter, &found.error);
    if (found.status != PETAL_OK) return fail_for_good(reader, &found, error);
    drop(reader);
    reader->failure.status = petal_fail(&reader->failure.error, PETAL_ERR_ARGUMENT,
                                        "the stream has ended; make another reader");
    return PETAL_OK;
}

void petal_reader_free(petal_reader *reader)
{
    if (!reader) return;
    petal_allocator allocator = reader->allocator;
    drop(reader);
    petal_wipe(reader->secret, sizeof reader->secret);
    petal_release(&allocator, reader, sizeof *reader);
}

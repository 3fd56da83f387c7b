/* patch.c - see patch.h. */
#include "format/patch.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "format/pieces.h"

#include <string.h>

static const uint8_t magic[8] = {0x89, 'P', 'T', 'P', '\r', '\n', 0x1a, '\n'};

#define VERSION 1u

/* Offsets of the fields in a patch's head. */
enum {
    AT_VERSION = 8,
    AT_FEATURES = 12,
    AT_BASE_ID = 16,
    AT_SLOT_BYTES = 24,
    AT_SHIFT = 28,
    AT_RESERVED = 32,
    AT_SUM = 56,
    HEAD_BYTES = 64
};

/* Offsets of the fields in a piece's head. */
enum {
    PIECE_SUM = 0,
    PIECE_BLOCKS = 8,
    PIECE_CODES = 16,
    PIECE_CODE_BYTES = 24,
    PIECE_KIND = 28,
    PIECE_PARAMETER = 29,
    PIECE_RESERVED = 30
};

const struct layer *petal_patch_source(const petal_filter *base, uint32_t shift, uint32_t layer)
{
    uint64_t source = (uint64_t)layer + shift;
    return source < base->layer_count ? &base->layers[source] : NULL;
}

static uint64_t round_up8(uint64_t size_bytes)
{
    return (size_bytes + 7) & ~(uint64_t)7;
}

/* ---- writing --------------------------------------------------------------------------------- */

static petal_status put_padded(const struct sink *sink, const void *bytes, uint64_t size_bytes,
                               petal_error *error)
{
    static const uint8_t zeros[8];
    petal_status status = petal_put(sink, bytes, size_bytes, error);
    return status == PETAL_OK ? petal_put(sink, zeros, round_up8(size_bytes) - size_bytes, error)
                              : status;
}

static petal_status write_head(const petal_filter *to, uint64_t from_id, uint64_t to_id,
                               uint32_t shift, const struct sink *sink, petal_error *error)
{
    struct image image;
    uint8_t head[HEAD_BYTES + PETAL_SLOT_MAX_BYTES] = {0};
    petal_status status = petal_image_of(to, &image, error);
    if (status != PETAL_OK) return status;
    image.content_id = to_id;
    petal_image_write_slot(&image, petal_image_next(&image, IMAGE_CLEAN), head + HEAD_BYTES);
    memcpy(head, magic, sizeof magic);
    store32le(head + AT_VERSION, VERSION);
    store64le(head + AT_BASE_ID, from_id);
    store32le(head + AT_SLOT_BYTES, (uint32_t)image.slot_bytes);
    store32le(head + AT_SHIFT, shift);
    store64le(head + AT_SUM, petal_xxh3(head, AT_SUM, 0));
    status = petal_put(sink, head, HEAD_BYTES + image.slot_bytes, error);
    if (status == PETAL_OK) status = put_padded(sink, to->metadata, to->metadata_bytes, error);
    return status == PETAL_OK
               ? put_padded(sink, origin_bytes(&to->origin), to->origin.size_bytes, error)
               : status;
}

/* `number` is the number of the piece's first block, counted across all layers. The codes must
 * already be in the buffer. */
static void seal_piece(const struct piece *piece, uint64_t number, uint8_t *bytes)
{
    store64le(bytes + PIECE_BLOCKS, piece->blocks);
    store64le(bytes + PIECE_CODES, piece->codes);
    store32le(bytes + PIECE_CODE_BYTES, piece->code_bytes);
    bytes[PIECE_KIND] = (uint8_t)piece->kind;
    bytes[PIECE_PARAMETER] = (uint8_t)piece->parameter;
    bytes[PIECE_RESERVED] = bytes[PIECE_RESERVED + 1] = 0;
    store64le(bytes + PIECE_SUM,
              petal_xxh3(bytes + PIECE_BLOCKS,
                         PETAL_PIECE_HEAD_BYTES - PIECE_BLOCKS + (size_t)piece->code_bytes,
                         number));
}

static petal_status write_layer(const struct layer *from, const struct layer *to, bool counters,
                                uint64_t first_block, uint8_t *room, const struct sink *sink,
                                petal_error *error)
{
    struct difference difference = {from ? from->array.bytes : NULL, to->array.bytes,
                                    to->array.size_bytes, counters};
    struct piece piece;
    petal_status status = PETAL_OK;
    uint64_t block = 0, blocks = petal_block_count(&to->array);
    for (; status == PETAL_OK && block < blocks; block += piece.blocks) {
        petal_piece_choose(&difference, block, &piece);
        piece.code_bytes =
            petal_piece_encode(&difference, block, &piece, room + PETAL_PIECE_HEAD_BYTES);
        seal_piece(&piece, first_block + block, room);
        status = petal_put(sink, room, PETAL_PIECE_HEAD_BYTES + (uint64_t)piece.code_bytes, error);
    }
    return status;
}

petal_status petal_patch_write(const petal_filter *from, uint64_t from_id, const petal_filter *to,
                               uint64_t to_id, uint32_t shift, const struct sink *sink,
                               petal_error *error)
{
    uint64_t room_bytes = PETAL_PIECE_HEAD_BYTES + PETAL_PIECE_MAX_BYTES, first_block = 0;
    petal_status status = write_head(to, from_id, to_id, shift, sink, error);
    if (status != PETAL_OK) return status;
    uint8_t *room = petal_alloc(&to->allocator, room_bytes);
    if (!room) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; status == PETAL_OK && i < to->layer_count; i++) {
        status = write_layer(petal_patch_source(from, shift, i), &to->layers[i],
                             to->scheme->counters != NULL, first_block, room, sink, error);
        first_block += petal_block_count(&to->layers[i].array);
    }
    petal_release(&to->allocator, room, room_bytes);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status damaged(petal_error *error, uint64_t offset, const char *what)
{
    return petal_fail_at(
        error, PETAL_ERR_DAMAGED, offset,
        "the patch is damaged at byte %llu (%s); fetch it again, or the whole file",
        (unsigned long long)offset, what);
}

static petal_status truncated(petal_error *error, uint64_t size_bytes)
{
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                         "the patch is truncated at byte %llu; fetch it again, or the whole file",
                         (unsigned long long)size_bytes);
}

static petal_status check_head(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    uint64_t compare = size_bytes < sizeof magic ? size_bytes : sizeof magic;
    if (size_bytes == 0 || memcmp(bytes, magic, (size_t)compare) != 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a petal patch");
    if (size_bytes < HEAD_BYTES) return truncated(error, size_bytes);
    if (load64le(bytes + AT_SUM) != petal_xxh3(bytes, AT_SUM, 0))
        return damaged(error, 0, "checksum of the head");
    if (load32le(bytes + AT_VERSION) > VERSION || load32le(bytes + AT_FEATURES))
        return petal_fail_at(error, PETAL_ERR_NEWER, AT_VERSION,
                             "a patch for a newer petal (version %u, features %u); update petal",
                             load32le(bytes + AT_VERSION), load32le(bytes + AT_FEATURES));
    if (load32le(bytes + AT_VERSION) != VERSION) return damaged(error, AT_VERSION, "version");
    for (unsigned i = AT_RESERVED; i < AT_SUM; i++)
        if (bytes[i]) return damaged(error, i, "reserved field");
    return PETAL_OK;
}

/* Reads the result's slot, and checks it like a slot of a petal file. */
static petal_status read_slot(const uint8_t *bytes, uint64_t size_bytes, struct patch *patch,
                              petal_error *error)
{
    petal_error why;
    uint64_t slot_bytes = load32le(bytes + AT_SLOT_BYTES);
    if (slot_bytes < PETAL_SLOT_MIN_BYTES || slot_bytes > PETAL_SLOT_MAX_BYTES ||
        (slot_bytes & (slot_bytes - 1)))
        return damaged(error, AT_SLOT_BYTES, "size of the slot");
    if (size_bytes < HEAD_BYTES + slot_bytes) return truncated(error, size_bytes);
    petal_status status =
        petal_image_parse_alone(bytes + HEAD_BYTES, slot_bytes, HEAD_BYTES, &patch->image, &why);
    if (status == PETAL_ERR_DAMAGED) return damaged(error, why.offset, "header of the result");
    if (status != PETAL_OK && error) *error = why;
    if (status != PETAL_OK) return status;
    if (patch->image.sequence != 1 || patch->image.state != IMAGE_CLEAN)
        return damaged(error, HEAD_BYTES, "state of the result");
    return PETAL_OK;
}

/* Verifies the checksum of a part of the patch. A part is padded with zeros to a multiple of 8
 * bytes. On return, *at has advanced from the part's offset to the next part's. */
static petal_status check_part(const uint8_t *bytes, uint64_t size_bytes, uint64_t part_bytes,
                               uint64_t sum, const char *what, uint64_t *at, petal_error *error)
{
    uint64_t from = *at, end = from + part_bytes, padded = from + round_up8(part_bytes);
    if (padded > size_bytes) return truncated(error, size_bytes);
    if (petal_xxh3(bytes + from, (size_t)part_bytes, 0) != sum) return damaged(error, from, what);
    for (uint64_t i = end; i < padded; i++)
        if (bytes[i]) return damaged(error, i, "padding that is not zero");
    *at = padded;
    return PETAL_OK;
}

petal_status petal_patch_read(const uint8_t *bytes, uint64_t size_bytes, struct patch *patch,
                              petal_error *error)
{
    struct description *about = &patch->image.about;
    petal_status status = check_head(bytes, size_bytes, error);
    if (status == PETAL_OK) status = read_slot(bytes, size_bytes, patch, error);
    if (status != PETAL_OK) return status;
    uint64_t at = HEAD_BYTES + patch->image.slot_bytes, origin;
    about->metadata_offset = at;
    status = check_part(bytes, size_bytes, about->metadata_bytes, patch->image.metadata_sum,
                        "checksum of the metadata", &at, error);
    origin = at;
    if (status == PETAL_OK)
        status = check_part(bytes, size_bytes, about->origin.size_bytes, patch->image.origin_sum,
                            "checksum of the origin", &at, error);
    if (status != PETAL_OK) return status;
    petal_format_keep(about, bytes + origin, about->origin.size_bytes);
    patch->base_id = load64le(bytes + AT_BASE_ID);
    patch->shift = load32le(bytes + AT_SHIFT);
    patch->bytes = bytes;
    patch->size_bytes = size_bytes;
    patch->pieces_offset = at;
    return PETAL_OK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void load_piece(const uint8_t *bytes, struct piece *piece)
{
    piece->blocks = load64le(bytes + PIECE_BLOCKS);
    piece->codes = load64le(bytes + PIECE_CODES);
    piece->code_bytes = load32le(bytes + PIECE_CODE_BYTES);
    piece->kind = (enum piece_kind)bytes[PIECE_KIND];
    piece->parameter = bytes[PIECE_PARAMETER];
}

/* Returns true if a patch of this layer can contain this piece, starting at the given block. */
static bool is_possible(const struct piece *piece, const struct layer_description *layer,
                        bool counters, uint64_t block)
{
    uint64_t blocks = (layer->size_bytes + PETAL_BLOCK_BYTES - 1) / PETAL_BLOCK_BYTES,
             left = layer->size_bytes - block * PETAL_BLOCK_BYTES,
             bytes = left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES;
    if (piece->blocks == 0 || piece->blocks > blocks - block) return false;
    if (piece->parameter > PETAL_PIECE_MAX_PARAMETER) return false;
    switch (piece->kind) {
    case PIECE_SAME: return piece->codes == 0 && piece->code_bytes == 0;
    case PIECE_RISEN:
    case PIECE_FLIPPED: return !counters && piece->codes > 0;
    case PIECE_RAISED:
    case PIECE_COUNTED: return counters && piece->codes > 0;
    case PIECE_WHOLE: return piece->blocks == 1 && piece->codes == 0 && piece->code_bytes == bytes;
    }
    return false;
}

static petal_status read_piece(const struct patch *patch, uint64_t at, uint32_t layer,
                               uint64_t block, struct piece *piece, petal_error *error)
{
    const struct layer_description *about = &patch->image.about.layers[layer];
    const uint8_t *bytes = patch->bytes + at;
    uint64_t left = patch->size_bytes - at;
    bool counters = petal_scheme_find(about->shape.scheme)->counters != NULL;
    if (left < PETAL_PIECE_HEAD_BYTES) return truncated(error, patch->size_bytes);
    load_piece(bytes, piece);
    if (piece->code_bytes > PETAL_PIECE_MAX_BYTES)
        return damaged(error, at + PIECE_CODE_BYTES, "size of the codes");
    if (piece->code_bytes > left - PETAL_PIECE_HEAD_BYTES)
        return truncated(error, patch->size_bytes);
    if (load64le(bytes + PIECE_SUM) !=
        petal_xxh3(bytes + PIECE_BLOCKS,
                   PETAL_PIECE_HEAD_BYTES - PIECE_BLOCKS + (size_t)piece->code_bytes,
                   about->first_block + block))
        return damaged(error, at, "checksum of a piece");
    if (bytes[PIECE_RESERVED] || bytes[PIECE_RESERVED + 1] ||
        !is_possible(piece, about, counters, block))
        return damaged(error, at, "impossible piece");
    return PETAL_OK;
}

static uint64_t bytes_of_block(const struct layer_description *layer, uint64_t block)
{
    uint64_t left = layer->size_bytes - block * PETAL_BLOCK_BYTES;
    return left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES;
}

/* The state of checking the pieces, which builds the result block by block. */
struct check {
    const struct patch *patch;
    uint8_t *room; /* for one block */
    uint64_t id;   /* content id of the blocks checked so far */
};

/* Returns the bytes of one block of the result: in the base if the block is unchanged, otherwise in
 * check->room. Returns NULL if the codes are invalid. */
static const uint8_t *make_block(const struct check *check, struct piece_reader *reader,
                                 const uint8_t *before, uint64_t size_bytes)
{
    bool stays = petal_piece_passes(reader, before, size_bytes);
    if (stays && before) return before;
    if (before)
        memcpy(check->room, before, (size_t)size_bytes);
    else
        memset(check->room, 0, (size_t)size_bytes);
    if (!stays) petal_piece_apply(reader, check->room, size_bytes);
    return reader->is_impossible ? NULL : check->room;
}

/* Returns true unless this is the layer's last block and bits are set after the layer's last valid
 * bit. */
static bool has_clear_end(const struct layer_description *layer, uint64_t block,
                          const uint8_t *bytes)
{
    uint64_t at = block * PETAL_BLOCK_BYTES, size = bytes_of_block(layer, block);
    return at + size < layer->size_bytes || petal_end_is_clear(&layer->shape, at, bytes, size);
}

/* Checks one piece, which starts at the given block of the layer. */
static petal_status check_piece(struct check *check, const struct layer_description *layer,
                                const uint8_t *base, uint64_t at, uint64_t block,
                                const struct piece *piece, petal_error *error)
{
    struct piece_reader reader;
    petal_piece_begin(&reader, piece, check->patch->bytes + at + PETAL_PIECE_HEAD_BYTES);
    for (uint64_t end = block + piece->blocks; block < end; block++) {
        uint64_t size = bytes_of_block(layer, block);
        const uint8_t *bytes =
            make_block(check, &reader, base ? base + block * PETAL_BLOCK_BYTES : NULL, size);
        if (!bytes || !has_clear_end(layer, block, bytes))
            return damaged(error, at, "impossible codes");
        check->id = petal_content_add(check->id,
                                      petal_xxh3(bytes, (size_t)size, layer->first_block + block));
    }
    return petal_piece_is_complete(&reader) ? PETAL_OK : damaged(error, at, "impossible codes");
}

/* Advances *at from the offset of this layer's first piece to the offset of the next layer's. */
static petal_status check_layer(struct check *check, const petal_filter *base, uint32_t number,
                                uint64_t *at, petal_error *error)
{
    const struct layer_description *layer = &check->patch->image.about.layers[number];
    const struct layer *source = petal_patch_source(base, check->patch->shift, number);
    struct piece piece;
    for (uint64_t block = 0; block * PETAL_BLOCK_BYTES < layer->size_bytes; block += piece.blocks) {
        petal_status status = read_piece(check->patch, *at, number, block, &piece, error);
        if (status == PETAL_OK)
            status = check_piece(check, layer, source ? source->array.bytes : NULL, *at, block,
                                 &piece, error);
        if (status != PETAL_OK) return status;
        *at += PETAL_PIECE_HEAD_BYTES + (uint64_t)piece.code_bytes;
    }
    return PETAL_OK;
}

petal_status petal_patch_check(const struct patch *patch, const petal_filter *base,
                               const petal_filter *result, petal_error *error)
{
    const petal_allocator *allocator = &base->allocator;
    struct check check = {.patch = patch, .id = petal_content_start(result)};
    uint64_t at = patch->pieces_offset;
    petal_status status = PETAL_OK;
    check.room = petal_alloc(allocator, PETAL_BLOCK_BYTES);
    if (!check.room) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; status == PETAL_OK && i < result->layer_count; i++)
        status = check_layer(&check, base, i, &at, error);
    petal_release(allocator, check.room, PETAL_BLOCK_BYTES);
    if (status != PETAL_OK) return status;
    if (at != patch->size_bytes) return damaged(error, at, "bytes after the end");
    if (check.id == patch->image.content_id) return PETAL_OK;
    return damaged(error, patch->pieces_offset, "the result has another content id");
}

static void apply_piece(const struct bit_array *array, uint64_t block, const struct piece *piece,
                        const uint8_t *codes)
{
    struct piece_reader reader;
    petal_piece_begin(&reader, piece, codes);
    for (uint64_t end = block + piece->blocks; block < end; block++) {
        uint64_t at = block * PETAL_BLOCK_BYTES, left = array->size_bytes - at,
                 size = left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES;
        if (!petal_piece_passes(&reader, array->bytes + at, size))
            petal_piece_apply(&reader, array->bytes + at, size);
    }
}

void petal_patch_apply(const struct patch *patch, petal_filter *result)
{
    const uint8_t *at = patch->bytes + patch->pieces_offset;
    for (uint32_t i = 0; i < result->layer_count; i++) {
        const struct bit_array *array = &result->layers[i].array;
        struct piece piece;
        for (uint64_t block = 0; block < petal_block_count(array); block += piece.blocks) {
            load_piece(at, &piece);
            apply_piece(array, block, &piece, at + PETAL_PIECE_HEAD_BYTES);
            at += PETAL_PIECE_HEAD_BYTES + piece.code_bytes;
        }
    }
}

/* image.h - the petal file, version 1: bytes <-> description. Pure: no files, no allocation.
 *
 *     0        slot_bytes  2 * slot_bytes                         payload_offset     file_bytes
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *     | slot 0 | slot 1    | metadata  | origin  | sums  | zeros  | payload          |
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *
 * An update writes the whole inactive slot, sealed with its checksum. If both slots are sealed, the
 * one with the higher sequence number is active. If only one is sealed, an update was interrupted
 * and the other slot's contents are unknown, so the file is dirty. Each sum is the XXH3 of 64 KiB
 * of the payload, and the slot's content id covers the sums. docs/format.md is the specification,
 * with every field and a worked example. */
#ifndef PETAL_FORMAT_IMAGE_H
#define PETAL_FORMAT_IMAGE_H

#include "format/format.h"

#define PETAL_SLOTS ((uint64_t)2)
#define PETAL_SLOT_MIN_BYTES 512u
#define PETAL_SLOT_MAX_BYTES 4096u

/* What a slot says about the bits. In every state except CLEAN the sums may be stale. Each state
 * permits more changes than the previous one. */
enum image_state {
    IMAGE_CLEAN = 1,
    IMAGE_RISING = 2, /* keys are being added: every bit of the last clean state is still set */
    /* Keys are being removed from counters: counters of other keys are correct. */
    IMAGE_REMOVING = 3,
    IMAGE_FALLING = 4 /* cleared or intersected: nothing is guaranteed */
};

/* The values in a slot. */
struct image {
    struct description about;
    uint64_t slot_bytes;
    enum image_state state;
    bool torn; /* the other slot is not sealed, so `state` may be older than the bits */
    uint64_t sequence;
    uint32_t secret_id; /* 0 if the hash is not keyed; the same for secret_check */
    uint64_t secret_check;
    uint64_t content_id; /* 0 unless clean */
    uint64_t metadata_sum, origin_sum;
    uint64_t origin_offset, sums_offset, payload_offset, file_bytes;
};

/* Returns true if the sums match the bits in this state. */
static inline bool petal_image_is_clean(const struct image *image)
{
    return image->state == IMAGE_CLEAN && !image->torn;
}

/* Describes the file of a filter: a clean image, complete except for its content id. Returns
 * PETAL_ERR_LIMIT if it would be too large. */
petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error);

/* Writes the slots of a clean file, PETAL_SLOTS * image->slot_bytes, and sets image->content_id. It
 * reads every bit, unless the filter has a recorded content id. */
void petal_image_write_slots(const petal_filter *filter, struct image *image, uint8_t *slots);

/* Advances the image to the file's next state. Returns the slot to write, which is never the active
 * one. */
unsigned petal_image_next(struct image *image, enum image_state state);

/* Writes one slot, sealed with its checksum. */
void petal_image_write_slot(const struct image *image, unsigned number, uint8_t *slot);

/* Reads and checks everything except the payload: slots, metadata checksum, padding, and whether
 * the sizes match the bytes present. `head` has the slots. It is the first PETAL_HEAD_BYTES of the
 * file, or all of a shorter file; if the file can change in the meantime, it must be a copy. The
 * input is not trusted. On PETAL_OK every offset is within the bytes, and the caller must check the
 * state (petal_image_check_clean()). The description borrows the origin from `bytes`. */
#define PETAL_HEAD_BYTES (PETAL_SLOTS * PETAL_SLOT_MAX_BYTES)
petal_status petal_image_parse(const uint8_t *head, const uint8_t *bytes, uint64_t size_bytes,
                               struct image *image, petal_error *error);

/* The first step: reads only the slots. For a stream, `size_bytes` is the number of bytes received
 * so far. Above PETAL_HEAD_BYTES, more bytes change the result only if it is
 * PETAL_ERR_TRUNCATED. */
petal_status petal_image_parse_slots(const uint8_t *head, uint64_t size_bytes, struct image *image,
                                     petal_error *error);

/* The same for slot 0 alone, if `slot_bytes` bytes are present. `offset` is its position in the
 * file that contains it, which is not a petal file. */
petal_status petal_image_parse_alone(const uint8_t *slot, uint64_t slot_bytes, uint64_t offset,
                                     struct image *image, petal_error *error);

/* The further steps. The first one checks what is between slots and payload, if all file_bytes of
 * the image are present; the description borrows the origin. The second one returns the failure for
 * a layer that has bits set after it, or bits at its end that no key can set. */
petal_status petal_image_check_front(const uint8_t *bytes, struct image *image, petal_error *error);
petal_status petal_image_layer_end_damaged(const struct layer_description *layer,
                                           petal_error *error);

/* The same for slots, metadata and origin, whatever follows them. If they are incomplete, returns
 * PETAL_ERR_TRUNCATED, and the offset is the number of bytes needed. That number may grow again. */
petal_status petal_image_parse_header(const uint8_t *head, const uint8_t *bytes,
                                      uint64_t size_bytes, struct image *image, petal_error *error);

/* Returns PETAL_ERR_DIRTY unless the sums match the bits. */
petal_status petal_image_check_clean(const struct image *image, petal_error *error);

/* Returns PETAL_ERR_DAMAGED if the bits of a dirty file may lack keys of its last clean state. */
petal_status petal_image_check_recoverable(const struct image *image, petal_error *error);

/* Returns the recorded sum of a block. Blocks are numbered across all layers. */
uint64_t petal_image_sum(const struct image *image, const uint8_t *bytes, uint64_t number);

/* Checks the filter's bits, which are the payload of this image, against the sums, and the sums
 * against the content id. */
petal_status petal_image_verify(const petal_filter *filter, const struct image *image,
                                const uint8_t *bytes, petal_error *error);

/* Returns PETAL_ERR_DAMAGED with the number of the block. */
petal_status petal_image_block_damaged(const struct image *image, uint32_t layer, uint64_t block,
                                       petal_error *error);

#endif

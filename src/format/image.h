/* image.h - converts between a petal file of version 1 and a description. This code is pure: it
 * opens no files and allocates no memory.
 *
 *     0        slot_bytes  2 * slot_bytes                         payload_offset     file_bytes
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *     | slot 0 | slot 1    | metadata  | origin  | sums  | zeros  | payload          |
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *
 * An update writes the whole inactive slot, sealed with its checksum. If both slots are sealed, the
 * one with the higher sequence number is active. If only one is sealed, an update was interrupted
 * and the other slot's contents are unknown, so the file is dirty. Each sum is the XXH3 of a 64 KiB
 * block of the payload, and the slot's content id covers the sums. docs/format.md specifies every
 * field, and contains a worked example. */
#ifndef PETAL_FORMAT_IMAGE_H
#define PETAL_FORMAT_IMAGE_H

#include "format/format.h"

#define PETAL_SLOTS ((uint64_t)2)
#define PETAL_SLOT_MIN_BYTES 512u
#define PETAL_SLOT_MAX_BYTES 4096u

/* What a slot records about the state of the bits. In every state except IMAGE_CLEAN, the sums may
 * be stale. Each state permits more changes to the bits than the state before it. */
enum image_state {
    IMAGE_CLEAN = 1,
    IMAGE_RISING = 2, /* keys are being added; every bit of the last clean state is still set */
    /* Keys are being removed from a counting filter; the counters of all other keys are correct. */
    IMAGE_REMOVING = 3,
    IMAGE_FALLING = 4 /* the filter is being cleared or intersected; nothing is guaranteed */
};

/* The contents of a slot. */
struct image {
    struct description about;
    uint64_t slot_bytes;
    enum image_state state;
    bool torn; /* the other slot is not sealed, so `state` may be older than the bits */
    uint64_t sequence;
    uint32_t secret_id; /* secret_id and secret_check are 0 if the hash is not keyed */
    uint64_t secret_check;
    uint64_t content_id; /* 0 unless the file is clean */
    uint64_t metadata_sum, origin_sum;
    uint64_t origin_offset, sums_offset, payload_offset, file_bytes;
};

/* Returns true if the image's state guarantees that the sums match the bits. */
static inline bool petal_image_is_clean(const struct image *image)
{
    return image->state == IMAGE_CLEAN && !image->torn;
}

/* Describes the file in which the filter would be saved: a clean image, complete except for its
 * content id. Returns PETAL_ERR_LIMIT if the file would be too large. */
petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error);

/* Writes both slots of a clean file, which take PETAL_SLOTS * image->slot_bytes, and sets
 * image->content_id. Reads all bits to compute it, unless the filter has a recorded content id. */
void petal_image_write_slots(const petal_filter *filter, struct image *image, uint8_t *slots);

/* Advances the image to the file's next state. Returns the slot to write, which is never the active
 * one. */
unsigned petal_image_next(struct image *image, enum image_state state);

/* Writes one slot, sealed with its checksum. */
void petal_image_write_slot(const struct image *image, unsigned number, uint8_t *slot);

/* Reads and checks everything except the payload: slots, metadata checksum, padding, and whether
 * the sizes match the bytes present. `head` contains the slots: the first PETAL_HEAD_BYTES of the
 * file, or all of a shorter file. If the file can change during the call, `head` must be a copy.
 * The input is not trusted. On PETAL_OK, every offset is within the bytes, and the caller must
 * check the state (petal_image_check_clean()). The description borrows the origin from `bytes`. */
#define PETAL_HEAD_BYTES (PETAL_SLOTS * PETAL_SLOT_MAX_BYTES)
petal_status petal_image_parse(const uint8_t *head, const uint8_t *bytes, uint64_t size_bytes,
                               struct image *image, petal_error *error);

/* The first step of petal_image_parse(), which reads only the slots. For a stream, `size_bytes` is
 * the number of bytes received so far. After PETAL_HEAD_BYTES have been received, more bytes can
 * change the result only if it is PETAL_ERR_TRUNCATED. */
petal_status petal_image_parse_slots(const uint8_t *head, uint64_t size_bytes, struct image *image,
                                     petal_error *error);

/* Like petal_image_parse_slots(), but for slot 0 alone, in a file that is not a petal file.
 * `slot_bytes` is the size of the slot, all of which must be present, and `offset` is the slot's
 * position in the file. */
petal_status petal_image_parse_alone(const uint8_t *slot, uint64_t slot_bytes, uint64_t offset,
                                     struct image *image, petal_error *error);

/* The remaining steps of petal_image_parse(). The first function checks the bytes between the slots
 * and the payload, and requires all of the image's file_bytes. The description borrows the origin.
 * The second function returns the error for a layer with bits set after its last valid bit. */
petal_status petal_image_check_front(const uint8_t *bytes, struct image *image, petal_error *error);
petal_status petal_image_layer_end_damaged(const struct layer_description *layer,
                                           petal_error *error);

/* Like petal_image_parse(), but reads only the slots, the metadata and the origin, and ignores
 * whatever follows them. If they are incomplete, returns PETAL_ERR_TRUNCATED with the number of
 * bytes needed as the offset. A later call with more bytes may need still more. */
petal_status petal_image_parse_header(const uint8_t *head, const uint8_t *bytes,
                                      uint64_t size_bytes, struct image *image, petal_error *error);

/* Returns PETAL_ERR_DIRTY unless the image's state guarantees that the sums match the bits. */
petal_status petal_image_check_clean(const struct image *image, petal_error *error);

/* Returns PETAL_ERR_DAMAGED if a dirty file may have lost keys that its last clean state
 * contained. */
petal_status petal_image_check_recoverable(const struct image *image, petal_error *error);

/* Returns the recorded sum of a block. Blocks are numbered across all layers. */
uint64_t petal_image_sum(const struct image *image, const uint8_t *bytes, uint64_t number);

/* Compares the filter's bits, which are this image's payload, with the block sums. Also compares
 * the sums with the content id. */
petal_status petal_image_verify(const petal_filter *filter, const struct image *image,
                                const uint8_t *bytes, petal_error *error);

/* Returns PETAL_ERR_DAMAGED with a message that contains the block's number. */
petal_status petal_image_block_damaged(const struct image *image, uint32_t layer, uint64_t block,
                                       petal_error *error);

#endif

/* image.h - the petal file, version 1: bytes <-> description. Pure: no files, no allocation.
 *
 *     0        slot_bytes  2 * slot_bytes                         payload_offset     file_bytes
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *     | slot 0 | slot 1    | metadata  | origin  | sums  | zeros  | payload          |
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *
 * An update writes the slot that does not count, whole and sealed with its checksum; of two sealed
 * slots the one with the higher sequence number counts. If only one is sealed, an update was cut
 * short, and its contents are unknown: the file is then dirty. Sums are the XXH3 of each
 * 64 KiB of the payload; the slot's content id covers them. docs/format.md is the specification,
 * with every field and a worked example. */
#ifndef PETAL_FORMAT_IMAGE_H
#define PETAL_FORMAT_IMAGE_H

#include "format/format.h"

#define PETAL_SLOTS ((uint64_t)2)
#define PETAL_SLOT_MIN_BYTES 512u
#define PETAL_SLOT_MAX_BYTES 4096u

/* What a slot says of the bits. Beyond CLEAN the sums may be old; each state allows more than the
 * one before. */
enum image_state {
    IMAGE_CLEAN = 1,
    IMAGE_RISING = 2, /* keys are being added: every bit of the last clean state is still there */
    IMAGE_REMOVING =
        3, /* keys are being taken out of counters: those of other keys are still there */
    IMAGE_FALLING = 4 /* cleared or intersected: nothing is promised */
};

/* What a slot says. */
struct image {
    struct description about;
    uint64_t slot_bytes;
    enum image_state state;
    bool torn; /* the other slot is not sealed: `state` may be older than the bits */
    uint64_t sequence;
    uint32_t secret_id; /* 0 if the hash is not keyed; secret_check likewise */
    uint64_t secret_check;
    uint64_t content_id; /* 0 unless clean */
    uint64_t metadata_sum, origin_sum;
    uint64_t origin_offset, sums_offset, payload_offset, file_bytes;
};

/* Are the sums those of the bits? */
static inline bool petal_image_is_clean(const struct image *image)
{
    return image->state == IMAGE_CLEAN && !image->torn;
}

/* What the file of a filter says: a clean image, with all but its content id. PETAL_ERR_LIMIT if
 * it would be too big. */
petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error);

/* Writes the slots of a clean file, PETAL_SLOTS * image->slot_bytes, and sets image->content_id.
 * Reads every bit, unless the filter has its content id recorded. */
void petal_image_write_slots(const petal_filter *filter, struct image *image, uint8_t *slots);

/* Turns the image into the file's next state, and gives the number of the slot that it goes to: not
 * the one that counts. */
unsigned petal_image_next(struct image *image, enum image_state state);

/* Writes one slot, sealed with its checksum. */
void petal_image_write_slot(const struct image *image, unsigned number, uint8_t *slot);

/* Reads and checks everything but the payload: slots, metadata checksum, padding, sizes against the
 * bytes present. The slots are read from `head`, the first bytes of the file (PETAL_HEAD_BYTES of
 * them, or all there are): a copy, if the file can change meanwhile. Trusts nothing; on PETAL_OK
 * every offset lies inside the bytes, and the state is for the caller to judge
 * (petal_image_check_clean()). The description borrows the origin from `bytes`. */
#define PETAL_HEAD_BYTES (PETAL_SLOTS * PETAL_SLOT_MAX_BYTES)
petal_status petal_image_parse(const uint8_t *head, const uint8_t *bytes, uint64_t size_bytes,
                               struct image *image, petal_error *error);

/* The first step of that: the slots alone. Of a stream, `size_bytes` is what has come so far; what
 * it says no longer changes once PETAL_HEAD_BYTES are there, but PETAL_ERR_TRUNCATED. */
petal_status petal_image_parse_slots(const uint8_t *head, uint64_t size_bytes, struct image *image,
                                     petal_error *error);

/* The same for slot 0 on its own, that many bytes which are there, at this offset of something that
 * is no petal file. */
petal_status petal_image_parse_alone(const uint8_t *slot, uint64_t slot_bytes, uint64_t offset,
                                     struct image *image, petal_error *error);

/* And further ones: what lies between slots and payload, for an image whose file_bytes are all
 * there; the description borrows the origin. And what to say of a layer in whose last bytes, or
 * after them, bits are set. */
petal_status petal_image_check_front(const uint8_t *bytes, struct image *image, petal_error *error);
petal_status petal_image_layer_end_damaged(const struct layer_description *layer,
                                           petal_error *error);

/* The same for slots, metadata and origin, whatever comes after them. If they are not all there,
 * PETAL_ERR_TRUNCATED with the number of bytes that are needed as the offset; less than that may
 * turn out to be too few again. */
petal_status petal_image_parse_header(const uint8_t *head, const uint8_t *bytes,
                                      uint64_t size_bytes, struct image *image, petal_error *error);

/* PETAL_ERR_DIRTY unless the sums are those of the bits. */
petal_status petal_image_check_clean(const struct image *image, petal_error *error);

/* PETAL_ERR_DAMAGED if the bits of a dirty file may lack keys of its last clean state. */
petal_status petal_image_check_recoverable(const struct image *image, petal_error *error);

/* The recorded sum of a block, by its number through all layers. */
uint64_t petal_image_sum(const struct image *image, const uint8_t *bytes, uint64_t number);

/* Checks the filter's bits, which are this image's payload, against the sums, and the sums against
 * the content id. */
petal_status petal_image_verify(const petal_filter *filter, const struct image *image,
                                const uint8_t *bytes, petal_error *error);

/* PETAL_ERR_DAMAGED, naming the block. */
petal_status petal_image_block_damaged(const struct image *image, uint32_t layer, uint64_t block,
                                       petal_error *error);

#endif

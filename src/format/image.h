/* image.h - the petal file, version 1: bytes <-> description. Pure: no files, no allocation.
 *
 *     0        slot_bytes  2 * slot_bytes                         payload_offset     file_bytes
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *     | slot 0 | slot 1    | metadata  | origin  | sums  | zeros  | payload          |
 *     +--------+-----------+-----------+---------+-------+--------+------------------+
 *
 * A slot is one 512-byte sector (more only for more than five layers), so that a crash leaves it old or new; the valid slot
 * with the higher sequence number counts, and an update goes to the other one. Sums are the XXH3 of each 64 KiB of the
 * payload; the slot's content id covers them. docs/format.md is the specification, with every field and a worked example. */
#ifndef PETAL_FORMAT_IMAGE_H
#define PETAL_FORMAT_IMAGE_H

#include "format/format.h"

#define PETAL_SLOTS ((uint64_t)2)
#define PETAL_SLOT_LEAST_BYTES 512u
#define PETAL_SLOT_MOST_BYTES 4096u

/* What a slot says. */
struct image {
    struct description about;
    uint64_t slot_bytes;
    bool dirty;
    bool recovered; /* read with `recover` from a dirty file or beside a damaged slot: the sums may be old */
    uint64_t sequence;
    uint32_t secret_id; /* 0 where the hash is not keyed; secret_check likewise */
    uint64_t secret_check;
    uint64_t content_id; /* 0 while dirty */
    uint64_t metadata_sum;
    uint64_t sums_offset, payload_offset, file_bytes;
};

/* What the file of a filter says: a clean image, with all but its content id. PETAL_ERR_LIMIT where it would be too big. */
petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error);

/* Writes slots, metadata and sums of a clean file into `head`, image->payload_offset zeroed bytes, and sets
 * image->content_id. The payload is the bytes of the layers as they are, at their offsets. */
void petal_image_write_head(const petal_filter *filter, struct image *image, uint8_t *head);

/* Turns the image into the file's next state, and gives the number of the slot that it goes to: not the one that counts. */
unsigned petal_image_next(struct image *image, bool dirty);

/* Writes one slot, sealed with its checksum. */
void petal_image_write_slot(const struct image *image, unsigned number, uint8_t *slot);

/* Reads and checks everything but the payload: slots, metadata checksum, padding, sizes against the bytes present. `recover`:
 * accept a dirty file, and one damaged slot. Trusts nothing; on PETAL_OK every offset lies inside the bytes. */
petal_status petal_image_parse(const uint8_t *bytes, uint64_t size_bytes, bool recover, struct image *image,
                               petal_error *error);

/* Checks the filter's bits, which are this image's payload, against the sums, and the sums against the content id. */
petal_status petal_image_verify(const petal_filter *filter, const struct image *image, const uint8_t *bytes,
                                petal_error *error);

#endif

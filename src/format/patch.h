/* patch.h - the patch, version 1: what turns one filter into another. Pure, like the codecs of
 * files; docs/format.md ("Patches") is the specification.
 *
 *     0      64       64 + S
 *     +------+--------+----------+--------+--------+--------+---
 *     | head | slot 0 | metadata | origin | piece  | piece  | ...
 *     +------+--------+----------+--------+--------+--------+---
 *
 * The slot is that of the result's file: it says all that a header says. The pieces cover every
 * layer of the result, each from its first block to its last. */
#ifndef PETAL_FORMAT_PATCH_H
#define PETAL_FORMAT_PATCH_H

#include "format/image.h"

struct patch {
    struct image
        image; /* of the result: slot, metadata_offset and origin as they are in the patch */
    uint64_t base_id;
    uint32_t shift; /* layer i of the result was layer i + shift of the base */
    const uint8_t *bytes;
    uint64_t size_bytes, pieces_offset;
};

/* The layer of `base` that this layer of the result comes from; NULL: zeros. */
const struct layer *petal_patch_source(const petal_filter *base, uint32_t shift, uint32_t layer);

/* Writes the patch from `from` to `to`, of which the ids are known. Where a layer of `to` comes
 * from one of `from`, both have one shape. */
petal_status petal_patch_write(const petal_filter *from, uint64_t from_id, const petal_filter *to,
                               uint64_t to_id, uint32_t shift, const struct sink *sink,
                               petal_error *error);

/* Reads and checks all but the pieces. The description borrows metadata and origin. */
petal_status petal_patch_read(const uint8_t *bytes, uint64_t size_bytes, struct patch *patch,
                              petal_error *error);

/* PETAL_OK if the pieces turn the layers of `base`, whose id is that of the patch, into those of
 * `result`, a filter by the patch's description that has no bits: changes nothing. */
petal_status petal_patch_check(const struct patch *patch, const petal_filter *base,
                               const petal_filter *result, petal_error *error);

/* Turns the layers of `result`, which have the bits of the base or zeros, into what they are to be.
 * After petal_patch_check(), so it cannot fail. */
void petal_patch_apply(const struct patch *patch, petal_filter *result);

#endif

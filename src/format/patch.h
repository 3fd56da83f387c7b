/* patch.h - reads, writes and applies patches of version 1. A patch turns one filter into another.
 * This code opens no files. docs/format.md ("Patches") is the specification.
 *
 *     0      64       64 + S
 *     +------+--------+----------+--------+--------+--------+---
 *     | head | slot 0 | metadata | origin | piece  | piece  | ...
 *     +------+--------+----------+--------+--------+--------+---
 *
 * The slot is slot 0 of a new file that contains the result, so it describes the result completely.
 * The pieces cover every layer of the result from its first block to its last. */
#ifndef PETAL_FORMAT_PATCH_H
#define PETAL_FORMAT_PATCH_H

#include "format/image.h"

struct patch {
    struct image image; /* the result's image, except that slot, metadata_offset and origin refer to
                         * the patch */
    uint64_t base_id;
    uint32_t shift; /* layer i of the result is derived from layer i + shift of the base */
    const uint8_t *bytes;
    uint64_t size_bytes, pieces_offset;
};

/* Returns the layer of `base` from which this layer of the result is derived, or NULL if it is
 * derived from zeros. */
const struct layer *petal_patch_source(const petal_filter *base, uint32_t shift, uint32_t layer);

/* Writes the patch that turns `from` into `to`. `from_id` and `to_id` are the filters' content ids.
 * If a layer of `to` is derived from a layer of `from`, both must have the same shape. */
petal_status petal_patch_write(const petal_filter *from, uint64_t from_id, const petal_filter *to,
                               uint64_t to_id, uint32_t shift, const struct sink *sink,
                               petal_error *error);

/* Reads and checks everything except the pieces. The patch's description borrows the metadata and
 * the origin. */
petal_status petal_patch_read(const uint8_t *bytes, uint64_t size_bytes, struct patch *patch,
                              petal_error *error);

/* Returns PETAL_OK if the pieces can turn the layers of `base` into the layers of `result`. The
 * content id of `base` must equal the patch's base_id. `result` is a filter without bits, created
 * from the patch's description. Neither filter is changed. */
petal_status petal_patch_check(const struct patch *patch, const petal_filter *base,
                               const petal_filter *result, petal_error *error);

/* Applies the pieces to the layers of `result`, which must contain copies of the base's bits, or
 * zeros. This can't fail after petal_patch_check(). */
void petal_patch_apply(const struct patch *patch, petal_filter *result);

#endif

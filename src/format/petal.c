/* petal.c - the row for petal files in the table of formats. image.c parses petal files, and
 * src/store maps and changes them. */
#include "format/image.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"

#include <string.h>

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct image image;
    uint8_t head[PETAL_HEAD_BYTES]; /* a copy, since the file can change during the call */
    if (size_bytes)
        memcpy(head, bytes, size_bytes < sizeof head ? (size_t)size_bytes : sizeof head);
    petal_status status = petal_image_parse(head, bytes, size_bytes, &image, NULL);
    /* Even a damaged or newer petal file is recognized with certainty. */
    return status == PETAL_ERR_NOT_A_FILTER ? FIT_NO : FIT_CERTAIN;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    (void)self;
    struct image image;
    petal_status status = petal_image_parse(bytes, bytes, size_bytes, &image, error);
    if (status == PETAL_OK) status = petal_image_check_clean(&image, error);
    if (status == PETAL_OK) *about = image.about;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes a file sequentially in small pieces, so that memory use doesn't grow with the filter.
 * After the first failure, nothing more is written. */
struct writer {
    const struct sink *sink;
    uint64_t at;
    petal_status status;
    petal_error *error;
};

static void put(struct writer *to, const void *bytes, uint64_t size_bytes)
{
    if (to->status != PETAL_OK || size_bytes == 0) return;
    to->status = petal_put(to->sink, bytes, size_bytes, to->error);
    to->at += size_bytes;
}

/* Writes zeros up to `offset`, which must be less than PETAL_LINE_BYTES ahead. */
static void pad(struct writer *to, uint64_t offset)
{
    static const uint8_t zeros[PETAL_LINE_BYTES];
    if (to->status == PETAL_OK) put(to, zeros, offset - to->at);
}

#define SUMS_PER_PIECE 512u

/* Writes the sums. The sums have already been computed for the content id, which precedes them in
 * the file. Computing the sums twice costs less than storing them. */
static void put_sums(struct writer *to, const struct bit_array *array, uint64_t first_block)
{
    uint8_t sums[8 * SUMS_PER_PIECE];
    uint64_t blocks = petal_block_count(array);
    for (uint64_t block = 0, count = 0; block < blocks && to->status == PETAL_OK; block++) {
        store64le(sums + 8 * count++, petal_block_sum(array, block, first_block + block));
        if (count < SUMS_PER_PIECE && block + 1 < blocks) continue;
        put(to, sums, 8 * count);
        count = 0;
    }
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    struct image image;
    struct writer to = {.sink = sink, .error = error};
    uint8_t slots[PETAL_HEAD_BYTES];
    to.status = petal_image_of(filter, &image, error);
    if (to.status != PETAL_OK) return to.status;
    if (sink->only_counts) return petal_put(sink, NULL, image.file_bytes, error);
    petal_image_write_slots(filter, &image, slots);
    put(&to, slots, PETAL_SLOTS * image.slot_bytes);
    put(&to, filter->metadata, filter->metadata_bytes);
    pad(&to, image.origin_offset);
    put(&to, origin_bytes(&filter->origin), filter->origin.size_bytes);
    pad(&to, image.sums_offset);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        put_sums(&to, &filter->layers[i].array, image.about.layers[i].first_block);
    pad(&to, image.payload_offset);
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        bool is_last = i + 1 == filter->layer_count;
        put(&to, filter->layers[i].array.bytes, image.about.layers[i].size_bytes);
        pad(&to, is_last ? image.file_bytes : image.about.layers[i + 1].offset);
    }
    return to.status;
}

/* A petal file can store every filter. */
static petal_status expect(const struct format_def *self, const petal_filter *filter,
                           petal_error *error)
{
    (void)self, (void)filter, (void)error;
    return PETAL_OK;
}

const struct format_def petal_format_petal = {.id = PETAL_FORMAT_PETAL,
                                              .name = "petal",
                                              .has_checksum = true,
                                              .fits = fits,
                                              .read = read,
                                              .expect = expect,
                                              .write = write};

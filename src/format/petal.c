/* petal.c - the petal file as a row of the table of formats. Reading is image.c's; src/store maps and changes such files. */
#include "format/image.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct image image;
    uint8_t head[PETAL_HEAD_BYTES]; /* a copy: the file may be changed meanwhile */
    if (size_bytes) memcpy(head, bytes, size_bytes < sizeof head ? (size_t)size_bytes : sizeof head);
    petal_status status = petal_image_parse(head, bytes, size_bytes, &image, NULL);
    return status == PETAL_ERR_NOT_A_FILTER ? FIT_NO : FIT_CERTAIN; /* damaged or newer, it is one all the same */
}

static petal_status read(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    struct image image;
    petal_status status = petal_image_parse(bytes, bytes, size_bytes, &image, error);
    if (status == PETAL_OK) status = petal_image_check_clean(&image, error);
    if (status == PETAL_OK) *about = image.about;
    return status;
}

static petal_status write_layers(const petal_filter *filter, const struct image *image, const struct sink *sink,
                                 petal_error *error)
{
    static const uint8_t zeros[PETAL_LINE_BYTES];
    petal_status status = PETAL_OK;
    for (uint32_t i = 0; status == PETAL_OK && i < image->about.layer_count; i++) {
        uint64_t size = image->about.layers[i].size_bytes, rest = size % PETAL_LINE_BYTES;
        status = petal_put(sink, filter->layers[i].array.bytes, size, error);
        if (status == PETAL_OK && rest) status = petal_put(sink, zeros, PETAL_LINE_BYTES - rest, error);
    }
    return status;
}

static petal_status write(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    struct image image;
    petal_status status = petal_image_of(filter, &image, error);
    if (status != PETAL_OK) return status;
    if (sink->only_counts) return petal_put(sink, NULL, image.file_bytes, error);
    uint8_t *head = petal_alloc(&filter->allocator, image.payload_offset);
    if (!head) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_image_write_head(filter, &image, head);
    status = petal_put(sink, head, image.payload_offset, error);
    if (status == PETAL_OK) status = write_layers(filter, &image, sink, error);
    petal_release(&filter->allocator, head, image.payload_offset);
    return status;
}

const struct format_def petal_format_petal = {.id = 1, .name = "petal", .fits = fits, .read = read, .write = write};

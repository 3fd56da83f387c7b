/* save.c - filters to files and to memory, in any container. */
#include "base/error.h"
#include "format/format.h"
#include "io/io.h"

#include <string.h>

static const struct format_def *find(const char *format, petal_error *error)
{
    const struct format_def *def = petal_format_find(format);
    if (!def) (void)petal_fail(error, PETAL_ERR_ARGUMENT, "there is no format %s", format);
    return def;
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

petal_status petal_save_as(const petal_filter *filter, const char *path, const char *format, unsigned flags,
                           petal_error *error)
{
    struct replacement made;
    struct sink sink = {petal_io_put, &made};
    const struct format_def *def = find(format, error);
    if (!def) return PETAL_ERR_ARGUMENT;
    if (flags & ~PETAL_SAVE_NO_REPLACE) return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", flags);
    petal_status status = petal_io_begin(path, flags & PETAL_SAVE_NO_REPLACE, &made, error);
    if (status != PETAL_OK) return status;
    status = def->write(filter, &sink, error);
    petal_status finished = petal_io_finish(&made, status == PETAL_OK, status == PETAL_OK ? error : NULL);
    return status == PETAL_OK ? finished : status;
}

petal_status petal_save(const petal_filter *filter, const char *path, unsigned flags, petal_error *error)
{
    return petal_save_as(filter, path, "petal", flags, error);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* A buffer to fill; without bytes it only counts. */
struct buffer {
    uint8_t *bytes;
    uint64_t room, used;
};

static petal_status put(void *context, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    struct buffer *buffer = context;
    if (buffer->bytes) {
        if (size_bytes > buffer->room - buffer->used)
            return petal_fail(error, PETAL_ERR_ARGUMENT, "the buffer has %llu bytes, the image has more",
                              (unsigned long long)buffer->room);
        if (size_bytes) memcpy(buffer->bytes + buffer->used, bytes, (size_t)size_bytes);
    }
    buffer->used += size_bytes;
    return PETAL_OK;
}

uint64_t petal_serialized_bytes_as(const petal_filter *filter, const char *format)
{
    struct buffer counter = {NULL, 0, 0};
    struct sink sink = {put, &counter};
    const struct format_def *def = find(format, NULL);
    return def && def->write(filter, &sink, NULL) == PETAL_OK ? counter.used : 0;
}

petal_status petal_serialize_as(const petal_filter *filter, const char *format, void *bytes, size_t size_bytes,
                                petal_error *error)
{
    struct buffer buffer = {bytes, size_bytes, 0};
    struct sink sink = {put, &buffer};
    const struct format_def *def = find(format, error);
    if (!bytes) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no buffer");
    return def ? def->write(filter, &sink, error) : PETAL_ERR_ARGUMENT;
}

uint64_t petal_serialized_bytes(const petal_filter *filter)
{
    return petal_serialized_bytes_as(filter, "petal");
}

petal_status petal_serialize(const petal_filter *filter, void *bytes, size_t size_bytes, petal_error *error)
{
    return petal_serialize_as(filter, "petal", bytes, size_bytes, error);
}

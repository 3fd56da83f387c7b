/* save.c - filters to files and to memory, in any container. */
#include "base/error.h"
#include "store/backing.h"

#include <string.h>

static const struct format_def *find(const char *format, petal_error *error)
{
    const struct format_def *def = petal_format_find(format);
    if (!def) (void)petal_fail(error, PETAL_ERR_ARGUMENT, "there is no format %s", format);
    return def;
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

#define SAVE_FLAGS (PETAL_SAVE_NO_REPLACE | PETAL_SAVE_NO_LOCK | PETAL_SAVE_NEW_OWNER)

/* A writable map is its file: there is nothing to replace. Whoever maps a file for writing may change it, so the filter
 * is no constant one. */
static petal_status save_in_place(const petal_filter *filter, const struct format_def *def, unsigned flags,
                                  petal_error *error)
{
    if (flags & PETAL_SAVE_NO_REPLACE) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (def != &petal_format_petal)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "the filter is mapped from this file; save it as %s elsewhere",
                          def->name);
    return petal_sync((petal_filter *)(uintptr_t)filter, error);
}

/* The file that the filter has locked: loaded from or mapped. */
static struct file *locked_file(const petal_filter *filter)
{
    struct backing *backing = filter->backing;
    return backing && backing->writable ? &backing->file : filter->held;
}

static petal_status save(const petal_filter *filter, const char *path, const char *format, unsigned flags,
                         petal_error *error)
{
    struct replacement made;
    struct sink sink = {petal_io_put, &made, false};
    const struct format_def *def = find(format, error);
    if (!def) return PETAL_ERR_ARGUMENT;
    if (flags & ~SAVE_FLAGS) return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", flags);
    petal_status status = petal_backing_is_at(filter, path, error);
    if (status == PETAL_OK) return save_in_place(filter, def, flags, error);
    if (status == PETAL_ERR_REPLACED) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_io_begin(path, flags, locked_file(filter), &made, error);
    if (status != PETAL_OK) return status;
    status = def->write(filter, &sink, error);
    if (status == PETAL_OK) status = petal_backing_check_unchanged(filter, error);
    petal_status finished = petal_io_finish(&made, status == PETAL_OK, status == PETAL_OK ? error : NULL);
    return status == PETAL_OK ? finished : status;
}

petal_status petal_save_as(const petal_filter *filter, const char *path, const char *format, unsigned flags,
                           petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, save(filter, path, format, flags, error), error);
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
    struct sink sink = {put, &counter, true};
    const struct format_def *def = find(format, NULL);
    return def && def->write(filter, &sink, NULL) == PETAL_OK ? counter.used : 0;
}

petal_status petal_serialize_as(const petal_filter *filter, const char *format, void *bytes, size_t size_bytes,
                                petal_error *error)
{
    struct buffer buffer = {bytes, size_bytes, 0};
    struct sink sink = {put, &buffer, false};
    const struct format_def *def = find(format, error);
    if (!def) return PETAL_ERR_ARGUMENT;
    if (!bytes) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no buffer");
    petal_status status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = def->write(filter, &sink, error);
    return status == PETAL_OK ? petal_backing_check_unchanged(filter, error) : status;
}

uint64_t petal_serialized_bytes(const petal_filter *filter)
{
    return petal_serialized_bytes_as(filter, "petal");
}

petal_status petal_serialize(const petal_filter *filter, void *bytes, size_t size_bytes, petal_error *error)
{
    return petal_serialize_as(filter, "petal", bytes, size_bytes, error);
}

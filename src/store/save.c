/* save.c - saves filters to files and memory, in any format. */
#include "base/error.h"
#include "filter/permission.h"
#include "store/backing.h"
#include "store/write.h"

#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

/* Syncs a writable map that is saved to its own file, instead of replacing the file. The owner may
 * change such a map, so casting const away is safe. */
static petal_status save_in_place(const petal_filter *filter, const struct saving *saving,
                                  petal_error *error)
{
    if (saving->flags & PETAL_SAVE_NO_REPLACE) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (saving->format != &petal_format_petal)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the filter is mapped from this file; save it as %s elsewhere",
                          saving->format->name);
    return petal_sync((petal_filter *)(uintptr_t)filter, error);
}

/* Finds the file that the filter keeps locked, if it is the file to replace. This fails in a forked
 * child, because the process that locked the file may since have replaced it with a file that
 * contains newer keys. */
static petal_status find_held(const petal_filter *filter, const char *path, struct file **held,
                              petal_error *error)
{
    *held = petal_backing_file(filter);
    if (!*held || petal_os_is_owner(*held)) return PETAL_OK;
    bool is_target = strcmp((*held)->given, path) == 0 || strcmp((*held)->path, path) == 0 ||
                     petal_os_is_at(*held, path, NULL) == PETAL_OK;
    *held = NULL;
    if (!is_target) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_READ_ONLY,
        "the parent process keeps the file locked; open it here after the parent has closed it");
}

static petal_status save(const petal_filter *filter, const char *path,
                         const petal_save_options *options, petal_error *error)
{
    struct replacement made;
    struct sink sink = {petal_os_put, &made, false};
    struct saving saving;
    struct file *held;
    petal_status status = petal_saving_take(options, &saving, error);
    if (status != PETAL_OK) return status;
    status = petal_backing_is_at(filter, path, error);
    if (status == PETAL_OK) return save_in_place(filter, &saving, error);
    if (status == PETAL_ERR_REPLACED) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = find_held(filter, path, &held, error);
    if (status == PETAL_OK) status = petal_os_begin(path, saving.flags, held, &made, error);
    if (status != PETAL_OK) return status;
    status = petal_format_write(saving.format, filter, &sink, error);
    if (status == PETAL_OK) status = petal_filter_check_unchanged(filter, error);
    petal_status finished =
        petal_os_finish(&made, status == PETAL_OK, status == PETAL_OK ? error : NULL);
    return status == PETAL_OK ? finished : status;
}

petal_status petal_save(const petal_filter *filter, const char *path,
                        const petal_save_options *options, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, save(filter, path, options, error), error);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A buffer that is being filled. Without memory, it only counts the bytes. */
struct buffer {
    uint8_t *bytes;
    uint64_t room, used;
};

static petal_status put(void *context, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    struct buffer *buffer = context;
    if (buffer->bytes) {
        if (size_bytes > buffer->room - buffer->used)
            return petal_fail(error, PETAL_ERR_ARGUMENT,
                              "the buffer has %llu bytes, and the image needs more",
                              (unsigned long long)buffer->room);
        if (size_bytes) memcpy(buffer->bytes + buffer->used, bytes, (size_t)size_bytes);
    }
    buffer->used += size_bytes;
    return PETAL_OK;
}

uint64_t petal_serialized_bytes(const petal_filter *filter, const petal_save_options *options)
{
    struct buffer counter = {NULL, 0, 0};
    struct sink sink = {put, &counter, true};
    struct saving saving;
    return petal_saving_take(options, &saving, NULL) == PETAL_OK &&
                   petal_filter_check_present(filter, NULL) == PETAL_OK &&
                   petal_format_write(saving.format, filter, &sink, NULL) == PETAL_OK
               ? counter.used
               : 0;
}

petal_status petal_serialize(const petal_filter *filter, const petal_save_options *options,
                             void *bytes, uint64_t size_bytes, petal_error *error)
{
    struct buffer buffer = {bytes, size_bytes, 0};
    struct sink sink = {put, &buffer, false};
    if (!bytes) return petal_fail(error, PETAL_ERR_ARGUMENT, "the buffer is NULL");
    return petal_write_to(filter, options, &sink, error);
}

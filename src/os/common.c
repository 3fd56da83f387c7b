/* common.c - see common.h. */
#include "os/common.h"

#ifndef PETAL_OS_NONE

#include "base/error.h"

#include <string.h>

petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error)
{
    *file = PETAL_NO_FILE;
    for (int attempt = 0; attempt < PETAL_OS_ATTEMPTS; attempt++) {
        struct file opened = PETAL_NO_FILE;
        petal_status status = petal_os_open_once(path, access, &opened, error);
        if (status == PETAL_OK && access != ACCESS_READ)
            status = petal_os_is_at(&opened, path, error);
        if (status == PETAL_OK) {
            *file = opened;
            return PETAL_OK;
        }
        petal_os_close(&opened);
        if (status != PETAL_ERR_REPLACED) return status;
    }
    return petal_fail(error, PETAL_ERR_BUSY,
                      "other processes keep replacing it; try again when they have finished");
}

/* ---- replacing a file ------------------------------------------------------------------------ */

bool petal_os_is_temporary(const char *name)
{
    size_t prefix = strlen(PETAL_OS_TEMPORARY);
    return strncmp(name, PETAL_OS_TEMPORARY, prefix) == 0 && strlen(name) == prefix + 16 &&
           strspn(name + prefix, "0123456789abcdef") == 16;
}

/* Is this path, or what it resolves to, the one that the file was opened by? Then another file
 * there has taken its place: it was renamed, or a symbolic link points elsewhere now. */
static bool is_meant(const struct file *held, const char *path, const char *resolved)
{
    return strcmp(held->path, resolved) == 0 || strcmp(held->given, path) == 0;
}

petal_status petal_os_let_go(struct replacement *made, const char *path, const char *message,
                             petal_error *error)
{
    if (made->held && is_meant(made->held, path, made->old.path))
        return petal_fail(error, PETAL_ERR_REPLACED, "%s", message);
    made->held = NULL;
    return PETAL_OK;
}

/* What the caller held is closed with the rest. */
static void hand_over(struct replacement *made)
{
    struct file held = *made->held;
    made->held->path = made->old.path;
    made->held->descriptor = made->temporary.descriptor;
    made->held->is_locked = made->temporary.is_locked;
    made->old.path = held.path;
    made->temporary.descriptor = held.descriptor;
}

petal_status petal_os_drop(struct replacement *made, bool done, petal_status status)
{
    if (done && made->held) hand_over(made);
    petal_os_close(&made->temporary);
    petal_os_close(&made->old);
    return status;
}

/* Zeros are looked for in pieces of this many bytes, at multiples of it. */
#define PIECE 65536u

static bool all_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

petal_status petal_os_put(void *context, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    struct replacement *made = context;
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        uint64_t to_edge = PIECE - made->size_bytes % PIECE;
        size_t piece = (size_t)(size_bytes < to_edge ? size_bytes : to_edge);
        if (!all_zero(at, piece)) {
            petal_status status =
                petal_os_write(&made->temporary, made->size_bytes, at, piece, error);
            if (status != PETAL_OK) return status;
        }
        at += piece;
        size_bytes -= piece;
        made->size_bytes += piece;
    }
    return PETAL_OK;
}

#endif

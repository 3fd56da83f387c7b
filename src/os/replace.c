/* replace.c - replaces a file atomically.
 *
 *     lock the target -> temporary file, locked -> write -> flush -> rename
 *     -> flush the folder -> unlock
 *
 * The lock on the target is held across the rename, and the new file is locked from the moment it
 * is created. A process that then locks the old file finds another file at the path, and tries
 * again. If the target doesn't exist, the new file is renamed without replacing anything. If two
 * processes create the target at the same time, the second rename fails because the name exists. */
#include "os/common.h"

#ifndef PETAL_OS_NONE

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- temporary files --------------------------------------------------------------------------
 *
 * The names of temporary files have a common prefix and a random suffix, so leftover files can be
 * found. A temporary file is stale if nobody holds its lock, because its creator is then dead. */

#define TEMPORARY ".petal-tmp-"
#define TEMPORARY_DIGITS 16

static bool is_temporary(const char *name)
{
    size_t prefix = strlen(TEMPORARY);
    return strncmp(name, TEMPORARY, prefix) == 0 && strlen(name) == prefix + TEMPORARY_DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == TEMPORARY_DIGITS;
}

/* Returns a path in the target's folder, allocated with malloc(). */
static char *beside(const char *target, const char *name)
{
    int folder = petal_os_folder_length(target);
    size_t room = (size_t)folder + strlen(name) + 1;
    char *path = malloc(room);
    if (path) snprintf(path, room, "%.*s%s", folder, target, name);
    return path;
}

/* Removes a temporary file if its creator is dead. */
static void remove_if_stale(const char *target, const char *name)
{
    struct file file = PETAL_NO_FILE;
    char *path = is_temporary(name) ? beside(target, name) : NULL;
    if (path && petal_os_open(path, ACCESS_WRITE_ITSELF, &file, NULL) == PETAL_OK)
        petal_os_remove(path);
    petal_os_close(&file);
    free(path);
}

/* Locks the temporary file. On a file system without locks, no other process can mistake the file
 * for stale. Returns PETAL_ERR_REPLACED if another process mistook the file for stale before it was
 * locked, and has removed it or is about to remove it. */
static petal_status lock_temporary(struct file *temporary, petal_error *error)
{
    petal_status status = petal_os_lock(temporary, NULL);
    if (status == PETAL_ERR_BUSY) return PETAL_ERR_REPLACED;
    temporary->is_locked = status == PETAL_OK;
    return petal_os_is_at(temporary, temporary->path, error);
}

/* Makes one attempt at creating a temporary file. make_temporary() tries again after
 * PETAL_ERR_EXISTS and PETAL_ERR_REPLACED. */
static petal_status try_temporary(struct replacement *made, struct file *temporary, unsigned flags,
                                  petal_error *error)
{
    char name[sizeof TEMPORARY + TEMPORARY_DIGITS];
    unsigned long long number;
    if (!petal_os_random(&number, sizeof number))
        return petal_os_fail(error, "cannot make a random name");
    snprintf(name, sizeof name, TEMPORARY "%016llx", number);
    temporary->path = beside(made->old.path, name);
    if (!temporary->path) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    petal_status status =
        petal_os_create(temporary, made->exists ? made->old.path : NULL, flags, error);
    if (status != PETAL_OK) return status;
    status = lock_temporary(temporary, error);
    if (status != PETAL_OK)
        petal_os_remove(temporary->path); /* the name is random, so the file is ours */
    return status;
}

/* Creates a new file in the target's folder. */
static petal_status make_temporary(struct replacement *made, unsigned flags, petal_error *error)
{
    for (int attempt = 0; attempt < PETAL_OS_ATTEMPTS; attempt++) {
        petal_status status = try_temporary(made, &made->temporary, flags, error);
        if (status == PETAL_OK) return status;
        petal_os_close(&made->temporary);
        if (status != PETAL_ERR_EXISTS && status != PETAL_ERR_REPLACED) return status;
    }
    return petal_fail_errno(error, EEXIST, "cannot write a file in its folder");
}

/* ---- a file without a name ------------------------------------------------------------------- */

/* If the process is killed before it unlinks the file, the name remains, and the next replacement
 * in this folder removes it. */
static petal_status try_nameless(const char *folder, struct file *file, petal_error *error)
{
    size_t room = strlen(folder) + sizeof "/" TEMPORARY + TEMPORARY_DIGITS;
    unsigned long long number;
    if (!petal_os_random(&number, sizeof number))
        return petal_os_fail(error, "cannot make a random name");
    file->path = malloc(room);
    if (!file->path) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    snprintf(file->path, room, "%s/" TEMPORARY "%016llx", folder, number);
    petal_status status = petal_os_create(file, NULL, 0, error);
    if (status == PETAL_OK) petal_os_remove(file->path);
    return status;
}

petal_status petal_os_open_temporary(const char *folder, struct file *file, petal_error *error)
{
    petal_status status = PETAL_ERR_EXISTS;
    *file = PETAL_NO_FILE;
    if (petal_os_create_nameless(folder, file)) return PETAL_OK;
    for (int attempt = 0; attempt < PETAL_OS_ATTEMPTS && status == PETAL_ERR_EXISTS; attempt++) {
        petal_os_close(file);
        status = try_nameless(folder, file, error);
    }
    if (status != PETAL_OK) petal_os_close(file);
    return status == PETAL_ERR_EXISTS ? petal_fail_errno(error, EEXIST, "cannot create a file")
                                      : status;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Returns true if the file was opened by this path, or by a path that resolved to the same path.
 * The caller has found that the file is no longer there. So the file was replaced, renamed or
 * removed, or a symbolic link now points elsewhere. */
static bool is_meant(const struct file *held, const char *path, const char *resolved)
{
    return strcmp(held->path, resolved) == 0 || strcmp(held->given, path) == 0;
}

/* Stops using the caller's file, because it is not the target. The file stays locked. If it was the
 * target until it was replaced or removed, returns PETAL_ERR_REPLACED with the given message. */
static petal_status let_go(struct replacement *made, const char *path, const char *message,
                           petal_error *error)
{
    if (made->held && is_meant(made->held, path, made->old.path))
        return petal_fail(error, PETAL_ERR_REPLACED, "%s", message);
    made->held = NULL;
    return PETAL_OK;
}

petal_status petal_os_hold(const char *path, struct file *file, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    petal_status status = petal_os_open(path, ACCESS_WRITE, file, error);
    if (status == PETAL_ERR_IO && (error->system_errno == EACCES || error->system_errno == EPERM))
        return petal_fail_errno(error, error->system_errno,
                                "cannot lock it for writing; --no-lock goes without");
    return status;
}

/* Opens and locks the file that will be replaced. */
static petal_status take_old(const char *path, unsigned flags, struct replacement *made,
                             petal_error *error)
{
    petal_status at = made->held ? petal_os_is_at(made->held, path, error) : PETAL_ERR_REPLACED;
    bool held = at == PETAL_OK;
    if (made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (at == PETAL_ERR_IO) return at;
    if (held || (flags & PETAL_SAVE_NO_LOCK)) {
        made->old.path = petal_os_resolve(path);
        if (!held) made->held = NULL;
        return made->old.path ? PETAL_OK : petal_os_fail(error, "cannot follow its path");
    }
    petal_status status = petal_os_hold(path, &made->old, error);
    if (status != PETAL_OK) return status;
    return let_go(made, path, "was replaced by another file since it was read; read it again",
                  error);
}

static petal_status take_target(const char *path, unsigned flags, struct replacement *made,
                                petal_error *error)
{
    petal_status status = petal_os_look(path, &made->exists, error);
    if (status != PETAL_OK) return status;
    if (made->exists) return take_old(path, flags, made, error);
    made->old.path = petal_os_resolve_new(path);
    if (!made->old.path) return petal_os_fail(error, "cannot write a file in its folder");
    return let_go(made, path, "was removed since it was read; save under another name", error);
}

/* Makes the temporary file the caller's file. The caller's previous file is then closed instead of
 * the temporary file. */
static void hand_over(struct replacement *made)
{
    struct file held = *made->held;
    made->held->path = made->old.path;
    made->held->descriptor = made->temporary.descriptor;
    made->held->is_locked = made->temporary.is_locked;
    made->old.path = held.path;
    made->temporary.descriptor = held.descriptor;
}

/* Closes the target and the temporary file. If the caller's file is the target and `done` is true,
 * the new file stays open and locked, and becomes the caller's file. Returns `status`. */
static petal_status drop(struct replacement *made, bool done, petal_status status)
{
    if (done && made->held) hand_over(made);
    petal_os_close(&made->temporary);
    petal_os_close(&made->old);
    return status;
}

petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    *made = (struct replacement){.old = PETAL_NO_FILE,
                                 .temporary = PETAL_NO_FILE,
                                 .held = held,
                                 .no_replace = flags & PETAL_SAVE_NO_REPLACE};
    petal_status status = take_target(path, flags, made, error);
    if (status == PETAL_OK) {
        petal_os_visit_beside(made->old.path, TEMPORARY, remove_if_stale);
        status = make_temporary(made, flags, error);
    }
    return status == PETAL_OK ? status : drop(made, false, status);
}

/* ---- put ------------------------------------------------------------------------------------- */

/* The size of the pieces that become holes if they contain only zeros. Pieces start at multiples of
 * this size. */
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

/* ---- finish ---------------------------------------------------------------------------------- */

static petal_status publish(struct replacement *made, petal_error *error)
{
    petal_status status = petal_os_rename(made, error);
    if (status != PETAL_ERR_EXISTS) return status;
    if (made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    return petal_fail(error, PETAL_ERR_BUSY, "another process has just created it; try again");
}

petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error)
{
    petal_status status =
        keep ? petal_os_complete(&made->temporary, made->size_bytes, error) : PETAL_OK;
    if (keep && status == PETAL_OK) status = publish(made, error);
    if (!keep || status != PETAL_OK) {
        petal_os_remove(made->temporary.path);
        return drop(made, false, status);
    }
    return drop(made, true, petal_os_flush_folder(made->old.path, error));
}

#endif

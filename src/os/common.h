/* common.h - what the systems with files share, in common.c and replace.c, and what those need of
 * each. */
#ifndef PETAL_OS_COMMON_H
#define PETAL_OS_COMMON_H

#include "os/os.h"

/* PETAL_ERR_IO with the system's last error. */
petal_status petal_os_fail(petal_error *error, const char *what);

/* How often a file is opened anew that was replaced between opening and locking it. */
#define PETAL_OS_ATTEMPTS 100

/* One try of petal_os_open(): PETAL_ERR_REPLACED asks for another. The caller closes the file
 * if it fails. */
petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error);

/* ---- replacing a file -------------------------------------------------------------------------
 *
 * Where nothing else is said, false or NULL leave the reason to petal_os_fail(). */

/* The length of the part of a path that names the folder, with what ends it. */
int petal_os_folder_length(const char *path);

/* Is there a regular file at `path`, behind symbolic links? An error if there is what cannot be
 * replaced by one. */
petal_status petal_os_look(const char *path, bool *exists, petal_error *error);

/* The path without symbolic links, or as it is if the system cannot tell; and that of a file that
 * does not exist yet: its folder's and its name. Of malloc(). */
char *petal_os_resolve(const char *path);
char *petal_os_resolve_new(const char *path);

/* Calls visit() for the files in the target's folder whose names begin so; if there are millions,
 * for some of them. */
void petal_os_visit_beside(const char *target, const char *prefix,
                           void (*visit)(const char *target, const char *name));

bool petal_os_random(void *bytes, size_t size_bytes);

/* Makes a file at file->path and opens it. `like` is the file that it will replace, or NULL: the
 * new one gets its owner and mode, or permissions. If it cannot, no file stays; with
 * PETAL_SAVE_NEW_OWNER in `flags` only the mode counts. PETAL_ERR_EXISTS without a message if there
 * is such a file. */
petal_status petal_os_create(struct file *file, const char *like, unsigned flags,
                             petal_error *error);

/* Takes the lock of an open file, without waiting. */
petal_status petal_os_lock(const struct file *file, petal_error *error);

/* Gives the file its size, and waits until the disk has it. */
petal_status petal_os_complete(const struct file *file, uint64_t size_bytes, petal_error *error);

/* Renames made->temporary to made->old.path. PETAL_ERR_EXISTS without a message if a file is there
 * by now, where none was. */
petal_status petal_os_rename(struct replacement *made, petal_error *error);

/* Waits until the disk has the folder in which `path` is. */
petal_status petal_os_flush_folder(const char *path, petal_error *error);

void petal_os_remove(const char *path);

#endif

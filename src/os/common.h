/* common.h - functions that all systems with files share (common.c and replace.c), and functions
 * that these two files need from each system. */
#ifndef PETAL_OS_COMMON_H
#define PETAL_OS_COMMON_H

#include "os/os.h"

/* Fails with PETAL_ERR_IO and the system's last error. */
petal_status petal_os_fail(petal_error *error, const char *what);

/* How many times opening is tried if the file is replaced between opening and locking it. */
#define PETAL_OS_ATTEMPTS 100

/* Makes one attempt of petal_os_open(). PETAL_ERR_REPLACED means that the caller should try again.
 * If it fails, the caller closes the file. */
petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error);

/* ---- replacing a file -------------------------------------------------------------------------
 *
 * If a call returns false or NULL, petal_os_fail() reports the reason, unless stated otherwise. */

/* Returns the length of a path's folder, including the separator. */
int petal_os_folder_length(const char *path);

/* Finds out whether a regular file is at `path`, after following symbolic links. Anything else is
 * an error, because a file can't replace it. */
petal_status petal_os_look(const char *path, bool *exists, petal_error *error);

/* Returns the path without symbolic links, or unchanged if the system can't resolve it. For a file
 * that doesn't exist yet, that is its resolved folder plus its name. The result comes from
 * malloc(). */
char *petal_os_resolve(const char *path);
char *petal_os_resolve_new(const char *path);

/* Calls visit() for the files in the target's folder whose names start with the prefix. If there
 * are millions, it visits only some of them. */
void petal_os_visit_beside(const char *target, const char *prefix,
                           void (*visit)(const char *target, const char *name));

bool petal_os_random(void *bytes, size_t size_bytes);

/* Creates a file at file->path and opens it. `like` is NULL or the file that will be replaced. The
 * new file gets the owner and mode (on Windows, the permissions) of `like`. If that fails, the new
 * file is removed; with PETAL_SAVE_NEW_OWNER in `flags`, only the mode must match. If the file
 * exists, returns PETAL_ERR_EXISTS without a message. */
petal_status petal_os_create(struct file *file, const char *like, unsigned flags,
                             petal_error *error);

/* Opens a file that never has a name. If the system or the file system doesn't support that,
 * returns false without a reason. */
bool petal_os_create_nameless(const char *folder, struct file *file);

/* Locks an open file without waiting. */
petal_status petal_os_lock(const struct file *file, petal_error *error);

/* Sets the file's size and waits until everything is on disk. */
petal_status petal_os_complete(const struct file *file, uint64_t size_bytes, petal_error *error);

/* Renames made->temporary to made->old.path. If no such file existed before but one does now,
 * returns PETAL_ERR_EXISTS without a message. */
petal_status petal_os_rename(struct replacement *made, petal_error *error);

/* Waits until the changes to `path`'s folder are on disk. */
petal_status petal_os_flush_folder(const char *path, petal_error *error);

void petal_os_remove(const char *path);

#endif

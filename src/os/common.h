/* common.h - declares the functions that all systems with files share (common.c and replace.c), and
 * the functions that each system must implement for these two files. */
#ifndef PETAL_OS_COMMON_H
#define PETAL_OS_COMMON_H

#include "os/os.h"

/* Returns PETAL_ERR_IO with a message about the system's last error. */
petal_status petal_os_fail(petal_error *error, const char *what);

/* The maximum number of attempts to open a file, if the file is replaced each time before it is
 * locked. */
#define PETAL_OS_ATTEMPTS 100

/* Makes one attempt at petal_os_open(). PETAL_ERR_REPLACED means that the caller should try again.
 * After any failure, the caller closes the file. */
petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error);

/* ---- replacing a file -------------------------------------------------------------------------
 *
 * If a function returns false or NULL, petal_os_fail() reports the reason, unless stated
 * otherwise. */

/* Returns the length of the folder part of a path, including the separator. */
int petal_os_folder_length(const char *path);

/* Sets *exists to true if `path` is a regular file, after following symbolic links. If `path` is
 * anything else that exists, returns an error, because a file can't replace it. */
petal_status petal_os_look(const char *path, bool *exists, petal_error *error);

/* Returns the path with all symbolic links resolved, or unchanged if the system can't resolve it.
 * For a file that doesn't exist yet, petal_os_resolve_new() returns the resolved folder plus the
 * file's name. The caller must free() the result. */
char *petal_os_resolve(const char *path);
char *petal_os_resolve_new(const char *path);

/* Calls visit() for each file in the target's folder that has a name with this prefix. Looks only
 * at the first 4096 entries of the folder. */
void petal_os_visit_beside(const char *target, const char *prefix,
                           void (*visit)(const char *target, const char *name));

bool petal_os_random(void *bytes, size_t size_bytes);

/* Creates a file at file->path and opens it. `like` is NULL or the file that will be replaced. The
 * owner and mode (on Windows, the permissions) of `like` are copied to the new file. If copying
 * fails, the new file is removed. With PETAL_SAVE_NEW_OWNER in `flags`, only the mode must match.
 * If the file already exists, returns PETAL_ERR_EXISTS without a message. */
petal_status petal_os_create(struct file *file, const char *like, unsigned flags,
                             petal_error *error);

/* Creates and opens a file without a name. If the system or the file system doesn't support such
 * files, returns false without reporting a reason. */
bool petal_os_create_nameless(const char *folder, struct file *file);

/* Locks an open file without waiting. */
petal_status petal_os_lock(const struct file *file, petal_error *error);

/* Sets the file's size, and waits until the whole file is on disk. */
petal_status petal_os_complete(const struct file *file, uint64_t size_bytes, petal_error *error);

/* Renames made->temporary to made->old.path. If a file now exists at this path but didn't exist
 * before, returns PETAL_ERR_EXISTS without a message. */
petal_status petal_os_rename(struct replacement *made, petal_error *error);

/* Waits until the changes to `path`'s folder are on disk. */
petal_status petal_os_flush_folder(const char *path, petal_error *error);

void petal_os_remove(const char *path);

#endif

/* common.h - what the systems with files share: os.h's functions that are the same on all of them,
 * and what those need of each. */
#ifndef PETAL_OS_COMMON_H
#define PETAL_OS_COMMON_H

#include "os/os.h"

/* How often a file is opened anew that was replaced between opening and locking it. */
#define PETAL_OS_ATTEMPTS 100

/* One try of petal_os_open(): PETAL_ERR_REPLACED asks for another. The caller closes the file
 * if it fails. */
petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error);

/* ---- replacing a file -------------------------------------------------------------------------
 *
 * Temporary files have random names that begin with the same letters, so that those of processes
 * that died can be found: their maker's lock is gone. */

#define PETAL_OS_TEMPORARY ".petal-tmp-" /* and 16 hexadecimal digits */
#define PETAL_OS_MAX_ENTRIES 4096        /* looked at, of a folder: it may hold millions */
bool petal_os_is_temporary(const char *name);

/* Lets go of the caller's file, since the target is another one; its lock stays as it is.
 * PETAL_ERR_REPLACED, with this message, if it was the target until something took its place. */
petal_status petal_os_let_go(struct replacement *made, const char *path, const char *message,
                             petal_error *error);

/* Closes both files. The new one stays open if the caller's is the target and `done` is true: its
 * lock is from then on that of the new file. Returns `status`. */
petal_status petal_os_drop(struct replacement *made, bool done, petal_status status);

#endif

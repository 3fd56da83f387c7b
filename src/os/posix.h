/* posix.h - what posix.c and posix_replace.c share. */
#ifndef PETAL_OS_POSIX_H
#define PETAL_OS_POSIX_H

#include "os/common.h"

/* Takes the lock of an open file, without waiting. */
petal_status petal_posix_lock(int descriptor, petal_error *error);

/* A path without symbolic links, of malloc(); NULL: errno. */
char *petal_posix_resolve(const char *path);

/* Is the open file the one at `path`? PETAL_ERR_REPLACED: no, or there is none; without a message,
 * which is the caller's. PETAL_ERR_IO: it cannot be looked at. */
petal_status petal_posix_compare(int descriptor, const char *path, petal_error *error);

/* fsync(), as far down as the system goes. */
int petal_posix_flush(int descriptor);

/* PETAL_OK for a regular file. */
petal_status petal_posix_check_kind(int descriptor, petal_error *error);

#endif

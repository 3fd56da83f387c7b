/* windows.h - what windows.c and windows_replace.c share. */
#ifndef PETAL_OS_WINDOWS_H
#define PETAL_OS_WINDOWS_H

#include "os/common.h"

#define WIN32_LEAN_AND_MEAN
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0a00 /* Windows 10 */
#undef NTDDI_VERSION
#define NTDDI_VERSION 0x0a000006
#include <windows.h>

/* PETAL_ERR_IO with the errno that stands for GetLastError(). */
petal_status petal_windows_fail(petal_error *error, const char *what);

/* A path of UTF-8 as Windows takes it, of any length; NULL: GetLastError(). free() it. And back. */
wchar_t *petal_windows_wide(const char *path);
char *petal_windows_utf8(const wchar_t *path);

/* Opens a file so that others may read, change, rename and remove it meanwhile, as on POSIX. NULL:
 * GetLastError(). */
HANDLE petal_windows_open(const wchar_t *path, DWORD access, DWORD how,
                          SECURITY_ATTRIBUTES *security);

HANDLE petal_windows_handle(const struct file *file);

/* Puts the handle into the file, which closes it from then on, even if this fails. */
bool petal_windows_keep(HANDLE handle, struct file *file);

/* Takes the lock, without waiting. */
petal_status petal_windows_lock(HANDLE handle, petal_error *error);

/* The path of an open file without symbolic links, or as it was given if the system cannot tell, of
 * malloc(). */
char *petal_windows_resolve(HANDLE handle, const char *given);

/* PETAL_OK for a regular file. */
petal_status petal_windows_check_kind(HANDLE handle, petal_error *error);

#endif

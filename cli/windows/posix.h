/* posix.h - the parts of POSIX that the tool uses, for Windows. It is included before every file of
 * the tool (-include), and its folder is searched before the system's headers. So the tool is
 * written once, for POSIX.
 *
 * Paths are UTF-8, like arguments; files are binary. Features that Windows lacks are left out if
 * nothing depends on them: file modes, SIGPIPE and the like. */
#ifndef PETAL_CLI_WINDOWS_POSIX_H
#define PETAL_CLI_WINDOWS_POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- files ----------------------------------------------------------------------------------- */

#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0

#ifndef S_ISLNK
#define S_ISLNK(mode) 0
#endif

/* Windows' own struct has no room for a file's number. */
struct windows_stat {
    uint64_t st_dev, st_ino;
    unsigned st_mode;
    int64_t st_size;
};

int windows_open(const char *path, int flags, ...);
FILE *windows_fopen(const char *path, const char *mode);
FILE *windows_tmpfile(void);
int windows_stat(const char *path, struct windows_stat *about);
int windows_fstat(int descriptor, struct windows_stat *about);
int windows_access(const char *path, int mode);
int windows_unlink(const char *path);
int windows_rename(const char *from, const char *to); /* replaces, as on POSIX */
char *realpath(const char *path, char *resolved);
ssize_t pread(int descriptor, void *bytes, size_t size_bytes, off_t offset);

#define open windows_open
#define fopen windows_fopen
#define tmpfile windows_tmpfile
#define stat windows_stat
#define lstat windows_stat
#define fstat windows_fstat
#define access windows_access
#define unlink windows_unlink
#define rename windows_rename
#define fchmod(descriptor, mode) 0
#define fsync _commit

/* Descriptors are never closed when a program starts. */
#define F_GETFD 1
#define fcntl(descriptor, command) 0

/* posix_memalign() is used only to get huge pages, which are not supported on Windows. */
#define posix_memalign(memory, alignment, size_bytes) \
    ((*(memory) = malloc(size_bytes)) ? 0 : ENOMEM)

/* ---- processes ------------------------------------------------------------------------------- */

#define SIGHUP 1
#define SIGPIPE 13
#define SIGXFSZ 25
#define signal(number, action) ((void)0)
#define raise(number) ((void)0)

#define _SC_PAGESIZE 1
#define _SC_PHYS_PAGES 2
#define _SC_NPROCESSORS_ONLN 3
long sysconf(int name);

int windows_isatty(int descriptor);
#define isatty windows_isatty

/* start.c defines main(), which gets the arguments as UTF-8. */
#define main petal_tool
int petal_tool(int argc, char **argv);

#endif

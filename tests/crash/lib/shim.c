/* shim.c - an LD_PRELOAD library that makes the nth call of a kind fail or wait in an unmodified
 * program.
 *
 * The environment variable PETAL_SHIM names the file that contains the struct shim_control
 * (shim.h). The shim works only with glibc, since it calls glibc's memory functions by their
 * internal names. */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The dynamic linker finds the functions below by name, so no header declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"

static struct shim_control *control; /* NULL if the shim is inactive */

/* A program that preloads the shim into itself calls this to control it. */
struct shim_control *petal_shim_control(void)
{
    return control;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PETAL_SHIM");
    int descriptor = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    void *page = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE,
                                 MAP_SHARED, descriptor, 0L);
    syscall(SYS_close, descriptor);
    if (page != MAP_FAILED) control = page;
}

static void wait_here(void)
{
    atomic_store(&control->paused, 1);
    while (!atomic_load(&control->resume)) usleep(100);
}

/* Counts a call. If the call must fail, sets errno and returns true. */
static bool is_to_fail(enum shim_call call)
{
    if (!control) return false;
    uint32_t number = atomic_fetch_add(&control->seen[call], 1) + 1;
    if (control->call != call || control->action == SHIM_COUNT) return false;
    if (control->action == SHIM_FAIL_ON ? number < control->nth : number != control->nth)
        return false;
    atomic_fetch_add(&control->hit, 1);
    if (control->action == SHIM_PAUSE) {
        wait_here();
        return false;
    }
    errno = control->error;
    return control->action != SHIM_SHORT;
}

/* Returns true if this write must be short. Must be called after is_to_fail(). */
static bool is_to_be_short(uint32_t hits_before)
{
    return control && control->action == SHIM_SHORT && atomic_load(&control->hit) != hits_before;
}

static uint32_t hits(void)
{
    return control ? atomic_load(&control->hit) : 0;
}

static int published(int result)
{
    if (control && result == 0) atomic_fetch_add(&control->published, 1);
    return result;
}

/* Declares `next` as a pointer to the C library's function with this name. */
#define NEXT(name) \
    static __typeof__(&(name)) next; \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

/* Defines a function that either fails or calls the original function. */
#define PASS_ON(type, name, call, failure, parameters, arguments) \
    type name parameters \
    { \
        NEXT(name); \
        return is_to_fail(call) ? (failure) : next arguments; \
    }

/* Like PASS_ON, for functions such as open() that take another argument if `flags` includes O_CREAT
 * or O_TMPFILE. */
#define PASS_ON_OPEN(name, parameters, ...) \
    int name parameters \
    { \
        va_list rest; \
        NEXT(name); \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return is_to_fail(SHIM_OPEN) ? -1 : next(__VA_ARGS__, flags, mode); \
    }

PASS_ON_OPEN(open, (const char *path, int flags, ...), path)
PASS_ON_OPEN(open64, (const char *path, int flags, ...), path)
PASS_ON_OPEN(openat, (int at, const char *path, int flags, ...), at, path)
PASS_ON_OPEN(openat64, (int at, const char *path, int flags, ...), at, path)

PASS_ON(ssize_t, read, SHIM_READ, -1, (int file, void *bytes, size_t size), (file, bytes, size))
PASS_ON(ssize_t, pread, SHIM_READ, -1, (int file, void *bytes, size_t size, off_t at),
        (file, bytes, size, at))
PASS_ON(ssize_t, pread64, SHIM_READ, -1, (int file, void *bytes, size_t size, off64_t at),
        (file, bytes, size, at))

ssize_t write(int file, const void *bytes, size_t size)
{
    uint32_t before = hits();
    NEXT(write);
    if (file != STDERR_FILENO && is_to_fail(SHIM_WRITE)) return -1;
    return next(file, bytes, is_to_be_short(before) ? (size + 1) / 2 : size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    uint32_t before = hits();
    NEXT(pwrite);
    return is_to_fail(SHIM_WRITE)
               ? -1
               : next(file, bytes, is_to_be_short(before) ? (size + 1) / 2 : size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at)
{
    uint32_t before = hits();
    NEXT(pwrite64);
    return is_to_fail(SHIM_WRITE)
               ? -1
               : next(file, bytes, is_to_be_short(before) ? (size + 1) / 2 : size, at);
}

PASS_ON(int, fsync, SHIM_FSYNC, -1, (int file), (file))
PASS_ON(int, fdatasync, SHIM_FSYNC, -1, (int file), (file))
PASS_ON(int, msync, SHIM_MSYNC, -1, (void *from, size_t size, int flags), (from, size, flags))
PASS_ON(void *, mmap, SHIM_MMAP, MAP_FAILED,
        (void *where, size_t size, int protection, int flags, int file, off_t at),
        (where, size, protection, flags, file, at))
PASS_ON(void *, mmap64, SHIM_MMAP, MAP_FAILED,
        (void *where, size_t size, int protection, int flags, int file, off64_t at),
        (where, size, protection, flags, file, at))
PASS_ON(int, ftruncate, SHIM_TRUNCATE, -1, (int file, off_t size), (file, size))
PASS_ON(int, ftruncate64, SHIM_TRUNCATE, -1, (int file, off64_t size), (file, size))
PASS_ON(int, fallocate, SHIM_ALLOCATE, -1, (int file, int mode, off_t at, off_t size),
        (file, mode, at, size))
PASS_ON(int, fallocate64, SHIM_ALLOCATE, -1, (int file, int mode, off64_t at, off64_t size),
        (file, mode, at, size))
PASS_ON(int, posix_fallocate, SHIM_ALLOCATE, errno, (int file, off_t at, off_t size),
        (file, at, size))
PASS_ON(int, posix_fallocate64, SHIM_ALLOCATE, errno, (int file, off64_t at, off64_t size),
        (file, at, size))

int close(int file)
{
    NEXT(close);
    bool fails = is_to_fail(SHIM_CLOSE);
    int error = errno, result = next(file);
    if (!fails) return result;
    errno = error;
    return -1;
}

#define PASS_ON_PUBLISH(name, call, parameters, arguments) \
    int name parameters \
    { \
        NEXT(name); \
        return is_to_fail(call) ? -1 : published(next arguments); \
    }

PASS_ON_PUBLISH(rename, SHIM_RENAME, (const char *from, const char *to), (from, to))
PASS_ON_PUBLISH(renameat, SHIM_RENAME, (int in, const char *from, int at, const char *to),
                (in, from, at, to))
PASS_ON_PUBLISH(renameat2, SHIM_RENAME,
                (int in, const char *from, int at, const char *to, unsigned flags),
                (in, from, at, to, flags))
PASS_ON_PUBLISH(link, SHIM_LINK, (const char *from, const char *to), (from, to))
PASS_ON_PUBLISH(linkat, SHIM_LINK, (int in, const char *from, int at, const char *to, int flags),
                (in, from, at, to, flags))

PASS_ON(int, unlink, SHIM_UNLINK, -1, (const char *path), (path))
PASS_ON(int, unlinkat, SHIM_UNLINK, -1, (int at, const char *path, int flags), (at, path, flags))
PASS_ON(int, flock, SHIM_LOCK, -1, (int file, int operation), (file, operation))
PASS_ON(int, fchmod, SHIM_MODE, -1, (int file, mode_t mode), (file, mode))
PASS_ON(int, fchown, SHIM_MODE, -1, (int file, uid_t user, gid_t group), (file, user, group))
PASS_ON(int, stat, SHIM_STAT, -1, (const char *path, struct stat *about), (path, about))
PASS_ON(int, stat64, SHIM_STAT, -1, (const char *path, struct stat64 *about), (path, about))
PASS_ON(int, lstat, SHIM_STAT, -1, (const char *path, struct stat *about), (path, about))
PASS_ON(int, lstat64, SHIM_STAT, -1, (const char *path, struct stat64 *about), (path, about))
PASS_ON(int, fstat, SHIM_STAT, -1, (int file, struct stat *about), (file, about))
PASS_ON(int, fstat64, SHIM_STAT, -1, (int file, struct stat64 *about), (file, about))
PASS_ON(ssize_t, getrandom, SHIM_RANDOM, -1, (void *bytes, size_t size, unsigned flags),
        (bytes, size, flags))
PASS_ON(int, getentropy, SHIM_RANDOM, -1, (void *bytes, size_t size), (bytes, size))

static bool is_about_locks(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK ||
           command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

#define PASS_ON_FCNTL(name) \
    int name(int file, int command, ...) \
    { \
        va_list rest; \
        NEXT(name); \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        return is_about_locks(command) && is_to_fail(SHIM_LOCK) ? -1 \
                                                                : next(file, command, argument); \
    }

PASS_ON_FCNTL(fcntl)
PASS_ON_FCNTL(fcntl64)

/* ---- memory: by glibc's own names, since dlsym() allocates ----------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static void *counted(void *memory)
{
    if (control && memory) atomic_fetch_add(&control->live, 1);
    return memory;
}

void *malloc(size_t size)
{
    return is_to_fail(SHIM_MALLOC) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return is_to_fail(SHIM_MALLOC) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (is_to_fail(SHIM_MALLOC)) return NULL;
    void *moved = __libc_realloc(memory, size);
    return memory ? moved : counted(moved);
}

void free(void *memory)
{
    if (control && memory) atomic_fetch_sub(&control->live, 1);
    __libc_free(memory);
}

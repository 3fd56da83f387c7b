/* posix.c - os.h on POSIX systems: memory, files and their locks, maps. Replacing is in
 * posix_replace.c. */
#define _GNU_SOURCE /* F_OFD_SETLK, SEEK_DATA, madvise */
#define _FILE_OFFSET_BITS 64

#include "os/os.h"

#if !defined(PETAL_OS_NONE) && !defined(_WIN32)

#include "base/error.h"
#include "os/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* From here on an array gets pages of its own: two huge pages, so that the rounding up is at most
 * half. */
#define OWN_PAGES_BYTES ((size_t)4 << 20)

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    (void)context;
    if (size_bytes < OWN_PAGES_BYTES) return calloc(1, size_bytes);
    void *pages =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(pages, size_bytes,
            MADV_HUGEPAGE); /* a wish: without it the filter is slower, not wrong */
#endif
    return pages;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    if (size_bytes < OWN_PAGES_BYTES)
        free(memory);
    else
        munmap(memory, size_bytes);
}

const petal_allocator petal_os_allocator = {alloc_zeroed, release, NULL};

/* ---- locks ----------------------------------------------------------------------------------- */

/* Locks of the open file, not of the process: closing another descriptor of the same file does not
 * end them. */
#ifdef F_OFD_SETLK
static int take_lock(int descriptor)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &whole);
}

static void drop_lock(int descriptor)
{
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(descriptor, F_OFD_SETLK, &whole);
}

bool petal_os_is_locked_elsewhere(const struct file *file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file->descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}
#else
/* Also of the open file. On network file systems macOS has them on its own machine only: processes
 * of two machines do not see each other's. */
static int take_lock(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB);
}

static void drop_lock(int descriptor)
{
    (void)flock(descriptor, LOCK_UN);
}

/* Without a way to look, a reader has to take the lock for a moment: a writer who comes just then
 * is turned away. */
bool petal_os_is_locked_elsewhere(const struct file *file)
{
    if (flock(file->descriptor, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    flock(file->descriptor, LOCK_UN);
    return false;
}
#endif

petal_status petal_posix_lock(int descriptor, petal_error *error)
{
    int failure = 0;
    do failure = take_lock(descriptor) == 0 ? 0 : errno;
    while (failure == EINTR);
    if (failure == 0) return PETAL_OK;
    if (failure == EAGAIN || failure == EACCES || failure == EWOULDBLOCK)
        return petal_fail(error, PETAL_ERR_BUSY,
                          "another process is changing it; try again when it has finished");
    if (failure == EINVAL || failure == ENOLCK || failure == ENOSYS || failure == EOPNOTSUPP)
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "the file system has no locks; if nobody else changes the file, pass --no-lock");
    return petal_fail_errno(error, failure, "cannot lock it");
}

/* ---- forks ----------------------------------------------------------------------------------- */

#if defined(MADV_WIPEONFORK)
static int wipe_on_fork(void *page, size_t size)
{
    return madvise(page, size, MADV_WIPEONFORK);
}
#elif defined(INHERIT_ZERO)
static int wipe_on_fork(void *page, size_t size)
{
    return minherit(page, size, INHERIT_ZERO);
}
#else
static int wipe_on_fork(void *page, size_t size)
{
    (void)page, (void)size;
    return -1;
}
#endif

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void petal_os_own(struct file *file)
{
    uint8_t *page =
        mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (wipe_on_fork(page, page_bytes()) != 0) {
        munmap(page, page_bytes());
        return;
    }
    *page = 1;
    file->mark = page;
}

bool petal_os_is_owner(const struct file *file)
{
    return file->mark ? *file->mark : file->process == getpid();
}

/* ---- files ----------------------------------------------------------------------------------- */

char *petal_posix_resolve(const char *path)
{
    char *real = realpath(path, NULL);
    /* The folders above the current one may be closed to this process, or too deep; then the path
     * has to do as it is. */
    return real || (errno != EACCES && errno != ENAMETOOLONG) ? real : strdup(path);
}

petal_status petal_posix_compare(int descriptor, const char *path, petal_error *error)
{
    struct stat opened, named;
    bool is_named = stat(path, &named) == 0;
    if (!is_named && (errno == ENOENT || errno == ENOTDIR)) return PETAL_ERR_REPLACED;
    if (!is_named || fstat(descriptor, &opened) != 0)
        return petal_fail_errno(error, errno, "cannot look at it");
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? PETAL_OK
                                                                          : PETAL_ERR_REPLACED;
}

petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error)
{
    return petal_posix_compare(file->descriptor, path, error);
}

petal_status petal_posix_check_kind(int descriptor, petal_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) return petal_fail_errno(error, errno, "cannot look at it");
    if (S_ISDIR(about.st_mode)) return petal_fail_errno(error, EISDIR, "cannot open it");
    if (!S_ISREG(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "not a regular file; a filter cannot be mapped from it");
    return PETAL_OK;
}

petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error)
{
    /* O_NONBLOCK: a fifo must be refused, not waited for. It means nothing for regular files. */
    file->descriptor =
        open(path, (access == ACCESS_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0) return petal_fail_errno(error, errno, "cannot open it");
    petal_status status = petal_posix_check_kind(file->descriptor, error);
    if (status == PETAL_OK && access == ACCESS_WRITE)
        status = petal_posix_lock(file->descriptor, error);
    if (status != PETAL_OK) return status;
    file->is_locked = access == ACCESS_WRITE;
    file->process = getpid();
    file->path =
        access == ACCESS_READ ? strdup(path) : petal_posix_resolve(path); /* readers need none */
    file->given = strdup(path);
    if (!file->path || !file->given)
        return petal_fail_errno(error, errno, "cannot follow its path");
    return PETAL_OK;
}

void petal_os_close(struct file *file)
{
    if (file->is_locked && petal_os_is_owner(file)) drop_lock(file->descriptor);
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->mark) munmap((void *)(uintptr_t)file->mark, page_bytes());
    free(file->path);
    free(file->given);
    *file = PETAL_NO_FILE;
}

petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error)
{
    *got = 0;
    while (*got < size_bytes) {
        ssize_t more = pread(file->descriptor, (uint8_t *)bytes + *got, (size_t)(size_bytes - *got),
                             (off_t)(offset + *got));
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return petal_fail_errno(error, errno, "cannot read it");
        if (more == 0) break;
        *got += (uint64_t)more;
    }
    return PETAL_OK;
}

petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error)
{
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        ssize_t written = pwrite(file->descriptor, at, (size_t)size_bytes, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return petal_fail_errno(error, written < 0 ? errno : EIO, "cannot write");
        at += written;
        size_bytes -= (uint64_t)written;
        offset += (uint64_t)written;
    }
    return PETAL_OK;
}

void petal_os_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

int petal_posix_flush(int descriptor)
{
#ifdef F_FULLFSYNC
    /* fsync() of macOS ends at the drive's cache. File systems that cannot do more fail here. */
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(descriptor);
}

/* ---- mapping --------------------------------------------------------------------------------- */

petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error)
{
    struct stat about;
    *size_bytes = 0;
    if (fstat(file->descriptor, &about) != 0)
        return petal_fail_errno(error, errno, "cannot look at it");
    if (max_bytes && (uint64_t)about.st_size > max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, more than the limit of %llu",
                          (unsigned long long)about.st_size, (unsigned long long)max_bytes);
    *size_bytes = (uint64_t)about.st_size;
    return PETAL_OK;
}

#ifndef __APPLE__
/* File systems without allocation (EOPNOTSUPP, EINVAL) are taken as they are: there a full disk can
 * still end the process with SIGBUS. */
static petal_status allocate_holes(int descriptor, uint64_t size_bytes, petal_error *error)
{
    int failure;
    do failure = posix_fallocate(descriptor, 0, (off_t)size_bytes);
    while (failure == EINTR);
    if (failure && failure != EOPNOTSUPP && failure != EINVAL)
        return petal_fail_errno(error, failure, "cannot allocate its holes");
    return PETAL_OK;
}
#else
/* macOS allocates only behind the end of a file, so holes stay: a full disk can end the process. */
static petal_status allocate_holes(int descriptor, uint64_t size_bytes, petal_error *error)
{
    (void)descriptor, (void)size_bytes, (void)error;
    return PETAL_OK;
}
#endif

#if defined(__linux__) && defined(SEEK_DATA)
#define TMPFS 0x01021994

/* Would reading the holes through a map allocate them, and so fail by a signal? */
static bool has_costly_holes(int descriptor, uint64_t size_bytes)
{
    struct statfs system;
    struct stat about;
    return fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS &&
           fstat(descriptor, &about) == 0 && (uint64_t)about.st_blocks * 512 < size_bytes;
}

/* Reads what is not a hole into zeroed memory. */
static petal_status read_data(const struct file *file, uint8_t *bytes, uint64_t size_bytes,
                              petal_error *error)
{
    petal_status status = PETAL_OK;
    uint64_t at = 0, got;
    while (status == PETAL_OK && at < size_bytes) {
        off_t data = lseek(file->descriptor, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break; /* only a hole is left */
        off_t end = data < 0 ? -1 : lseek(file->descriptor, data, SEEK_HOLE);
        if (end < 0) return petal_fail_errno(error, errno, "cannot read it");
        if ((uint64_t)end > size_bytes) end = (off_t)size_bytes;
        status =
            petal_os_read(file, (uint64_t)data, bytes + data, (uint64_t)(end - data), &got, error);
        at = (uint64_t)end;
    }
    return status;
}
#else
static bool has_costly_holes(int descriptor, uint64_t size_bytes)
{
    (void)descriptor, (void)size_bytes;
    return false;
}

static petal_status read_data(const struct file *file, uint8_t *bytes, uint64_t size_bytes,
                              petal_error *error)
{
    uint64_t got;
    return petal_os_read(file, 0, bytes, size_bytes, &got, error);
}
#endif

static petal_status copy_file(const struct file *file, struct mapping *map, petal_error *error)
{
    void *bytes = mmap(NULL, (size_t)map->size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return petal_fail_errno(error, errno, "cannot map it");
    petal_status status = read_data(file, bytes, map->size_bytes, error);
    map->bytes = bytes;
    map->is_copy = true;
    if (status != PETAL_OK) petal_os_unmap(map);
    return status;
}

petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error)
{
    *map = (struct mapping){NULL, 0, false};
    petal_status status = petal_os_size(file, max_bytes, &map->size_bytes, error);
    if (status != PETAL_OK || map->size_bytes == 0) return status;
    if (map->size_bytes > SIZE_MAX / 2)
        return petal_fail(error, PETAL_ERR_LIMIT, "too big for the address space of this machine");
    if (writable) status = allocate_holes(file->descriptor, map->size_bytes, error);
    if (status != PETAL_OK) return status;
    if (!writable && has_costly_holes(file->descriptor, map->size_bytes))
        return copy_file(file, map, error);
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *bytes = mmap(NULL, (size_t)map->size_bytes, protection, MAP_SHARED, file->descriptor, 0);
    if (bytes == MAP_FAILED) return petal_fail_errno(error, errno, "cannot map it");
    map->bytes = bytes;
    return PETAL_OK;
}

void petal_os_unmap(struct mapping *map)
{
    if (map->bytes) munmap(map->bytes, (size_t)map->size_bytes);
    *map = (struct mapping){NULL, 0, false};
}

/* On macOS it ends at the drive's cache: what is saved anew by petal_save() goes further. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error)
{
    (void)file;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = offset - offset % page;
    if (msync(map->bytes + from, (size_t)(offset + size_bytes - from), MS_SYNC) == 0)
        return PETAL_OK;
    return petal_fail_errno(error, errno, "cannot write it to disk");
}

void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (uint64_t at = offset; at < offset + size_bytes; at += page - at % page) {
        volatile uint8_t *byte = map->bytes + at;
        *byte = *byte;
    }
}

#endif

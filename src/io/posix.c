/* posix.c - io.h on POSIX systems. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE /* flock, madvise */
#define _FILE_OFFSET_BITS 64

#include "io/io.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* From here on an array gets pages of its own: two huge pages, so that the rounding up is at most half. */
#define OWN_PAGES_BYTES ((size_t)4 << 20)

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    (void)context;
    if (size_bytes < OWN_PAGES_BYTES) return calloc(1, size_bytes);
    void *pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(pages, size_bytes, MADV_HUGEPAGE); /* a wish: without it the filter is slower, not wrong */
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

const petal_allocator petal_io_allocator = {alloc_zeroed, release, NULL};

/* ---- mapping --------------------------------------------------------------------------------------------------------- */

static petal_status check_kind(int descriptor, uint64_t max_bytes, uint64_t *size_bytes, petal_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) return petal_fail_errno(error, errno, "cannot look at it");
    if (S_ISDIR(about.st_mode)) return petal_fail_errno(error, EISDIR, "cannot open it");
    if (!S_ISREG(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "not a regular file; a filter cannot be mapped from it");
    if (max_bytes && (uint64_t)about.st_size > max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, more than the limit of %llu",
                          (unsigned long long)about.st_size, (unsigned long long)max_bytes);
    if ((uint64_t)about.st_size > SIZE_MAX / 2)
        return petal_fail(error, PETAL_ERR_LIMIT, "too big for the address space of this machine");
    *size_bytes = (uint64_t)about.st_size;
    return PETAL_OK;
}

/* Locks out other writers and allocates the holes. File systems without allocation (EOPNOTSUPP, EINVAL) are taken as they
 * are: there a full disk can still end the process with SIGBUS. */
static petal_status prepare_writing(int descriptor, uint64_t size_bytes, petal_error *error)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return petal_fail(error, PETAL_ERR_BUSY, "another process has it open for writing; wait for it");
        return petal_fail_errno(error, errno, "cannot lock it");
    }
    int failure = size_bytes ? posix_fallocate(descriptor, 0, (off_t)size_bytes) : 0;
    if (failure && failure != EOPNOTSUPP && failure != EINVAL)
        return petal_fail_errno(error, failure, "cannot allocate its holes");
    return PETAL_OK;
}

static petal_status map_descriptor(int descriptor, bool writable, uint64_t max_bytes, struct mapping *map,
                                   petal_error *error)
{
    petal_status status = check_kind(descriptor, max_bytes, &map->size_bytes, error);
    if (status == PETAL_OK && writable) status = prepare_writing(descriptor, map->size_bytes, error);
    if (status != PETAL_OK || map->size_bytes == 0) return status;
    void *bytes =
        mmap(NULL, (size_t)map->size_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED) return petal_fail_errno(error, errno, "cannot map it");
    map->bytes = bytes;
    return PETAL_OK;
}

petal_status petal_io_map(const char *path, bool writable, uint64_t max_bytes, struct mapping *map, petal_error *error)
{
    /* O_NONBLOCK: a fifo must be refused, not waited for. It means nothing for regular files. */
    *map = (struct mapping){NULL, 0, open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)};
    if (map->descriptor < 0) return petal_fail_errno(error, errno, "cannot open it");
    petal_status status = map_descriptor(map->descriptor, writable, max_bytes, map, error);
    if (status != PETAL_OK) petal_io_unmap(map);
    return status;
}

void petal_io_unmap(struct mapping *map)
{
    if (map->bytes) munmap(map->bytes, (size_t)map->size_bytes);
    if (map->descriptor >= 0) close(map->descriptor); /* releases the lock */
    *map = (struct mapping){NULL, 0, -1};
}

petal_status petal_io_sync(const struct mapping *map, uint64_t offset, uint64_t size_bytes, petal_error *error)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = offset - offset % page;
    if (msync(map->bytes + from, (size_t)(offset + size_bytes - from), MS_SYNC) == 0) return PETAL_OK;
    return petal_fail_errno(error, errno, "cannot write it to disk");
}

/* ---- replacing ------------------------------------------------------------------------------------------------------- */

/* Zeros are looked for in pieces of this many bytes, at multiples of it. */
#define PIECE 65536u

static bool all_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static petal_status write_all(int descriptor, const uint8_t *bytes, size_t size, uint64_t offset, petal_error *error)
{
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return petal_fail_errno(error, errno, "cannot write");
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return PETAL_OK;
}

petal_status petal_io_put(void *context, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    struct replacement *made = context;
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        uint64_t to_edge = PIECE - made->size_bytes % PIECE;
        size_t piece = (size_t)(size_bytes < to_edge ? size_bytes : to_edge);
        if (!all_zero(at, piece)) {
            petal_status status = write_all(made->descriptor, at, piece, made->size_bytes, error);
            if (status != PETAL_OK) return status;
        }
        at += piece;
        size_bytes -= piece;
        made->size_bytes += piece;
    }
    return PETAL_OK;
}

/* Opens a new file beside the target; its name goes into made->temporary. */
static petal_status make_temporary(struct replacement *made, petal_error *error)
{
    static atomic_uint serial; /* names only: two threads may save at once */
    size_t room = strlen(made->target) + 64;
    made->temporary = malloc(room);
    if (!made->temporary) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned number = atomic_fetch_add(&serial, 1);
        snprintf(made->temporary, room, "%s.tmp-%ld-%u", made->target, (long)getpid(), number);
        made->descriptor = open(made->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made->descriptor >= 0) return PETAL_OK;
        if (errno != EEXIST) break;
    }
    return petal_fail_errno(error, errno, "cannot write a file in its folder");
}

static petal_status sync_folder(const char *path, petal_error *error)
{
    char folder[PATH_MAX]; /* a longer one could not have been opened */
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return PETAL_OK; /* a folder that cannot be read cannot be synced: the rename is done all the same */
    int failure = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    if (failure && failure != EINVAL) return petal_fail_errno(error, failure, "cannot write its folder to disk");
    return PETAL_OK;
}

/* Gives the finished temporary its name. link() refuses to replace, at once; file systems without links get a check first. */
static petal_status publish(const char *temporary, const char *target, bool no_replace, petal_error *error)
{
    if (no_replace && link(temporary, target) == 0) {
        unlink(temporary);
        return PETAL_OK;
    }
    if (no_replace && (errno == EEXIST || access(target, F_OK) == 0))
        return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (rename(temporary, target) != 0) return petal_fail_errno(error, errno, "cannot rename the new file");
    return PETAL_OK;
}

/* What `path` names: the file behind symbolic links, so that a link stays one; and the mode to keep. */
static petal_status resolve(const char *path, struct replacement *made, petal_error *error)
{
    struct stat about;
    bool exists = stat(path, &about) == 0; /* if not, a new file; if its folder is missing, opening says so */
    if (exists && S_ISDIR(about.st_mode)) return petal_fail_errno(error, EISDIR, "cannot write it");
    if (exists && !S_ISREG(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "not a regular file; it cannot be replaced at once");
    if (exists && made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    made->mode = exists ? about.st_mode & 07777 : 0;
    made->target = exists ? realpath(path, NULL) : strdup(path);
    if (!made->target) return petal_fail_errno(error, errno, "cannot follow its path");
    return PETAL_OK;
}

static petal_status drop(struct replacement *made, petal_status status)
{
    free(made->target);
    free(made->temporary);
    return status;
}

petal_status petal_io_begin(const char *path, bool no_replace, struct replacement *made, petal_error *error)
{
    *made = (struct replacement){.descriptor = -1, .no_replace = no_replace};
    petal_status status = resolve(path, made, error);
    if (status == PETAL_OK) status = make_temporary(made, error);
    return status == PETAL_OK ? status : drop(made, status);
}

static petal_status make_durable(const struct replacement *made, petal_error *error)
{
    if (ftruncate(made->descriptor, (off_t)made->size_bytes) != 0)
        return petal_fail_errno(error, errno, "cannot write");
    if (made->mode && fchmod(made->descriptor, made->mode) != 0)
        return petal_fail_errno(error, errno, "cannot keep its mode");
    if (fsync(made->descriptor) != 0) return petal_fail_errno(error, errno, "cannot write it to disk");
    return PETAL_OK;
}

petal_status petal_io_finish(struct replacement *made, bool keep, petal_error *error)
{
    petal_status status = keep ? make_durable(made, error) : PETAL_OK;
    if (close(made->descriptor) != 0 && keep && status == PETAL_OK)
        status = petal_fail_errno(error, errno, "cannot write");
    if (keep && status == PETAL_OK) status = publish(made->temporary, made->target, made->no_replace, error);
    if (keep && status == PETAL_OK)
        status = sync_folder(made->target, error);
    else
        unlink(made->temporary);
    return drop(made, status);
}

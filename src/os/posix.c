/* posix.c - implements os.h for POSIX systems: memory, files, locks, mappings, and the functions
 * that replace.c needs. */
#define _GNU_SOURCE /* declares F_OFD_SETLK, SEEK_DATA, madvise, renameat2 and getentropy */
#define _FILE_OFFSET_BITS 64

#include "os/common.h"

#if !defined(PETAL_OS_NONE) && !defined(_WIN32)

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

petal_status petal_os_fail(petal_error *error, const char *what)
{
    return petal_fail_errno(error, errno, what);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Arrays of at least this size are allocated in their own pages. This is the size of two huge
 * pages, so rounding up wastes at most half. */
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
            MADV_HUGEPAGE); /* a hint; if the system ignores it, the filter is only slower */
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

/* The lock belongs to the open file instead of the process, so closing another descriptor of the
 * same file doesn't release the lock. */
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
/* This lock also belongs to the open file. On network file systems, macOS keeps such locks locally,
 * so processes on two machines don't see each other's locks. */
static int take_lock(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB);
}

static void drop_lock(int descriptor)
{
    (void)flock(descriptor, LOCK_UN);
}

/* No system call tests such a lock, so a reader must hold the lock briefly. A writer that tries to
 * lock the file at that moment fails. */
bool petal_os_is_locked_elsewhere(const struct file *file)
{
    if (flock(file->descriptor, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    flock(file->descriptor, LOCK_UN);
    return false;
}
#endif

petal_status petal_os_lock(const struct file *file, petal_error *error)
{
    int failure = 0;
    do failure = take_lock(file->descriptor) == 0 ? 0 : errno;
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

char *petal_os_resolve(const char *path)
{
    char *real = realpath(path, NULL);
    /* If a parent folder is unreadable or the path is too long, the path is used unchanged. */
    return real || (errno != EACCES && errno != ENAMETOOLONG) ? real : strdup(path);
}

petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error)
{
    struct stat opened, named;
    bool is_named = stat(path, &named) == 0;
    if (!is_named && (errno == ENOENT || errno == ENOTDIR)) return PETAL_ERR_REPLACED;
    if (!is_named || fstat(file->descriptor, &opened) != 0)
        return petal_fail_errno(error, errno, "cannot stat it");
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? PETAL_OK
                                                                          : PETAL_ERR_REPLACED;
}

static petal_status check_kind(int descriptor, petal_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) return petal_fail_errno(error, errno, "cannot stat it");
    if (S_ISDIR(about.st_mode)) return petal_fail_errno(error, EISDIR, "cannot open it");
    if (!S_ISREG(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "not a regular file; a filter cannot be mapped from it");
    return PETAL_OK;
}

petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error)
{
    /* O_NONBLOCK makes it possible to refuse a FIFO without waiting for a writer. The flag has no
     * effect on regular files. */
    int flags = (access == ACCESS_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK |
                (access == ACCESS_WRITE_ITSELF ? O_NOFOLLOW : 0);
    bool locks = access == ACCESS_WRITE || access == ACCESS_WRITE_ITSELF;
    file->descriptor = open(path, flags);
    if (file->descriptor < 0) return petal_fail_errno(error, errno, "cannot open it");
    petal_status status = check_kind(file->descriptor, error);
    if (status == PETAL_OK && locks) status = petal_os_lock(file, error);
    if (status != PETAL_OK) return status;
    file->is_locked = locks;
    file->process = getpid();
    /* Only writers need the resolved path. */
    file->path = access == ACCESS_READ ? strdup(path) : petal_os_resolve(path);
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

/* ---- mapping --------------------------------------------------------------------------------- */

petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error)
{
    struct stat about;
    *size_bytes = 0;
    if (fstat(file->descriptor, &about) != 0)
        return petal_fail_errno(error, errno, "cannot stat it");
    if (max_bytes && (uint64_t)about.st_size > max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, more than the limit of %llu",
                          (unsigned long long)about.st_size, (unsigned long long)max_bytes);
    *size_bytes = (uint64_t)about.st_size;
    return PETAL_OK;
}

#ifndef __APPLE__
/* If the file system can't allocate space in advance (EOPNOTSUPP, EINVAL), the holes stay. A full
 * disk can then kill the process with SIGBUS. */
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
/* macOS can allocate space only after the end of a file. So the holes stay, and a full disk can
 * kill the process later. */
static petal_status allocate_holes(int descriptor, uint64_t size_bytes, petal_error *error)
{
    (void)descriptor, (void)size_bytes, (void)error;
    return PETAL_OK;
}
#endif

#if defined(__linux__) && defined(SEEK_DATA)
#define TMPFS 0x01021994

/* Returns true if reading holes through a map allocates them, which could raise a signal. */
static bool has_costly_holes(int descriptor, uint64_t size_bytes)
{
    struct statfs system;
    struct stat about;
    return fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS &&
           fstat(descriptor, &about) == 0 && (uint64_t)about.st_blocks * 512 < size_bytes;
}

/* Reads everything except holes into zeroed memory. */
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
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "too large for the address space of this machine");
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

void petal_os_will_read(const struct mapping *map)
{
#ifdef MADV_HUGEPAGE
    /* This is only a hint. */
    if (map->bytes) madvise(map->bytes, (size_t)map->size_bytes, MADV_HUGEPAGE);
#else
    (void)map;
#endif
}

/* On macOS, this call flushes only to the drive's cache. petal_save() also flushes the drive's
 * cache. */
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

/* ---- replacing ------------------------------------------------------------------------------- */

int petal_os_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

/* Copies the folder part of a path to `folder`, for opendir() and similar calls. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    int length = petal_os_folder_length(path);
    return snprintf(folder, PATH_MAX, "%.*s", length ? length : 1, length ? path : ".") < PATH_MAX;
}

petal_status petal_os_look(const char *path, bool *exists, petal_error *error)
{
    struct stat about;
    *exists = stat(path, &about) == 0;
    if (*exists && S_ISDIR(about.st_mode))
        return petal_fail_errno(error, EISDIR, "cannot write it");
    if (*exists && !S_ISREG(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "not a regular file; it cannot be replaced atomically");
    if (*exists) return PETAL_OK;
    if (errno != ENOENT) return petal_fail_errno(error, errno, "cannot write it");
    if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a symbolic link that leads nowhere; remove it first");
    return PETAL_OK;
}

char *petal_os_resolve_new(const char *path)
{
    char folder[PATH_MAX], *real, *joined = NULL;
    const char *name = path + petal_os_folder_length(path);
    if (!folder_of(path, folder) || !(real = petal_os_resolve(folder))) return NULL;
    size_t room = strlen(real) + strlen(name) + 2;
    joined = malloc(room);
    if (joined) snprintf(joined, room, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    return joined;
}

#define MAX_ENTRIES 4096

void petal_os_visit_beside(const char *target, const char *prefix,
                           void (*visit)(const char *target, const char *name))
{
    char path[PATH_MAX];
    DIR *folder = folder_of(target, path) ? opendir(path) : NULL;
    const struct dirent *entry;
    for (int i = 0; folder && i < MAX_ENTRIES && (entry = readdir(folder)) != NULL; i++)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) visit(target, entry->d_name);
    if (folder) closedir(folder);
}

bool petal_os_random(void *bytes, size_t size_bytes)
{
    return getentropy(bytes, size_bytes) == 0;
}

/* Changes the owner before the mode, because changing the owner may clear bits of the mode.
 * Set-user-id and set-group-id bits are dropped, because they were granted to the old file, not to
 * the replacement. */
static petal_status keep_owner_and_mode(int descriptor, const char *like, unsigned flags,
                                        petal_error *error)
{
    struct stat old, new;
    if (stat(like, &old) != 0) return petal_fail_errno(error, errno, "cannot stat it");
    if (fstat(descriptor, &new) != 0)
        return petal_fail_errno(error, errno, "cannot stat the new file");
    bool differs = new.st_uid != old.st_uid || new.st_gid != old.st_gid;
    if (differs && fchown(descriptor, old.st_uid, old.st_gid) != 0 &&
        !(flags & PETAL_SAVE_NEW_OWNER))
        return petal_fail_errno(error, errno, "cannot keep its owner; --force gives it to you");
    if (fchmod(descriptor, old.st_mode & 0777) != 0)
        return petal_fail_errno(error, errno, "cannot keep its mode");
    return PETAL_OK;
}

/* If the new file replaces another file, only its owner can access it until it has the other file's
 * mode. */
petal_status petal_os_create(struct file *file, const char *like, unsigned flags,
                             petal_error *error)
{
    int how = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    do file->descriptor = open(file->path, how, like ? 0600 : 0666);
    while (file->descriptor < 0 && errno == EINTR);
    if (file->descriptor < 0 && errno == EEXIST) return PETAL_ERR_EXISTS;
    if (file->descriptor < 0)
        return petal_fail_errno(error, errno, "cannot write a file in its folder");
    file->process = getpid();
    petal_status status =
        like ? keep_owner_and_mode(file->descriptor, like, flags, error) : PETAL_OK;
    if (status != PETAL_OK) petal_os_remove(file->path);
    return status;
}

bool petal_os_create_nameless(const char *folder, struct file *file)
{
#ifdef O_TMPFILE
    file->descriptor = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    file->process = getpid();
#else
    (void)folder;
#endif
    return file->descriptor >= 0;
}

static int flush(int descriptor)
{
#ifdef F_FULLFSYNC
    /* On macOS, fsync() flushes only to the drive's cache, so F_FULLFSYNC is tried first. If the
     * file system doesn't support F_FULLFSYNC, fsync() is used instead. */
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(descriptor);
}

petal_status petal_os_complete(const struct file *file, uint64_t size_bytes, petal_error *error)
{
    if (ftruncate(file->descriptor, (off_t)size_bytes) != 0)
        return petal_fail_errno(error, errno, "cannot write");
    if (flush(file->descriptor) != 0)
        return petal_fail_errno(error, errno, "cannot write it to disk");
    /* Some network file systems report a failed write only when a descriptor is closed. This file's
     * descriptor holds the lock, so a duplicate is closed instead. */
    int copy = dup(file->descriptor);
    if (copy < 0 || close(copy) != 0) return petal_fail_errno(error, errno, "cannot write");
    return PETAL_OK;
}

/* Renames a file to a name that must not exist yet. On failure, errno contains the reason, which is
 * EEXIST if the name exists. */
static bool rename_to_new(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
#elif defined(RENAME_EXCL)
    if (renamex_np(from, to, RENAME_EXCL) == 0) return true;
    if (errno != EINVAL && errno != ENOTSUP) return false;
#endif
    if (link(from, to) == 0) {
        unlink(from);
        return true;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP && errno != EMLINK) return false;
    /* The file system doesn't support hard links, so an empty file is created to claim the name,
     * and then replaced. */
    int claim = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (claim < 0) return false;
    close(claim);
    if (rename(from, to) == 0) return true;
    int failure = errno;
    unlink(to);
    errno = failure;
    return false;
}

petal_status petal_os_rename(struct replacement *made, petal_error *error)
{
    const char *from = made->temporary.path, *to = made->old.path;
    if (made->exists ? rename(from, to) == 0 : rename_to_new(from, to)) return PETAL_OK;
    if (errno == EEXIST && !made->exists) return PETAL_ERR_EXISTS;
    return petal_fail_errno(error, errno, "cannot rename the new file");
}

/* A folder that can't be opened for reading can't be synced. The rename still counts as
 * successful. */
petal_status petal_os_flush_folder(const char *path, petal_error *error)
{
    char folder[PATH_MAX];
    int descriptor =
        folder_of(path, folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor < 0 && errno == EACCES) return PETAL_OK;
    int failure = descriptor >= 0 && fsync(descriptor) == 0 ? 0 : errno;
    if (descriptor >= 0) close(descriptor);
    if (failure == 0 || failure == EINVAL) return PETAL_OK;
    return petal_fail_errno(
        error, failure, "the new file is in place, but its folder could not be written to disk");
}

void petal_os_remove(const char *path)
{
    unlink(path);
}

#endif

/* posix_replace.c - replacing a file atomically, on POSIX systems.
 *
 *     lock the target -> temporary file, locked -> write -> fsync -> rename
 *     -> fsync of the folder -> unlock
 *
 * The target's lock is held over the rename, and the new file is locked from its first moment: so a
 * process that waits for either finds the path changed when it gets the lock of the old file, and
 * looks again. A target that is absent is published without replacing: of two makers one finds the
 * name taken. */
#define _GNU_SOURCE /* renameat2, getentropy */
#define _FILE_OFFSET_BITS 64

#include "os/os.h"

#if !defined(PETAL_OS_NONE) && !defined(_WIN32)

#include "base/error.h"
#include "os/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------- */

static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

/* The folder of a path, for opendir() and the like. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    int length = folder_length(path);
    return snprintf(folder, PATH_MAX, "%.*s", length ? length : 1, length ? path : ".") < PATH_MAX;
}

/* Where a file that does not exist yet will be: its folder without symbolic links, and its name.
 * NULL: errno. */
static char *path_of_new(const char *path)
{
    char folder[PATH_MAX], *real, *joined = NULL;
    const char *name = path + folder_length(path);
    if (!folder_of(path, folder) || !(real = petal_posix_resolve(folder))) return NULL;
    size_t room = strlen(real) + strlen(name) + 2;
    joined = malloc(room);
    if (joined) snprintf(joined, room, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    return joined;
}

/* ---- temporary files: see common.h ----------------------------------------------------------- */

/* Removes a temporary file whose maker is dead. */
static void remove_stale(const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return;
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor < 0) return;
    if (petal_posix_check_kind(descriptor, NULL) == PETAL_OK &&
        petal_posix_lock(descriptor, NULL) == PETAL_OK &&
        petal_posix_compare(descriptor, path, NULL) == PETAL_OK)
        unlink(path);
    close(descriptor);
}

static void remove_stale_ones(const char *target)
{
    char path[PATH_MAX];
    DIR *folder = folder_of(target, path) ? opendir(path) : NULL;
    const struct dirent *entry;
    for (int i = 0; folder && i < PETAL_OS_MAX_ENTRIES && (entry = readdir(folder)) != NULL; i++)
        if (petal_os_is_temporary(entry->d_name)) remove_stale(path, entry->d_name);
    if (folder) closedir(folder);
}

/* A file system without locks gives none; then nobody mistakes the file for a dead one's either.
 * PETAL_ERR_REPLACED: another process took it for one before it was locked, and has removed it or
 * is about to. */
static petal_status lock_temporary(struct file *temporary, petal_error *error)
{
    petal_status status = petal_posix_lock(temporary->descriptor, NULL);
    if (status == PETAL_ERR_BUSY) return PETAL_ERR_REPLACED;
    temporary->is_locked = status == PETAL_OK;
    temporary->process = getpid();
    return petal_posix_compare(temporary->descriptor, temporary->path, error);
}

/* Opens a new file beside the target. The mode is that of a new target; what is to replace a file
 * of a mode of its own is readable by nobody until it has that. */
static petal_status make_temporary(struct replacement *made, petal_error *error)
{
    size_t room = strlen(made->old.path) + sizeof PETAL_OS_TEMPORARY + 32;
    struct file *temporary = &made->temporary;
    temporary->path = malloc(room);
    if (!temporary->path) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (int attempt = 0; attempt < PETAL_OS_ATTEMPTS; attempt++) {
        unsigned long long number;
        if (getentropy(&number, sizeof number) != 0)
            return petal_fail_errno(error, errno, "cannot make a random name");
        snprintf(temporary->path, room, "%.*s" PETAL_OS_TEMPORARY "%016llx",
                 folder_length(made->old.path), made->old.path, number);
        int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
        temporary->descriptor = open(temporary->path, flags, made->exists ? 0600 : 0666);
        if (temporary->descriptor < 0 && (errno == EEXIST || errno == EINTR)) continue;
        if (temporary->descriptor < 0) break;
        petal_status status = lock_temporary(temporary, error);
        if (status == PETAL_OK) return PETAL_OK;
        unlink(temporary->path); /* the name is random, so it is ours */
        close(temporary->descriptor);
        temporary->descriptor = -1;
        if (status != PETAL_ERR_REPLACED) return status;
        errno = EEXIST;
    }
    return petal_fail_errno(error, errno, "cannot write a file in its folder");
}

/* Owner first: changing it may clear bits of the mode. Those that let whoever runs a file be its
 * owner or group are for what they were given to, not for what takes its place. */
static petal_status keep_owner_and_mode(const struct replacement *made, const struct stat *old,
                                        unsigned flags, petal_error *error)
{
    int descriptor = made->temporary.descriptor;
    struct stat new;
    if (fstat(descriptor, &new) != 0)
        return petal_fail_errno(error, errno, "cannot look at the new file");
    bool differs = new.st_uid != old->st_uid || new.st_gid != old->st_gid;
    if (differs && fchown(descriptor, old->st_uid, old->st_gid) != 0 &&
        !(flags & PETAL_SAVE_NEW_OWNER))
        return petal_fail_errno(error, errno, "cannot keep its owner; --force gives it to you");
    if (fchmod(descriptor, old->st_mode & 0777) != 0)
        return petal_fail_errno(error, errno, "cannot keep its mode");
    return PETAL_OK;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* The file to replace, locked. */
static petal_status take_old(const char *path, unsigned flags, struct replacement *made,
                             struct stat *old, petal_error *error)
{
    petal_status at = made->held ? petal_os_is_at(made->held, path, error) : PETAL_ERR_REPLACED;
    bool held = at == PETAL_OK;
    made->exists = true;
    if (made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (at == PETAL_ERR_IO) return at;
    if (held || (flags & PETAL_SAVE_NO_LOCK)) {
        made->old = (struct file){.path = petal_posix_resolve(path), .descriptor = -1};
        if (!held) made->held = NULL;
        return made->old.path ? PETAL_OK : petal_fail_errno(error, errno, "cannot follow its path");
    }
    petal_status status = petal_os_open(path, ACCESS_WRITE, &made->old, error);
    if (status == PETAL_ERR_IO && error &&
        (error->system_errno == EACCES || error->system_errno == EPERM))
        return petal_fail_errno(error, error->system_errno,
                                "cannot lock it for writing; --no-lock goes without");
    if (status != PETAL_OK) return status;
    if (fstat(made->old.descriptor, old) != 0)
        return petal_fail_errno(error, errno, "cannot look at it");
    return petal_os_let_go(made, path,
                           "was replaced by another file since it was read; read it again", error);
}

static petal_status take_target(const char *path, unsigned flags, struct replacement *made,
                                struct stat *old, petal_error *error)
{
    if (stat(path, old) == 0) {
        if (S_ISDIR(old->st_mode)) return petal_fail_errno(error, EISDIR, "cannot write it");
        if (!S_ISREG(old->st_mode))
            return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                              "not a regular file; it cannot be replaced atomically");
        return take_old(path, flags, made, old, error);
    }
    if (errno != ENOENT) return petal_fail_errno(error, errno, "cannot write it");
    if (lstat(path, old) == 0 && S_ISLNK(old->st_mode))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a symbolic link that leads nowhere; remove it first");
    made->old = (struct file){.path = path_of_new(path), .descriptor = -1};
    if (!made->old.path) return petal_fail_errno(error, errno, "cannot write a file in its folder");
    return petal_os_let_go(made, path, "was removed since it was read; save under another name",
                           error);
}

petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error)
{
    struct stat old;
    petal_error own;
    if (!error) error = &own;
    *made = (struct replacement){.old = PETAL_NO_FILE,
                                 .temporary = PETAL_NO_FILE,
                                 .held = held,
                                 .no_replace = flags & PETAL_SAVE_NO_REPLACE};
    petal_status status = take_target(path, flags, made, &old, error);
    if (status == PETAL_OK) {
        remove_stale_ones(made->old.path);
        status = make_temporary(made, error);
    }
    if (status == PETAL_OK && made->exists) {
        status = keep_owner_and_mode(made, &old, flags, error);
        if (status != PETAL_OK) unlink(made->temporary.path);
    }
    return status == PETAL_OK ? status : petal_os_drop(made, false, status);
}

/* ---- finish ---------------------------------------------------------------------------------- */

static petal_status make_durable(const struct replacement *made, petal_error *error)
{
    if (ftruncate(made->temporary.descriptor, (off_t)made->size_bytes) != 0)
        return petal_fail_errno(error, errno, "cannot write");
    if (petal_posix_flush(made->temporary.descriptor) != 0)
        return petal_fail_errno(error, errno, "cannot write it to disk");
    /* Some network file systems report a failed write when a descriptor is closed. Ours keeps the
     * lock, so it is another. */
    int copy = dup(made->temporary.descriptor);
    if (copy < 0 || close(copy) != 0) return petal_fail_errno(error, errno, "cannot write");
    return PETAL_OK;
}

/* Gives the file a name that nobody has. False: errno, EEXIST if somebody has. */
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
    /* Without links either: an empty file takes the name, and is replaced. */
    int claim = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (claim < 0) return false;
    close(claim);
    if (rename(from, to) == 0) return true;
    int failure = errno;
    unlink(to);
    errno = failure;
    return false;
}

static petal_status publish(const struct replacement *made, petal_error *error)
{
    const char *from = made->temporary.path, *to = made->old.path;
    if (made->exists ? rename(from, to) == 0 : rename_to_new(from, to)) return PETAL_OK;
    if (errno != EEXIST || made->exists)
        return petal_fail_errno(error, errno, "cannot rename the new file");
    if (made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    return petal_fail(error, PETAL_ERR_BUSY, "another process has just made it; try again");
}

/* A folder that may not be read cannot be synced: the rename is done all the same. */
static petal_status sync_folder(const char *path, petal_error *error)
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

petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error)
{
    petal_status status = keep ? make_durable(made, error) : PETAL_OK;
    if (keep && status == PETAL_OK) status = publish(made, error);
    if (!keep || status != PETAL_OK) {
        unlink(made->temporary.path);
        return petal_os_drop(made, false, status);
    }
    return petal_os_drop(made, true, sync_folder(made->old.path, error));
}

#endif

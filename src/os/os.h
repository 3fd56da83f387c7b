/* os.h - all that Petal asks of the operating system: mapping and locking files, making changes
 * durable, replacing a file atomically. It knows nothing of what is in them. replace.c
 * says how, posix.c and windows.c are the systems, none.c is a build without files.
 *
 * Locks. Whoever changes a file, in place or by replacing it, holds its lock: one per inode, of the
 * open file, so that it ends with the process however that ends. A lock proves nothing about the
 * path, which may name another file by now; so after locking, path and file are compared, and a
 * file that was replaced is locked anew. Readers take no lock. They can see whether there is one
 * without taking it. */
#ifndef PETAL_OS_OS_H
#define PETAL_OS_OS_H

#include "petal/petal.h"

/* A build without files, which has memory only: none.c. WebAssembly has none that can be mapped or
 * locked. */
#if defined(__wasm__) && !defined(PETAL_OS_NONE)
#define PETAL_OS_NONE
#endif

/* The allocator of filters that were given none. Big arrays are pages of their own: untouched ones
 * cost nothing, so creating 5 GB writes nothing; and huge pages are asked for, which make random
 * access to them 1.3 to 1.9 times as fast. */
extern const petal_allocator petal_os_allocator;

/* A file, open and perhaps locked. */
struct file {
    char *path;  /* without symbolic links; owned. NULL: none is open */
    char *given; /* as it was given, owned; or NULL */
    int descriptor;
    bool is_locked;
    int64_t process;              /* that opened it */
    const volatile uint8_t *mark; /* 0 in a fork of that; NULL: see petal_os_is_owner() */
};

#define PETAL_NO_FILE ((struct file){NULL, NULL, -1, false, 0, NULL})

/* What a file is opened for. */
enum access {
    ACCESS_READ,
    /* and locked: PETAL_ERR_BUSY if another process holds the lock; PETAL_ERR_UNSUPPORTED if the
     * file system has none */
    ACCESS_WRITE,
    ACCESS_WRITE_ITSELF, /* like it, but a symbolic link is refused (not on Windows) */
    ACCESS_WRITE_ALONE   /* and not locked, if the caller knows better */
};

/* Opens a regular file. */
petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error);

/* Closes it, and drops its lock, which a fork of the process would keep otherwise; in such a fork
 * the lock stays with its owner. */
void petal_os_close(struct file *file);

/* Is this the process that opened the file, and not a fork of it? By a page that a fork finds
 * zeroed, if the system has such pages and petal_os_own() has made one: *file->mark can be read at
 * any time, without a system call. */
bool petal_os_is_owner(const struct file *file);
void petal_os_own(struct file *file);

/* Does another process (or another open file of this one) hold the lock? False also if nobody can
 * tell. */
bool petal_os_is_locked_elsewhere(const struct file *file);

/* Is the file at `path`, behind symbolic links, this one? PETAL_OK; PETAL_ERR_REPLACED if not,
 * without a message, which is the caller's; PETAL_ERR_IO if nobody can tell. */
petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error);

/* The size of the file; PETAL_ERR_LIMIT if that is above max_bytes (0: no limit). */
petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error);

/* Reads `size_bytes` at an offset, or up to the end of the file; *got says how many. */
petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error);

/* Writes in one call, so that other processes see either all of it or nothing, as far as the system
 * goes. */
petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error);

/* Waits a moment, for another process to get on: about a millisecond. */
void petal_os_pause(void);

/* A whole file in memory. An empty file has bytes NULL. */
struct mapping {
    uint8_t *bytes;
    uint64_t size_bytes;
    bool is_copy; /* of the moment when it was mapped */
};

/* Maps the file, shared. For writing, its holes are allocated first, so that a full disk is an
 * error here and not a signal later. For reading, a file with holes on a file system that allocates
 * them on reading (tmpfs) is copied into memory instead, for the same reason. max_bytes: as
 * above. */
petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error);
void petal_os_unmap(struct mapping *map);

/* Makes a range of the file's map durable. A failure is final: what the disk holds is then
 * unknown. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error);

/* Makes a range count as changed, so that the next sync writes it whatever the system believes the
 * disk has. */
void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes);

/* A file being written, to replace another atomically. Treat as opaque. */
struct replacement {
    struct file old; /* locked, unless there is none; `path` is the target in any case */
    struct file temporary;
    struct file *held; /* the caller's, in place of `old` */
    bool exists;       /* the target does */
    bool no_replace;
    uint64_t size_bytes; /* put so far */
};

/* Begins: locks the target and opens a temporary file beside it. `flags` are PETAL_SAVE_*; `held`
 * is NULL or a file that the caller has locked: if it is the target, its lock serves, and at the
 * end it is the new file, locked.
 * Then put() the bytes in order; runs of zeros become holes. finish() makes the file durable and
 * renames it (fsync, rename, fsync of the folder); with `keep` false, or after any failure, it
 * removes the temporary file instead. The old file stays as it is until the new one is complete.
 * begin() that fails needs no finish(). */
petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error);
petal_status petal_os_put(void *made, const void *bytes, uint64_t size_bytes, petal_error *error);
petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error);

#endif

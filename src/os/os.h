/* os.h - everything that Petal needs from the operating system: mapping and locking files, making
 * changes durable, replacing a file atomically. None of it depends on the contents of the files.
 * replace.c replaces files on all systems, posix.c and windows.c have what differs, and none.c is
 * for builds without files.
 *
 * Locks. A process that changes a file, in place or by replacing it, holds its lock. There is one
 * lock per inode, and the open file owns it. So the lock is released when the process ends, even if
 * it crashes. When a file has been locked, another file may already be at its path. So the path is
 * checked after locking. If the file was replaced, the new one is opened and locked. Readers take
 * no lock, but can check whether a process holds it. */
#ifndef PETAL_OS_OS_H
#define PETAL_OS_OS_H

#include "petal/petal.h"

/* Builds without files use none.c. WebAssembly does too, since its files can't be mapped or
 * locked. */
#if defined(__wasm__) && !defined(PETAL_OS_NONE)
#define PETAL_OS_NONE
#endif

/* The default allocator of filters. Large arrays get their own pages. Untouched pages cost nothing,
 * so creating a 5 GB filter writes nothing. The allocator requests huge pages, which make random
 * access 1.3 to 1.9 times as fast. */
extern const petal_allocator petal_os_allocator;

/* An open file, possibly locked. */
struct file {
    char *path;  /* without symbolic links, owned; NULL if no file is open */
    char *given; /* as the caller wrote it, owned; or NULL */
    int descriptor;
    bool is_locked;
    int64_t process;              /* the process that opened it */
    const volatile uint8_t *mark; /* reads 0 in forked children; for NULL see petal_os_is_owner() */
};

#define PETAL_NO_FILE ((struct file){NULL, NULL, -1, false, 0, NULL})

/* Why a file is opened. */
enum access {
    ACCESS_READ,
    /* Lock it. PETAL_ERR_BUSY if another process holds the lock; PETAL_ERR_UNSUPPORTED if the file
     * system has no locks. */
    ACCESS_WRITE,
    ACCESS_WRITE_ITSELF, /* the same, but refuse a symbolic link (not on Windows) */
    ACCESS_WRITE_ALONE   /* don't lock it, since the caller prevents other writers */
};

/* Opens a regular file. */
petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error);

/* Closes the file, and releases its lock explicitly, because a forked child would otherwise keep
 * it. If this process is such a child, the process that opened the file keeps the lock. */
void petal_os_close(struct file *file);

/* Returns true if this process opened the file itself and did not inherit it through fork(). If the
 * system supports it, petal_os_own() creates a page that reads as zeros in forked children. Then
 * *file->mark gives the answer without a system call. */
bool petal_os_is_owner(const struct file *file);
void petal_os_own(struct file *file);

/* Returns true if another process (or another open file of this process) holds the lock. Returns
 * false if that can't be determined. */
bool petal_os_is_locked_elsewhere(const struct file *file);

/* Checks that this file is at `path`, after following symbolic links. Returns PETAL_ERR_REPLACED
 * without a message (the caller adds one) if it is not, and PETAL_ERR_IO if that can't be
 * determined. */
petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error);

/* Gets the size of the file. Returns PETAL_ERR_LIMIT if it exceeds max_bytes (0 means no limit). */
petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error);

/* Reads `size_bytes` at an offset, or fewer at the end of the file. *got is the number of bytes
 * read. */
petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error);

/* Writes with one system call. So other processes see all of it or nothing, if the system
 * guarantees that. */
petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error);

/* Creates a file without a name in this folder, for reading and writing. The system deletes the
 * file when it is closed or the process ends. */
petal_status petal_os_open_temporary(const char *folder, struct file *file, petal_error *error);

/* Waits about a millisecond, so that another process can make progress. */
void petal_os_pause(void);

/* A whole file in memory. `bytes` is NULL if the file is empty. */
struct mapping {
    uint8_t *bytes;
    uint64_t size_bytes;
    bool is_copy; /* a copy made when it was mapped */
};

/* Maps the file, shared. If the map is for writing, it allocates holes first, so that a full disk
 * is an error now and not a signal later. Some file systems (tmpfs) also allocate holes when they
 * are read. So if the map is for reading and the file has holes, it copies the file into memory on
 * such a file system. max_bytes is as above. */
petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error);
void petal_os_unmap(struct mapping *map);

/* Tells the system that an entire map opened for reading will be read soon. If the kernel and the
 * file system support it, pages that aren't cached yet are then mapped as huge pages, so later
 * queries cause fewer TLB misses. Don't call it if only a few keys are queried, because each query
 * would read 2 MB. */
void petal_os_will_read(const struct mapping *map);

/* Makes a range of the file's map durable. If that fails, don't retry: what is on disk is then
 * unknown. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error);

/* Marks a range as changed. The next sync then writes it even if the system believes that it is on
 * disk. */
void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes);

/* A file that will atomically replace another. Only src/os uses its members. */
struct replacement {
    struct file old; /* locked if it exists; `path` is always the target */
    struct file temporary;
    struct file *held; /* the caller's file, used instead of `old` */
    bool exists;       /* the target exists */
    bool no_replace;
    uint64_t size_bytes; /* bytes written so far */
};

/* begin() locks the target and opens a temporary file next to it. `flags` are PETAL_SAVE_*. `held`
 * is NULL or a file that the caller has locked. If `held` is the target, its lock is used, and
 * afterwards `held` is the new file, locked. Then put() writes the bytes in order; runs of zeros
 * become holes. finish() makes the file durable and renames it (fsync, rename, fsync of the
 * folder). If `keep` is false, or after any failure, finish() removes the temporary file instead.
 * The old file stays until the new one is complete. If begin() fails, don't call finish(). */
petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error);
petal_status petal_os_put(void *made, const void *bytes, uint64_t size_bytes, petal_error *error);
petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error);

#endif

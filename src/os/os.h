/* os.h - declares everything that Petal needs from the operating system: mapping and locking files,
 * making changes durable, and replacing a file atomically. None of these functions depends on the
 * contents of the files. replace.c replaces files on all systems, posix.c and windows.c contain the
 * code that differs, and none.c is for builds without files.
 *
 * Locks: a process that changes a file, in place or by replacing it, holds the file's lock. Each
 * inode has one lock, which belongs to the open file. So the lock is released when the process
 * ends, even if the process crashes. By the time a file has been locked, another file may have
 * replaced it. So the path is checked after locking. If the file was replaced, the new file is
 * opened and locked. Readers take no lock, but can check whether a process holds one. */
#ifndef PETAL_OS_OS_H
#define PETAL_OS_OS_H

#include "petal/petal.h"

/* Builds without files use none.c. WebAssembly builds also use none.c, since their files can't be
 * mapped or locked. */
#if defined(__wasm__) && !defined(PETAL_OS_NONE)
#define PETAL_OS_NONE
#endif

/* The default allocator for filters. Large arrays are allocated in their own pages. Untouched pages
 * use no memory, so creating a 5 GB filter writes nothing. The allocator requests huge pages, which
 * make random access 1.3 to 1.9 times as fast. */
extern const petal_allocator petal_os_allocator;

/* An open file, possibly locked. */
struct file {
    char *path;  /* the path, owned; without symbolic links unless the file was opened with
                  * ACCESS_READ; NULL if no file is open */
    char *given; /* the path as the caller wrote it, owned; or NULL */
    int descriptor;
    bool is_locked;
    int64_t process;              /* id of the process that opened the file */
    const volatile uint8_t *mark; /* a byte that reads as 0 in forked children, or NULL; see
                                   * petal_os_is_owner() */
};

#define PETAL_NO_FILE ((struct file){NULL, NULL, -1, false, 0, NULL})

/* The purpose for which a file is opened. */
enum access {
    ACCESS_READ,
    /* Lock the file. Opening fails with PETAL_ERR_BUSY if another process holds the lock, and with
     * PETAL_ERR_UNSUPPORTED if the file system has no locks. */
    ACCESS_WRITE,
    ACCESS_WRITE_ITSELF, /* lock the file, but refuse a symbolic link (not on Windows) */
    ACCESS_WRITE_ALONE   /* don't lock the file, since the caller prevents other writers */
};

/* Opens a regular file. */
petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error);

/* Closes the file, and releases its lock explicitly, because a forked child would otherwise keep
 * it. In a forked child, the lock is not released, so the process that opened the file keeps it. */
void petal_os_close(struct file *file);

/* Returns true if this process opened the file itself and did not inherit it through fork(). If the
 * system supports such pages, petal_os_own() creates a page that reads as zeros in forked children.
 * Then *file->mark reveals the owner without a system call. */
bool petal_os_is_owner(const struct file *file);
void petal_os_own(struct file *file);

/* Returns true if another process (or another open file of this process) holds the lock. Returns
 * false if this can't be determined. */
bool petal_os_is_locked_elsewhere(const struct file *file);

/* Checks that this file is still at `path`, after following symbolic links. If another file, or no
 * file, is at `path`, returns PETAL_ERR_REPLACED without a message (the caller adds one). Returns
 * PETAL_ERR_IO if the check itself fails. */
petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error);

/* Determines the size of the file. Returns PETAL_ERR_LIMIT if the size exceeds max_bytes (0 means
 * no limit). */
petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error);

/* Reads `size_bytes` bytes at an offset, or fewer at the end of the file. Sets *got to the number
 * of bytes read. */
petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error);

/* Writes all bytes with one system call, so that other processes see all of them or none, if the
 * system guarantees atomic writes. */
petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error);

/* Creates a file without a name in this folder, for reading and writing. The system deletes the
 * file when the file is closed or the process ends. */
petal_status petal_os_open_temporary(const char *folder, struct file *file, petal_error *error);

/* Sleeps for about a millisecond, so that another process can make progress. */
void petal_os_pause(void);

/* A whole file in memory. `bytes` is NULL if the file is empty. */
struct mapping {
    uint8_t *bytes;
    uint64_t size_bytes;
    bool is_copy; /* true if `bytes` is a copy of the file, made when the file was mapped */
};

/* Maps the file with shared pages. For a writable mapping, the file's holes are allocated first, so
 * that a full disk causes an error now instead of a signal later. Some file systems (tmpfs) also
 * allocate holes that are read through a mapping. So for a read-only mapping on such a file system,
 * a file with holes is copied into memory instead. max_bytes has the same meaning as in
 * petal_os_size(). */
petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error);
void petal_os_unmap(struct mapping *map);

/* Informs the system that all of a read-only mapping will be read soon. If the kernel and the file
 * system support it, pages that aren't cached yet are then mapped as huge pages, so later queries
 * cause fewer TLB misses. Don't call this function if only a few keys are queried, because each
 * query would read 2 MB. */
void petal_os_will_read(const struct mapping *map);

/* Writes a range of the file's mapping to disk, and waits until it is durable. Don't retry after a
 * failure, because the contents of the disk are then unknown. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error);

/* Marks a range as changed, so that the next sync writes it even if the system considers it already
 * written. */
void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes);

/* Opens and locks a file that will be replaced. */
petal_status petal_os_hold(const char *path, struct file *file, petal_error *error);

/* A file that will atomically replace another file. Only src/os uses the members. */
struct replacement {
    struct file old; /* the target, locked if it exists; `path` is always set */
    struct file temporary;
    struct file *held; /* the caller's file, used instead of `old` */
    bool exists;       /* the target exists */
    bool no_replace;
    uint64_t size_bytes; /* bytes written so far */
};

/* begin() locks the target and opens a temporary file next to it. `flags` are PETAL_SAVE_*. `held`
 * is NULL, or a file that the caller has locked. If `held` is the target, its lock is used, and
 * after finish(), `held` is the new file, which is locked. put() appends bytes; runs of zeros
 * become holes. finish() makes the file durable and renames it (fsync, rename, fsync of the
 * folder). If `keep` is false, or after any failure, finish() removes the temporary file instead.
 * The old file stays in place until the new file is complete. If begin() fails, don't call
 * finish(). */
petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error);
petal_status petal_os_put(void *made, const void *bytes, uint64_t size_bytes, petal_error *error);
petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error);

#endif

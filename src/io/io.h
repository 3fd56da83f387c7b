/* io.h - all that Petal asks of the operating system: mapping files, making changes durable, replacing a file at once. It
 * knows nothing of what is in them. Another system is one more file beside posix.c. */
#ifndef PETAL_IO_IO_H
#define PETAL_IO_IO_H

#include "petal/petal.h"

/* The allocator of filters that were given none. Big arrays are pages of their own: untouched ones cost nothing, so creating 5 GB
 * writes nothing; and huge pages are asked for, which make random access to them 1.3 to 1.9 times as fast. */
extern const petal_allocator petal_io_allocator;

/* A whole file in memory. An empty file has bytes NULL. */
struct mapping {
    uint8_t *bytes;
    uint64_t size_bytes;
    int descriptor;
};

/* Maps a regular file, shared. Writable: locks out other writers (PETAL_ERR_BUSY) and allocates the file's holes first, so
 * that a full disk is an error here and not a signal later. Files above max_bytes (0: none) are PETAL_ERR_LIMIT. */
petal_status petal_io_map(const char *path, bool writable, uint64_t max_bytes, struct mapping *map, petal_error *error);
void petal_io_unmap(struct mapping *map);

/* Makes a range of the file durable. A failure is final: what the disk holds is then unknown. */
petal_status petal_io_sync(const struct mapping *map, uint64_t offset, uint64_t size_bytes, petal_error *error);

/* A file in the making, to take the place of another at once. Treat as opaque. */
struct replacement {
    char *target, *temporary; /* paths, owned */
    int descriptor;
    unsigned mode; /* of the old file; 0 where there is none */
    bool no_replace;
    uint64_t size_bytes; /* put so far */
};

/* Begins: temporary file in the same folder. Then put() the bytes in order; runs of zeros become holes. finish() makes the file
 * durable and renames it (fsync, rename, fsync of the folder); with `keep` false, or after any failure, it removes the temporary
 * file instead. The old file stays as it is until the new one is complete. begin() that fails needs no finish(). */
petal_status petal_io_begin(const char *path, bool no_replace, struct replacement *made, petal_error *error);
petal_status petal_io_put(void *made, const void *bytes, uint64_t size_bytes, petal_error *error);
petal_status petal_io_finish(struct replacement *made, bool keep, petal_error *error);

#endif

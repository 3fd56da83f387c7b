/* backing.h - manages the storage that a filter may use besides its own memory: a mapped file, the
 * caller's memory, or a locked file. */
#ifndef PETAL_STORE_BACKING_H
#define PETAL_STORE_BACKING_H

#include "format/image.h"
#include "os/os.h"

/* How a filter is being opened. */
struct opening {
    const uint8_t *bytes; /* the whole file */
    uint64_t size_bytes;
    const struct file *file; /* PETAL_NO_FILE if the bytes belong to the caller */
    bool writable;
    bool is_copy; /* the bytes are a copy, and the file may have changed since */
    bool recover; /* accept the bits even if the sums may be stale */
    bool reseal;  /* compute new sums even if the file is clean */
    bool live;    /* a writer is active, and the caller accepts changing bits */
    bool guard;   /* compare blocks with their sums before queries (filter/guard.h) */
};

/* The resources that a filter owns, and releases when it is freed. */
struct holdings {
    struct mapping map; /* may be empty */
    struct file file;   /* the file that is mapped, or that stays locked after loading; may be
                         * PETAL_NO_FILE */
    /* returns a view's bytes to the caller; or NULL */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *context;
    const void *bytes;
    uint64_t size_bytes;
};

struct backing {
    struct image image; /* only for petal files */
    const uint8_t *bytes;
    struct holdings held;
    bool changed;                  /* true if the map is writable and the file is marked dirty on
                                    * disk */
    bool rewrite;                  /* true if the file was recovered, so it is unknown which pages
                                    * are on disk */
    _Atomic uint64_t first_damage; /* number + 1 of a block that doesn't match its sum, or 0 */
    bool damaged;                  /* true if a block is damaged, so no more changes are accepted */
    /* True if writing failed. The disk's contents are then unknown, so no more changes are
     * accepted. */
    bool io_failed;
    int io_errno;  /* errno of the failed write */
    bool replaced; /* true if another file has replaced this file at its path */
};

/* petal_backing_attach() makes the filter's layers point to the bytes in `from`. `image` is NULL
 * for other libraries' files, which are read-only. The caller still owns the map, the file and the
 * bytes, until petal_backing_hold() transfers them to the filter. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error);
petal_status petal_backing_hold(petal_filter *filter, const struct holdings *held,
                                petal_error *error);

/* Returns PETAL_OK if this filter is a writable map of the file at `path`, PETAL_ERR_REPLACED if it
 * is not, or PETAL_ERR_IO if the check fails. */
petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error);

/* Returns true if petal_verify() can compare the filter's bits with checksums. */
bool petal_backing_is_verifiable(const petal_filter *filter);

/* Returns the file, mapped or loaded, that the filter keeps open for writing, or NULL. */
struct file *petal_backing_file(const petal_filter *filter);

/* Compares the filter's blocks with their recorded sums, and records in the filter the number of
 * blocks compared and the number of differing blocks. */
void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes);

#endif

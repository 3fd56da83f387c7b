/* backing.h - what a filter may use besides its own memory: a mapped file, the caller's memory, or
 * a locked file. */
#ifndef PETAL_STORE_BACKING_H
#define PETAL_STORE_BACKING_H

#include "format/image.h"
#include "os/os.h"

/* How a filter was opened. */
struct opening {
    const uint8_t *bytes; /* the whole file */
    uint64_t size_bytes;
    const struct file *file; /* PETAL_NO_FILE if the bytes are the caller's */
    bool writable;
    bool is_copy; /* the bytes are a copy, and the file may have changed since */
    bool recover; /* accept the bits, although the sums may be stale */
    bool reseal;  /* compute new sums even if the file is clean */
    bool live;    /* a writer is active */
    bool guard;   /* compare blocks with their sums before queries (filter/guard.h) */
};

/* What a filter owns, and releases when it is freed. */
struct holdings {
    struct mapping map; /* may be empty */
    struct file file;   /* mapped, or locked since it was loaded; may be none */
    /* gives a view's bytes back to the caller; or NULL */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *context;
    const void *bytes;
    uint64_t size_bytes;
};

struct backing {
    struct image image; /* only if it is a petal file */
    const uint8_t *bytes;
    struct holdings held;
    bool changed;                  /* a writable map that is marked dirty on disk */
    bool rewrite;                  /* recovered, so it is unknown which pages are on disk */
    _Atomic uint64_t first_damage; /* number + 1 of a block that differs from its sum, or 0 */
    bool damaged;                  /* a block is damaged: no more changes are accepted */
    /* The disk's contents are unknown, so no more changes are accepted. */
    bool io_failed;
    int io_errno;  /* errno of that failure */
    bool replaced; /* another file has replaced this one at its path */
};

/* Points the filter's layers at the bytes in `from`. `image` is NULL for other libraries' files,
 * which are read-only. The caller still owns the map, the file and the bytes. petal_backing_hold()
 * passes them to the filter. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error);
petal_status petal_backing_hold(petal_filter *filter, const struct holdings *held,
                                petal_error *error);

/* Returns PETAL_OK if this filter is a writable map of the file at `path`, PETAL_ERR_REPLACED if
 * not, or PETAL_ERR_IO. */
petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error);

/* Returns true if petal_verify() can compare the filter's bits with checksums. */
bool petal_backing_is_verifiable(const petal_filter *filter);

/* Returns the file, mapped or loaded, that the filter keeps open for writing, or NULL. */
struct file *petal_backing_file(const petal_filter *filter);

/* Records in the filter how many blocks were compared with their recorded sums, and how many
 * differ. */
void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes);

#endif

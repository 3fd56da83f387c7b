/* backing.h - what a filter uses besides its own memory: a mapped file, the caller's memory, or a
 * file that it keeps locked. */
#ifndef PETAL_STORE_BACKING_H
#define PETAL_STORE_BACKING_H

#include "format/image.h"
#include "os/os.h"

/* How a filter was opened. */
struct opening {
    const uint8_t *bytes; /* the whole file */
    uint64_t size_bytes;
    const struct file *file; /* PETAL_NO_FILE for the caller's memory */
    bool writable;
    bool is_copy; /* a copy: the file may have changed since it was made */
    bool recover; /* the sums may be stale: accept the bits */
    bool reseal;  /* even if the file is clean */
    bool live;    /* a writer is active */
    bool guard;   /* compare blocks with their sums before queries (filter/guard.h) */
};

/* What a filter owns, and releases when it is freed. */
struct holdings {
    struct mapping map; /* or none */
    struct file file;   /* mapped, or locked since loading; or none */
    /* takes a view's bytes back; or NULL */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *context;
    const void *bytes;
    uint64_t size_bytes;
};

struct backing {
    struct image image; /* for a petal file */
    const uint8_t *bytes;
    struct holdings held;
    bool changed;                  /* a writable map that is marked dirty on disk */
    bool rewrite;                  /* recovered: it is unknown which pages are on disk */
    _Atomic uint64_t first_damage; /* number + 1 of a block that differs from its sum; 0: none */
    bool damaged;                  /* a block was damaged: no more changes are accepted */
    bool io_failed;                /* the disk's content is unknown: no more changes are accepted */
    int io_errno;                  /* why */
    bool replaced;                 /* the file has been replaced by another at its path */
};

/* Points the filter's layers at the bytes in `from`. `image` is NULL for other libraries' files,
 * which are read-only. The caller owns map, file and bytes, unless it calls petal_backing_hold(),
 * which hands them to the filter. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error);
petal_status petal_backing_hold(petal_filter *filter, const struct holdings *held,
                                petal_error *error);

/* PETAL_OK if this filter is a writable map of the file at `path`, PETAL_ERR_REPLACED if not, or
 * PETAL_ERR_IO. */
petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error);

/* Can petal_verify() compare the filter's bits with checksums? */
bool petal_backing_is_verifiable(const petal_filter *filter);

/* The file, mapped or loaded, that the filter keeps open for writing; or NULL. */
struct file *petal_backing_file(const petal_filter *filter);

/* Records in the filter how many blocks differ from their recorded sums, and how many were
 * compared. */
void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes);

#endif

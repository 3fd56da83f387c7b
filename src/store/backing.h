/* backing.h - what a filter stands on whose bits are not its own: a mapped file, or memory of the
 * caller. */
#ifndef PETAL_STORE_BACKING_H
#define PETAL_STORE_BACKING_H

#include "format/image.h"
#include "os/os.h"

/* How a filter was opened. */
struct opening {
    const uint8_t *bytes; /* the whole file */
    uint64_t size_bytes;
    const struct file *file; /* PETAL_NO_FILE for memory of the caller */
    bool writable;
    bool is_copy; /* the bytes are no longer the file's, if that has changed */
    bool recover; /* the sums may be old: accept the bits */
    bool live;    /* a writer is at work */
};

struct backing {
    bool is_petal; /* then `image` describes it, and there are checksums */
    bool writable;
    struct image image;
    const uint8_t *bytes;
    struct mapping map; /* empty (descriptor -1) if the bytes are the caller's */
    struct file file;   /* none for memory of the caller */
    bool changed;       /* a writable map that is marked dirty on disk */
    bool rewrite;       /* recovered: nobody knows which of its pages the disk has */
    bool io_failed;     /* what the disk holds is unknown: no more changes */
    int io_errno;       /* why */
    bool replaced;      /* what was synced is in a file that is no longer at its path */
};

/* What a filter keeps until it is freed, beside its bits: filter->held. */
struct held {
    struct file file; /* locked since it was loaded, or none */
    /* what the bytes of a view are given back by, or NULL */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *context;
    const void *bytes;
    uint64_t size_bytes;
};

/* Makes the filter stand on the bytes. `image` is NULL for files of other libraries, which are for
 * reading only. The map and the file stay the caller's until petal_backing_own() gives them to the
 * filter. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error);
void petal_backing_own(petal_filter *filter, const struct mapping *map, const struct file *file);

/* Is this a filter that is mapped for writing from the file at `path`? PETAL_OK; PETAL_ERR_REPLACED
 * if not; PETAL_ERR_IO. */
petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error);

/* PETAL_ERR_BUSY if another process has begun to change the file of this filter since it was
 * opened. */
petal_status petal_backing_check_unchanged(const petal_filter *filter, petal_error *error);

/* Notes in the filter how many blocks differ from their recorded sums, and of how many. */
void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes);

/* before_write and before_lowering of filters that must not be changed. */
petal_status petal_refuse_write(petal_filter *filter, petal_error *error);
petal_status petal_refuse_lowering(petal_filter *filter, enum lowering lowering,
                                   petal_error *error);

#endif

/* backing.h - what a filter stands on that is not memory of its own: a mapped file, memory of the
 * caller, or just a file that it keeps locked. */
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
    bool reseal;  /* so too if the file is clean */
    bool live;    /* a writer is at work */
    bool guard;   /* compare blocks with their sums before queries (filter/guard.h) */
};

/* What a filter keeps, and gives back when it is freed. */
struct holdings {
    struct mapping map; /* or none */
    struct file file;   /* of the map, or locked since the filter was loaded from it; or none */
    /* what takes back the bytes of a view, or NULL */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *context;
    const void *bytes;
    uint64_t size_bytes;
};

struct backing {
    struct image image; /* of a petal file */
    const uint8_t *bytes;
    struct holdings held;
    bool changed;                  /* a writable map that is marked dirty on disk */
    bool rewrite;                  /* recovered: nobody knows which of its pages the disk has */
    _Atomic uint64_t first_damage; /* number + 1 of a block that differs from its sum; 0: none */
    bool damaged;                  /* a block was: no more changes */
    bool io_failed;                /* what the disk holds is unknown: no more changes */
    int io_errno;                  /* why */
    bool replaced;                 /* what was synced is in a file that is no longer at its path */
};

/* Makes the filter stand on the bytes. `image` is NULL for files of other libraries, which are for
 * reading only. Map, file and bytes stay the caller's until petal_backing_hold() gives them to the
 * filter, which need not stand on them. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about,
                                  const struct image *image, const struct opening *from,
                                  petal_error *error);
petal_status petal_backing_hold(petal_filter *filter, const struct holdings *held,
                                petal_error *error);

/* Is this a filter that is mapped for writing from the file at `path`? PETAL_OK; PETAL_ERR_REPLACED
 * if not; PETAL_ERR_IO. */
petal_status petal_backing_is_at(const petal_filter *filter, const char *path, petal_error *error);

/* Can petal_verify() compare its bits with checksums? */
bool petal_backing_is_verifiable(const petal_filter *filter);

/* The file that the filter keeps for writing, mapped or loaded; or NULL. */
struct file *petal_backing_file(const petal_filter *filter);

/* Notes in the filter how many blocks differ from their recorded sums, and of how many. */
void petal_backing_count_changed(petal_filter *filter, const struct image *image,
                                 const uint8_t *bytes);

#endif

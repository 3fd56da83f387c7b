/* backing.h - what a filter stands on whose bits are not its own: a mapped file, or memory of the caller. */
#ifndef PETAL_STORE_BACKING_H
#define PETAL_STORE_BACKING_H

#include "format/image.h"
#include "io/io.h"

struct backing {
    bool is_petal; /* then `image` describes it, and there are checksums */
    struct image image;
    const uint8_t *bytes; /* the whole file */
    struct mapping map;   /* of nothing (descriptor -1) for memory of the caller */
    bool changed;         /* a writable map that is marked dirty on disk */
};

/* Makes the filter stand on `bytes`. On success it owns the map; on failure the caller still does. `image` is NULL for files
 * of other libraries, which are for reading only. */
petal_status petal_backing_attach(petal_filter *filter, const struct description *about, const struct image *image,
                                  const uint8_t *bytes, const struct mapping *map, bool writable, petal_error *error);

/* before_write of filters that must not be changed. */
petal_status petal_refuse_write(petal_filter *filter, petal_error *error);

#endif

/* source.h - a file or memory that is being opened, before it is a filter. Shared by open.c, which
 * opens it as a whole, and reader.c, which receives it in pieces. */
#ifndef PETAL_STORE_SOURCE_H
#define PETAL_STORE_SOURCE_H

#include "store/backing.h"

struct source {
    struct opening from;
    petal_open_options options; /* checked */
    unsigned mode;              /* PETAL_OPEN_MAP, _WRITABLE or _LOAD */
    bool header_only;           /* then the mode is LOAD */
    bool is_auto;               /* `format` is petal until recognized */
    const struct format_def *format;
    const petal_allocator *allocator; /* bounded */
};

/* Checks and copies the options for loading from memory. */
petal_status petal_source_to_load(const petal_open_options *options, struct source *source,
                                  petal_error *error);

/* The allocator from the options. */
const petal_allocator *petal_source_allocator(const struct source *source);

/* Opens all of source->from. */
petal_status petal_source_open(struct source *source, petal_filter **filter, petal_error *error);

/* The steps of opening a petal file. First: may the image be opened with these options and this
 * secret? */
petal_status petal_source_check(const struct source *source, const struct image *image,
                                petal_error *error);
/* Creates a filter without bits, with its metadata. */
petal_status petal_source_make_frame(const struct source *source, const struct description *about,
                                     petal_filter **made, petal_error *error);
/* Loading discards the bits' sums, and saving computes new ones, so the bits are compared with
 * their sums first. If the sums may be stale, the blocks that differ are only counted. `bytes`
 * holds everything before the bits. */
petal_status petal_source_verify(const struct source *source, const struct image *image,
                                 const uint8_t *bytes, petal_filter *made, petal_error *error);

#endif

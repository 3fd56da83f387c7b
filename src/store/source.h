/* source.h - a file or memory that is being opened. open.c opens it as a whole, and reader.c
 * receives it in pieces. */
#ifndef PETAL_STORE_SOURCE_H
#define PETAL_STORE_SOURCE_H

#include "store/backing.h"

struct source {
    struct opening from;
    petal_open_options options; /* checked */
    unsigned mode;              /* PETAL_OPEN_MAP, _WRITABLE or _LOAD */
    bool header_only;           /* if set, the mode is LOAD */
    bool is_auto;               /* `format` is petal until the format is recognized */
    const struct format_def *format;
    const petal_allocator *allocator; /* bounded by the memory limit */
};

/* Checks the options for loading from memory, and copies them. */
petal_status petal_source_to_load(const petal_open_options *options, struct source *source,
                                  petal_error *error);

/* Returns the allocator from the options. */
const petal_allocator *petal_source_allocator(const struct source *source);

/* Opens all bytes of source->from. */
petal_status petal_source_open(struct source *source, petal_filter **filter, petal_error *error);

/* The steps of opening a petal file. The first checks that the image may be opened with these
 * options and this secret. */
petal_status petal_source_check(const struct source *source, const struct image *image,
                                petal_error *error);
/* Creates a filter with its metadata, but without bits. */
petal_status petal_source_make_frame(const struct source *source, const struct description *about,
                                     petal_filter **made, petal_error *error);
/* Compares the bits with their sums. Loading needs that, because it discards the sums, and saving
 * computes new ones. If the sums may be stale, it only counts the blocks that differ. `bytes` holds
 * everything before the bits. */
petal_status petal_source_verify(const struct source *source, const struct image *image,
                                 const uint8_t *bytes, petal_filter *made, petal_error *error);

#endif

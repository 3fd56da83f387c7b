/* source.h - represents a file or memory that is being opened. open.c opens a complete file, and
 * reader.c receives a stream in pieces. */
#ifndef PETAL_STORE_SOURCE_H
#define PETAL_STORE_SOURCE_H

#include "store/backing.h"

struct source {
    struct opening from;
    petal_open_options options; /* checked */
    unsigned mode;              /* PETAL_OPEN_MAP, PETAL_OPEN_WRITABLE or PETAL_OPEN_LOAD */
    bool header_only;           /* if true, the mode is PETAL_OPEN_LOAD */
    bool is_auto;               /* `format` is petal until the format is recognized */
    const struct format_def *format;
    const petal_allocator *allocator; /* the allocator, limited by the memory limit */
};

/* Checks the options for loading from memory, and copies them. */
petal_status petal_source_to_load(const petal_open_options *options, struct source *source,
                                  petal_error *error);

/* Returns the allocator from the options. */
const petal_allocator *petal_source_allocator(const struct source *source);

/* Opens the filter in the bytes of source->from. */
petal_status petal_source_open(struct source *source, petal_filter **filter, petal_error *error);

/* The steps of opening a petal file. The first function checks that the image may be opened with
 * these options and this secret. */
petal_status petal_source_check(const struct source *source, const struct image *image,
                                petal_error *error);
/* Creates a filter with its metadata, but without bits. */
petal_status petal_source_make_frame(const struct source *source, const struct description *about,
                                     petal_filter **made, petal_error *error);
/* Compares the bits with their sums. Loading requires this, because it discards the sums, and
 * saving computes new ones. If the sums may be stale, only counts the blocks that differ. `bytes`
 * contains everything before the bits. */
petal_status petal_source_verify(const struct source *source, const struct image *image,
                                 const uint8_t *bytes, petal_filter *made, petal_error *error);

#endif

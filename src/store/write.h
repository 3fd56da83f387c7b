/* write.h - filter -> image -> anywhere: the only way out, for files, memory and streams. */
#ifndef PETAL_STORE_WRITE_H
#define PETAL_STORE_WRITE_H

#include "format/format.h"

/* How to save: the caller's options (NULL: the defaults), checked. */
struct saving {
    const struct format_def *format;
    uint32_t flags;
};

petal_status petal_saving_take(const petal_save_options *options, struct saving *saving,
                               petal_error *error);

/* Writes the filter's image. Before, it verifies bits from a file; afterwards, it checks that the
 * file has not changed. */
petal_status petal_write_to(const petal_filter *filter, const petal_save_options *options,
                            const struct sink *sink, petal_error *error);

/* The caller's sink. Some formats put single bytes: small pieces are collected, since a call may
 * cross into another language; large ones are cut, since the sink may copy them. petal_stream_put()
 * is a put() of struct sink; petal_stream_flush() passes on the rest at the end. */
#define PETAL_STREAM_SMALL_BYTES 4096u
#define PETAL_STREAM_LARGE_BYTES 262144u

struct stream {
    petal_sink sink;
    void *context;
    size_t used;
    uint8_t gathered[PETAL_STREAM_SMALL_BYTES];
};

petal_status petal_stream_put(void *stream, const void *bytes, uint64_t size_bytes,
                              petal_error *error);
petal_status petal_stream_flush(struct stream *stream, petal_error *error);

#endif

/* write.h - writes a filter's image to a file, to memory or to a stream. All functions that save
 * filters use this code. */
#ifndef PETAL_STORE_WRITE_H
#define PETAL_STORE_WRITE_H

#include "format/format.h"

/* The caller's options for saving, which have been checked. (NULL means the defaults.) */
struct saving {
    const struct format_def *format;
    uint32_t flags;
};

petal_status petal_saving_take(const petal_save_options *options, struct saving *saving,
                               petal_error *error);

/* Writes the filter's image. If the bits are in a file, verifies them before writing, and checks
 * after writing that the file has not changed. */
petal_status petal_write_to(const petal_filter *filter, const petal_save_options *options,
                            const struct sink *sink, petal_error *error);

/* Writes to the caller's sink. Small pieces (some formats write single bytes) are buffered, because
 * each call may cross into another language. Large pieces are divided, because the sink may copy
 * them. petal_stream_put() is the put() of a struct sink; petal_stream_flush() writes the remaining
 * bytes. */
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

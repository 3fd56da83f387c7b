/* write.c - see write.h. This file also implements writing to the caller's sink. */
#include "store/write.h"

#include "base/error.h"
#include "base/sized.h"
#include "filter/permission.h"

#include <string.h>

#define SAVE_FLAGS (PETAL_SAVE_NO_REPLACE | PETAL_SAVE_NO_LOCK | PETAL_SAVE_NEW_OWNER)

petal_status petal_saving_take(const petal_save_options *options, struct saving *saving,
                               petal_error *error)
{
    petal_save_options own = PETAL_SAVE_OPTIONS_INIT;
    petal_status status = PETAL_OK;
    if (options)
        status = petal_sized_take(options, &own, sizeof own, "PETAL_SAVE_OPTIONS_INIT", error);
    if (status != PETAL_OK) return status;
    if (own.flags & ~SAVE_FLAGS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "unknown flags %#x", own.flags & ~SAVE_FLAGS);
    saving->flags = own.flags;
    return petal_format_named(own.format, &saving->format, error);
}

petal_status petal_write_to(const petal_filter *filter, const petal_save_options *options,
                            const struct sink *sink, petal_error *error)
{
    struct saving saving;
    petal_status status = petal_saving_take(options, &saving, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_format_write(saving.format, filter, sink, error);
    return status == PETAL_OK ? petal_filter_check_unchanged(filter, error) : status;
}

static petal_status give(const struct stream *stream, const uint8_t *bytes, uint64_t size_bytes,
                         petal_error *error)
{
    while (size_bytes) {
        size_t piece =
            size_bytes < PETAL_STREAM_LARGE_BYTES ? (size_t)size_bytes : PETAL_STREAM_LARGE_BYTES;
        int32_t stopped = stream->sink(stream->context, bytes, piece);
        if (stopped) return petal_fail_errno(error, stopped, "the sink stopped the stream");
        bytes += piece;
        size_bytes -= piece;
    }
    return PETAL_OK;
}

petal_status petal_stream_flush(struct stream *stream, petal_error *error)
{
    size_t used = stream->used;
    stream->used = 0;
    return give(stream, stream->gathered, used, error);
}

petal_status petal_stream_put(void *context, const void *bytes, uint64_t size_bytes,
                              petal_error *error)
{
    struct stream *stream = context;
    petal_status status = PETAL_OK;
    if (size_bytes > sizeof stream->gathered - stream->used)
        status = petal_stream_flush(stream, error);
    if (status != PETAL_OK) return status;
    if (size_bytes > sizeof stream->gathered) return give(stream, bytes, size_bytes, error);
    if (size_bytes) memcpy(stream->gathered + stream->used, bytes, (size_t)size_bytes);
    stream->used += (size_t)size_bytes;
    return PETAL_OK;
}

petal_status petal_write(const petal_filter *filter, const petal_save_options *options,
                         petal_sink sink, void *context, petal_error *error)
{
    struct stream stream = {.sink = sink, .context = context};
    struct sink to = {petal_stream_put, &stream, false};
    petal_status status = sink ? petal_write_to(filter, options, &to, error)
                               : petal_fail(error, PETAL_ERR_ARGUMENT, "the sink is NULL");
    return status == PETAL_OK ? petal_stream_flush(&stream, error) : status;
}

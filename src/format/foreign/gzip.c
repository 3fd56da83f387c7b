/* gzip.c - see gzip.h. */
#include "format/foreign/gzip.h"

#include "base/error.h"

bool petal_is_gzip(const uint8_t *bytes, uint64_t size_bytes)
{
    return size_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

#ifdef PETAL_WITH_ZLIB

#include "base/bytes.h"
#include "base/checked.h"
#include "base/memory.h"

#define ZLIB_CONST /* makes zlib's input pointer const */
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)   /* the largest window; adding 16 means gzip */
#define MAX_AT_ONCE 0x40000000u /* zlib's counts are unsigned int */
#define OS_UNKNOWN 255

/* ---- zlib's memory --------------------------------------------------------------------------- */

/* The size of each block is stored in front of the block, because Petal's allocators need the size
 * to free it. This prefix takes 16 bytes, which preserves malloc's alignment. */
#define SIZE_ROOM 16u

static void *zlib_alloc(void *allocator, unsigned items, unsigned size)
{
    uint64_t bytes = (uint64_t)items * size + SIZE_ROOM;
    uint8_t *block = petal_alloc(allocator, bytes);
    if (!block) return NULL;
    store64le(block, bytes);
    return block + SIZE_ROOM;
}

static void zlib_free(void *allocator, void *memory)
{
    uint8_t *block = (uint8_t *)memory - SIZE_ROOM;
    petal_release(allocator, block, load64le(block));
}

/* If there is no allocator, zlib uses malloc. */
static z_stream stream_with(const petal_allocator *allocator)
{
    if (!allocator) return (z_stream){.zalloc = Z_NULL};
    return (z_stream){
        .zalloc = zlib_alloc, .zfree = zlib_free, .opaque = (void *)(uintptr_t)allocator};
}

static petal_status out_of_memory(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
}

static unsigned at_once(uint64_t bytes)
{
    return bytes < MAX_AT_ONCE ? (unsigned)bytes : MAX_AT_ONCE;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

struct unpacking {
    z_stream stream;
    uint64_t left_bytes; /* input that has not been passed to the stream yet */
    uint8_t *to;         /* NULL to count the output only */
    uint64_t room, made;
};

/* Calls inflate() once, with as much input and output room as zlib can count. */
static int unpack_some(struct unpacking *of)
{
    uint8_t unwanted[16384];
    z_stream *stream = &of->stream;
    uint64_t room = of->room - of->made;
    if (stream->avail_in == 0) {
        stream->avail_in = at_once(of->left_bytes);
        of->left_bytes -= stream->avail_in;
    }
    if (!of->to && room > sizeof unwanted) room = sizeof unwanted;
    stream->next_out = of->to ? of->to + of->made : unwanted;
    stream->avail_out = at_once(room);
    unsigned given = stream->avail_out;
    int result = inflate(stream, Z_NO_FLUSH);
    of->made += given - stream->avail_out;
    return result;
}

static petal_status why_stopped(const struct unpacking *of, int result, bool whole,
                                uint64_t size_bytes, petal_error *error)
{
    uint64_t after = of->stream.avail_in + of->left_bytes;
    if (result == Z_STREAM_END)
        return after ? petal_format_damaged(error, size_bytes - after,
                                            "bytes after the end of the gzip stream")
                     : PETAL_OK;
    if (result == Z_MEM_ERROR) return out_of_memory(error);
    if (result != Z_OK && result != Z_BUF_ERROR)
        return petal_format_damaged(error, size_bytes - after, "not a gzip stream");
    if (!whole && of->made == of->room) return PETAL_OK;
    if (after)
        return petal_format_damaged(error, size_bytes - after,
                                    "the gzip stream holds more than its header promises");
    return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                         "truncated (within the gzip stream); copy it again");
}

static petal_status unpack(struct unpacking *of, bool whole, uint64_t size_bytes,
                           petal_error *error)
{
    int result;
    do
        result = unpack_some(of); /* without room for output, it accepts only the end of the
                                   * stream */
    while (result == Z_OK && (whole || of->made < of->room));
    return why_stopped(of, result, whole, size_bytes, error);
}

petal_status petal_gunzip(const uint8_t *bytes, uint64_t size_bytes, bool whole,
                          const petal_allocator *allocator, uint8_t *to, uint64_t room,
                          uint64_t *made, petal_error *error)
{
    struct unpacking of = {
        .stream = stream_with(allocator), .left_bytes = size_bytes, .room = room};
    of.stream.next_in = bytes;
    of.to = to;
    if (inflateInit2(&of.stream, GZIP_WINDOW) != Z_OK) return out_of_memory(error);
    petal_status status = unpack(&of, whole, size_bytes, error);
    inflateEnd(&of.stream);
    *made = of.made;
    return status;
}

/* ---- packing --------------------------------------------------------------------------------- */

struct packing {
    z_stream stream;
    const struct sink *sink;
};

/* Compresses the bytes with zlib, and passes the result to the sink. */
static petal_status pack(struct packing *into, const uint8_t *bytes, unsigned size_bytes, int flush,
                         petal_error *error)
{
    uint8_t packed[16384];
    petal_status status = PETAL_OK;
    into->stream.next_in = bytes;
    into->stream.avail_in = size_bytes;
    do {
        into->stream.next_out = packed;
        into->stream.avail_out = sizeof packed;
        /* deflate() fails only if the output is full. In that case, the loop calls it again. */
        deflate(&into->stream, flush);
        status = petal_put(into->sink, packed, sizeof packed - into->stream.avail_out, error);
    } while (status == PETAL_OK && into->stream.avail_out == 0);
    return status;
}

static petal_status put(void *context, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    const uint8_t *at = bytes;
    petal_status status = PETAL_OK;
    while (status == PETAL_OK && size_bytes > 0) {
        unsigned piece = at_once(size_bytes);
        status = pack(context, at, piece, Z_NO_FLUSH, error);
        at += piece;
        size_bytes -= piece;
    }
    return status;
}

petal_status petal_gzip(const struct format_def *format, const petal_filter *filter,
                        const struct sink *sink, petal_error *error)
{
    struct packing into = {stream_with(&filter->allocator), sink};
    struct sink packer = {put, &into, false};
    gz_header header = {.os = OS_UNKNOWN}; /* the header has neither a time nor a name */
    if (deflateInit2(&into.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return out_of_memory(error);
    deflateSetHeader(&into.stream, &header);
    petal_status status = format->write(format, filter, &packer, error);
    if (status == PETAL_OK) status = pack(&into, NULL, 0, Z_FINISH, error);
    deflateEnd(&into.stream);
    return status;
}

#endif

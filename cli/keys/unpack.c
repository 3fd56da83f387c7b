/* unpack.c - see unpack.h. A file may consist of several packed pieces, as pigz, bgzip and cat
 * write them. */
#include "keys/unpack.h"

#include "files/magic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef PETAL_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef PETAL_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum packer { UNKNOWN, PLAIN, GZIP, ZSTD };

struct unpacker {
    enum packer packer;
    bool at_end;             /* of the file */
    bool inside;             /* a packed piece that has not ended yet */
    bool full;               /* the last output filled the buffer, so the stream has more */
    const char *damage;      /* reported after the data before it has been read */
    size_t from, size_bytes; /* of the input that has not been used yet */
    uint8_t input[1 << 16];
#ifdef PETAL_WITH_ZLIB
    bool has_gzip;
    z_stream gzip;
#endif
#ifdef PETAL_WITH_ZSTD
    ZSTD_DStream *zstd;
#endif
};

/* ---- which compression ----------------------------------------------------------------------- */

/* UNKNOWN: more bytes are needed. */
static enum packer recognize(const uint8_t *bytes, size_t size_bytes)
{
    const struct magic *magic = magic_of(bytes, size_bytes);
    if (magic && magic->kind == MAGIC_GZIP) return GZIP;
    if (magic && magic->kind == MAGIC_ZSTD) return ZSTD;
    return !magic && magic_may_follow(bytes, size_bytes) ? UNKNOWN : PLAIN;
}

bool unpacks_zstd(void)
{
#ifdef PETAL_WITH_ZSTD
    return true;
#else
    return false;
#endif
}

/* ---- life ------------------------------------------------------------------------------------ */

struct unpacker *unpack_make(void)
{
    return calloc(1, sizeof(struct unpacker));
}

void unpack_free(struct unpacker *unpacker)
{
    if (!unpacker) return;
#ifdef PETAL_WITH_ZLIB
    if (unpacker->has_gzip) inflateEnd(&unpacker->gzip);
#endif
#ifdef PETAL_WITH_ZSTD
    ZSTD_freeDStream(unpacker->zstd);
#endif
    free(unpacker);
}

void unpack_begin(struct unpacker *unpacker)
{
    unpacker->packer = UNKNOWN;
    unpacker->at_end = unpacker->inside = unpacker->full = false;
    unpacker->from = unpacker->size_bytes = 0;
    unpacker->damage = NULL;
}

bool unpack_is_ready(const struct unpacker *unpacker)
{
    bool waits = unpacker->packer == UNKNOWN && !unpacker->at_end;
    return unpacker->full || unpacker->damage || (unpacker->size_bytes > 0 && !waits);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

/* Both return the number of bytes written to `to`, and set unpacker->damage. */
#ifdef PETAL_WITH_ZLIB
static size_t unpack_gzip(struct unpacker *unpacker, void *to, size_t room)
{
    z_stream *gzip = &unpacker->gzip;
    uInt most = room < 1u << 30 ? (uInt)room : 1u << 30;
    bool begins = !unpacker->inside;
    if (!unpacker->has_gzip && inflateInit2(gzip, 15 + 16) != Z_OK) {
        unpacker->damage = "out of memory";
        return 0;
    }
    if (unpacker->has_gzip && begins) inflateReset(gzip);
    unpacker->has_gzip = unpacker->inside = true;
    gzip->next_in = unpacker->input + unpacker->from;
    gzip->avail_in = (uInt)unpacker->size_bytes;
    gzip->next_out = to;
    gzip->avail_out = most;
    int result = inflate(gzip, Z_NO_FLUSH);
    unpacker->from += unpacker->size_bytes - gzip->avail_in;
    unpacker->size_bytes = gzip->avail_in;
    unpacker->full = gzip->avail_out == 0;
    if (result == Z_STREAM_END) unpacker->inside = unpacker->full = false;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        unpacker->damage = result == Z_MEM_ERROR ? "out of memory" : "the gzip data are damaged";
    return most - gzip->avail_out;
}
#else
static size_t unpack_gzip(struct unpacker *unpacker, void *to, size_t room)
{
    (void)to, (void)room;
    unpacker->damage = "is packed by gzip, and this build has no zlib; use gzip -dc";
    return 0;
}
#endif

/* ---- zstd ------------------------------------------------------------------------------------ */

#ifdef PETAL_WITH_ZSTD
static size_t unpack_zstd(struct unpacker *unpacker, void *to, size_t room)
{
    bool begins = !unpacker->inside;
    if (!unpacker->zstd) unpacker->zstd = ZSTD_createDStream();
    if (!unpacker->zstd) {
        unpacker->damage = "out of memory";
        return 0;
    }
    if (begins) ZSTD_initDStream(unpacker->zstd);
    unpacker->inside = true;
    ZSTD_inBuffer in = {unpacker->input + unpacker->from, unpacker->size_bytes, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);
    unpacker->from += in.pos;
    unpacker->size_bytes -= in.pos;
    unpacker->full = out.pos == out.size;
    if (result == 0) unpacker->inside = unpacker->full = false;
    if (!ZSTD_isError(result)) return out.pos;
    unpacker->damage = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                           ? "needs more memory to be unpacked than zstd allows; use zstd -dc"
                       : ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
                           ? "out of memory"
                           : "the zstd data are damaged";
    return out.pos;
}
#else
static size_t unpack_zstd(struct unpacker *unpacker, void *to, size_t room)
{
    (void)to, (void)room;
    unpacker->damage = "is packed by zstd, and this build has no libzstd; use zstd -dc";
    return 0;
}
#endif

/* ---- reading --------------------------------------------------------------------------------- */

static ssize_t take_plain(struct unpacker *unpacker, void *to, size_t room)
{
    size_t size = unpacker->size_bytes < room ? unpacker->size_bytes : room;
    memcpy(to, unpacker->input + unpacker->from, size);
    unpacker->from += size;
    unpacker->size_bytes -= size;
    return (ssize_t)size;
}

/* Reads more input and appends it. Returns -1 on failure, and sets errno. */
static ssize_t read_input(struct unpacker *unpacker, int descriptor, uint64_t *taken_bytes)
{
    memmove(unpacker->input, unpacker->input + unpacker->from, unpacker->size_bytes);
    unpacker->from = 0;
    ssize_t got = read(descriptor, unpacker->input + unpacker->size_bytes,
                       sizeof unpacker->input - unpacker->size_bytes);
    if (got < 0) return got;
    unpacker->at_end = got == 0;
    unpacker->size_bytes += (size_t)got;
    *taken_bytes += (uint64_t)got;
    return got;
}

/* A packed piece is followed by another one or by the end. */
static bool begins_piece(const struct unpacker *unpacker)
{
    enum packer packer = recognize(unpacker->input + unpacker->from, unpacker->size_bytes);
    return packer == unpacker->packer || (packer == UNKNOWN && !unpacker->at_end);
}

ssize_t unpack_read(struct unpacker *unpacker, int descriptor, void *to, size_t room,
                    uint64_t *taken_bytes, const char **trouble)
{
    *trouble = unpacker->damage;
    if (unpacker->damage) return 0;
    if (!unpack_is_ready(unpacker) && !unpacker->at_end &&
        read_input(unpacker, descriptor, taken_bytes) < 0)
        return -1;
    if (unpacker->packer == UNKNOWN) {
        unpacker->packer = recognize(unpacker->input, unpacker->size_bytes);
        if (unpacker->at_end && unpacker->packer == UNKNOWN) unpacker->packer = PLAIN;
    }
    errno = EAGAIN;
    if (unpacker->packer == UNKNOWN) return -1;
    if (unpacker->packer == PLAIN) return take_plain(unpacker, to, room);
    if (unpacker->size_bytes == 0 && !unpacker->full) {
        if (!unpacker->at_end) return -1;
        if (unpacker->inside) *trouble = "the packed data end too early; the file was cut off";
        return 0;
    }
    size_t got = 0;
    if (!unpacker->inside && !begins_piece(unpacker))
        unpacker->damage = "has other bytes after the packed data";
    else
        got = unpacker->packer == GZIP ? unpack_gzip(unpacker, to, room)
                                       : unpack_zstd(unpacker, to, room);
    errno = EAGAIN;
    return got > 0 ? (ssize_t)got : -1;
}

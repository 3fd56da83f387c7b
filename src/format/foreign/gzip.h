/* gzip.h - gzip for codecs, through zlib. PETAL_WITH_ZLIB is the only switch: a build without it
 * recognizes gzip, but lacks the calls below and the formats that need them. */
#ifndef PETAL_FORMAT_GZIP_H
#define PETAL_FORMAT_GZIP_H

#include "format/format.h"

/* Do the bytes begin like a gzip file? */
bool petal_is_gzip(const uint8_t *bytes, uint64_t size_bytes);

#ifdef PETAL_WITH_ZLIB

/* Unpacks a gzip file, or its beginning, to at most `room` bytes at `to`; if that is NULL, only
 * counts them. *made becomes the number of bytes. With `whole`, the file must be one gzip member of
 * at most that many bytes, with the right checksum and nothing after it; otherwise unpacking stops
 * when the room is full. Allocates only zlib's 40 KiB or so, from the allocator or, if that is
 * NULL, with malloc. */
petal_status petal_gunzip(const uint8_t *bytes, uint64_t size_bytes, bool whole,
                          const petal_allocator *allocator, uint8_t *to, uint64_t room,
                          uint64_t *made, petal_error *error);

/* Writes the filter in this format through a compressing sink in front of `sink`. Stores no name
 * and no time: the same filter gives the same bytes with the same zlib. */
petal_status petal_gzip(const struct format_def *format, const petal_filter *filter,
                        const struct sink *sink, petal_error *error);

#endif
#endif

/* gzip.h - gzip for codecs, through zlib. PETAL_WITH_ZLIB is the one switch: a build without it
 * recognizes gzip and has neither the calls below nor the formats that need them. */
#ifndef PETAL_FORMAT_GZIP_H
#define PETAL_FORMAT_GZIP_H

#include "format/format.h"

/* Do the bytes begin as gzip does? */
bool petal_is_gzip(const uint8_t *bytes, uint64_t size_bytes);

#ifdef PETAL_WITH_ZLIB

/* Unpacks a gzip file, or its beginning, into at most `room` bytes at `to`; NULL: only counts.
 * *made: how many they are. With `whole` it must be one gzip member of that many bytes at most,
 * with the right checksum and nothing after it; without, it ends where the room does. The only
 * memory it takes is zlib's, some 40 KiB, from the allocator or, if that is NULL,
 * from malloc. */
petal_status petal_gunzip(const uint8_t *bytes, uint64_t size_bytes, bool whole,
                          const petal_allocator *allocator, uint8_t *to, uint64_t room,
                          uint64_t *made, petal_error *error);

/* Writes the filter in this format with a sink that packs, in front of `sink`. No name, no time:
 * the same filter gives the same bytes, as long as zlib is the same. */
petal_status petal_gzip(const struct format_def *format, const petal_filter *filter,
                        const struct sink *sink, petal_error *error);

#endif
#endif

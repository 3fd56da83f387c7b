/* gzip.h - compresses and decompresses gzip files for codecs, using zlib. PETAL_WITH_ZLIB is the
 * only switch. A build without it recognizes gzip, but has neither the calls below nor the formats
 * that need them. */
#ifndef PETAL_FORMAT_GZIP_H
#define PETAL_FORMAT_GZIP_H

#include "format/format.h"

/* Returns true if the bytes start like a gzip file. */
bool petal_is_gzip(const uint8_t *bytes, uint64_t size_bytes);

#ifdef PETAL_WITH_ZLIB

/* Unpacks a gzip file, or the start of one, to `to`, which has room for `room` bytes. If `to` is
 * NULL, only counts the bytes. Sets *made to the number of bytes. If `whole` is set, the file must
 * be one gzip member of at most `room` bytes, with the right checksum and nothing after it.
 * Otherwise unpacking stops when the buffer is full. Only zlib allocates memory, about 40 KiB. The
 * memory comes from the allocator, or from malloc if `allocator` is NULL. */
petal_status petal_gunzip(const uint8_t *bytes, uint64_t size_bytes, bool whole,
                          const petal_allocator *allocator, uint8_t *to, uint64_t room,
                          uint64_t *made, petal_error *error);

/* Writes the filter in this format, compressed, to `sink`. Stores neither a name nor a time, so the
 * same filter and the same zlib always produce the same bytes. */
petal_status petal_gzip(const struct format_def *format, const petal_filter *filter,
                        const struct sink *sink, petal_error *error);

#endif
#endif

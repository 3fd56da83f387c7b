/* unpack.h - files that gzip or zstd packed, unpacked as they are read. */
#ifndef PETAL_CLI_UNPACK_H
#define PETAL_CLI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unpacker;

/* Whether files of zstd are unpacked; of gzip, wherever the library has zlib. */
bool unpacks_zstd(void);

/* For one file after the other. NULL: out of memory. */
struct unpacker *unpack_make(void);
void unpack_free(struct unpacker *unpacker); /* NULL is allowed */

/* Another file begins. */
void unpack_begin(struct unpacker *unpacker);

/* Whether there is something to be had without reading. */
bool unpack_is_ready(const struct unpacker *unpacker);

/* As read(2) does, what the file holds unpacked, or as it is if it is not packed. -1 with EAGAIN:
 * it is to be called again. *trouble is NULL, or says that the file is damaged or cut off.
 * *taken_bytes goes up by what was read of the file itself. */
ssize_t unpack_read(struct unpacker *unpacker, int descriptor, void *to, size_t room,
                    uint64_t *taken_bytes, const char **trouble);

#endif

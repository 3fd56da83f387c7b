/* unpack.h - unpacks files compressed with gzip or zstd as they are read. */
#ifndef PETAL_CLI_UNPACK_H
#define PETAL_CLI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unpacker;

/* True if this build unpacks zstd. It unpacks gzip if the library has zlib. */
bool unpacks_zstd(void);

/* Creates an unpacker for any number of files, one after the other. Returns NULL if memory runs
 * out. */
struct unpacker *unpack_make(void);
void unpack_free(struct unpacker *unpacker); /* NULL is allowed */

/* Begins another file. */
void unpack_begin(struct unpacker *unpacker);

/* True if output is available without reading. */
bool unpack_is_ready(const struct unpacker *unpacker);

/* Like read(2): returns the file's contents, unpacked if they are packed. If it returns -1 with
 * EAGAIN, call it again. *trouble is NULL, or says that the file is damaged or truncated.
 * *taken_bytes grows by the number of bytes read from the file itself. */
ssize_t unpack_read(struct unpacker *unpacker, int descriptor, void *to, size_t room,
                    uint64_t *taken_bytes, const char **trouble);

#endif

/* saving.h - functions that all value types use when they are saved and loaded. */
#ifndef PETAL_REDIS_SAVING_H
#define PETAL_REDIS_SAVING_H

#include "server.h"

/* The maximum size of a piece in BF.SCANDUMP and AOF rewriting. */
#define MAX_CHUNK_BYTES ((uint64_t)16 << 20)

/* Saves a string; a child process saves a large one uncompressed. */
void save_string(RedisModuleIO *io, const uint8_t *bytes, uint64_t size_bytes);

/* True if the server is loading a file, its own or its master's. If so, it must accept what the
 * file contains. */
int is_loading(void);

#endif

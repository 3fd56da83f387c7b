/* saving.h - what all types of values need when they are saved and loaded. */
#ifndef PETAL_REDIS_SAVING_H
#define PETAL_REDIS_SAVING_H

#include "server.h"

/* What BF.SCANDUMP and AOF rewriting give at once. */
#define MAX_CHUNK_BYTES ((uint64_t)16 << 20)

/* Saves a string; a big one uncompressed, if that is in a child process. */
void save_string(RedisModuleIO *io, const uint8_t *bytes, uint64_t size_bytes);

/* A server that reads its own file, or its master's, takes what is there. */
int is_loading(void);

#endif

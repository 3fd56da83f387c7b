/* saving.h - what all types of values need to be saved and loaded. */
#ifndef PETAL_REDIS_SAVING_H
#define PETAL_REDIS_SAVING_H

#include "server.h"

/* The maximum piece of BF.SCANDUMP and AOF rewriting. */
#define MAX_CHUNK_BYTES ((uint64_t)16 << 20)

/* Saves a string; a child process saves a large one uncompressed. */
void save_string(RedisModuleIO *io, const uint8_t *bytes, uint64_t size_bytes);

/* A server that reads its own file, or its master's, must accept what it contains. */
int is_loading(void);

#endif

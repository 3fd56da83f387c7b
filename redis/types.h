/* types.h - the types of values, as the server stores them. */
#ifndef PETAL_REDIS_TYPES_H
#define PETAL_REDIS_TYPES_H

#include "value.h"

extern RedisModuleType *bloom_type;  /* RedisBloom's, MBbloom-- */
extern RedisModuleType *valkey_type; /* valkey-bloom's, bloomfltr */
extern RedisModuleType *petal_type;  /* Petal's own kinds, petal-flt */

/* What BF.SCANDUMP and AOF rewriting give at once. */
#define MAX_CHUNK_BYTES ((uint64_t)16 << 20)

/* The bytes of all layers, end to end, from `at` (0: the first): up to the end of that layer, and
 * at most MAX_CHUNK_BYTES. NULL after the last. */
const uint8_t *value_chunk(const struct value *value, uint64_t at, uint64_t *size_bytes);

/* Saves a string; a big one uncompressed, if that is in a child process. */
void types_save_string(RedisModuleIO *io, const uint8_t *bytes, uint64_t size_bytes);

/* A server that reads its own file, or its master's, takes what is there. */
int types_is_loading(void);

int types_register(RedisModuleCtx *ctx);

#endif

/* types.h - the types of values that the server stores. */
#ifndef PETAL_REDIS_TYPES_H
#define PETAL_REDIS_TYPES_H

#include "saving.h"
#include "value.h"

extern RedisModuleType *bloom_type;  /* RedisBloom's, MBbloom-- */
extern RedisModuleType *valkey_type; /* valkey-bloom's, bloomfltr */
extern RedisModuleType *petal_type;  /* Petal's own kinds, petal-flt */

/* Returns the bytes from offset `at`, counted over all layers end to end (0 for the first byte), up
 * to the end of that byte's layer, but at most MAX_CHUNK_BYTES. Returns NULL after the last. */
const uint8_t *value_chunk(const struct value *value, uint64_t at, uint64_t *size_bytes);

int types_register(RedisModuleCtx *ctx);

#endif

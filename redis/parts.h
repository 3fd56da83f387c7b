/* parts.h - petal files that arrive in pieces (PETAL.LOAD). The pieces received so far are stored
 * as a separate value, so that a transfer can resume after a lost connection, a restart or a
 * failover. */
#ifndef PETAL_REDIS_PARTS_H
#define PETAL_REDIS_PARTS_H

#include "value.h"

struct part;

extern RedisModuleType *part_type;

struct part *part_new(uint64_t total_bytes);
void part_free(void *part);
uint64_t part_size(const struct part *part);  /* bytes received */
uint64_t part_total(const struct part *part); /* bytes expected */

/* Appends a copy of these bytes. Returns false if memory runs out. */
int part_append(struct part *part, const char *bytes, size_t size_bytes);

/* Creates the filter from the complete file. Frees each piece as soon as the filter has it, so that
 * the file is never in memory twice. Returns NULL on failure. Either way, the part is empty
 * afterwards. */
struct value *part_finish(struct part *part, int unlimited, struct failure *failure);

int parts_register(RedisModuleCtx *ctx);

#endif

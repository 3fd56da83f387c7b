/* parts.h - petal files that arrive in pieces (PETAL.LOAD). The pieces received so far are a value
 * of their own, so that the transfer can continue after a lost connection, a restart or a
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

/* Copies the next bytes. False if there is no memory. */
int part_append(struct part *part, const char *bytes, size_t size_bytes);

/* Creates the filter from the whole file. Each piece is freed once the filter has received it, so
 * that the file is not in memory twice. NULL on failure. The part is empty in both cases. */
struct value *part_finish(struct part *part, int unlimited, struct failure *failure);

int parts_register(RedisModuleCtx *ctx);

#endif

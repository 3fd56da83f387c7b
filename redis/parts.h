/* parts.h - petal files that arrive in pieces (PETAL.LOAD): what has come so far is a value of its
 * own, so that a broken connection, a restart or a failover can go on where it ended. */
#ifndef PETAL_REDIS_PARTS_H
#define PETAL_REDIS_PARTS_H

#include "value.h"

struct part;

extern RedisModuleType *part_type;

struct part *part_new(uint64_t total_bytes);
void part_free(void *part);
uint64_t part_size(const struct part *part);  /* bytes that have come */
uint64_t part_total(const struct part *part); /* that there will be */

/* Copies the next bytes. False without memory. */
int part_append(struct part *part, const char *bytes, size_t size_bytes);

/* The filter of the whole file. The pieces are given back one by one, as they go into it, so that
 * the file is not in memory twice. NULL on failure; the part is empty in both cases. */
struct value *part_finish(struct part *part, int unlimited, struct failure *failure);

int parts_register(RedisModuleCtx *ctx);

#endif

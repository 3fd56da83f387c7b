/* hashset.h - an exact set of 64-bit hashes, for counting distinct keys before a filter is planned
 * for them. */
#ifndef PETAL_CLI_HASHSET_H
#define PETAL_CLI_HASHSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashset;

/* NULL: out of memory. */
struct hashset *hashset_make(void);
void hashset_free(struct hashset *set); /* NULL is allowed */

/* Adds `count` hashes. Several threads may do so at a time. False: out of memory; the set has some
 * of them. */
bool hashset_add(struct hashset *set, const uint64_t *hashes, size_t count);

uint64_t hashset_count(struct hashset *set);

/* The set's hashes come back in parts, which are counted from 0, each once and to be freed by the
 * caller: so the memory of a large set goes while a filter is filled from it. Nothing may be added
 * any more. Those of a part lie in one region of a filter. */
enum { HASHSET_PARTS = 64 };
uint64_t *hashset_take(struct hashset *set, unsigned part, size_t *count);

#endif

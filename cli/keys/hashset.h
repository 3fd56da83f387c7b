/* hashset.h - an exact set of 64-bit hashes, used to count distinct keys before planning a filter
 * for them. */
#ifndef PETAL_CLI_HASHSET_H
#define PETAL_CLI_HASHSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashset;

/* Returns NULL if memory runs out. */
struct hashset *hashset_make(void);
void hashset_free(struct hashset *set); /* NULL is allowed */

/* Adds `count` hashes. Thread-safe. Returns false if memory runs out. In that case the set contains
 * some of them. */
bool hashset_add(struct hashset *set, const uint64_t *hashes, size_t count);

uint64_t hashset_count(struct hashset *set);

/* Returns one part of the set; parts are numbered from 0. Each part can be taken once, and the
 * caller frees it, so a large set's memory shrinks while a filter is filled from it. No hash may be
 * added after the first call. The hashes of a part belong to one region of a filter. */
enum { HASHSET_PARTS = 64 };
uint64_t *hashset_take(struct hashset *set, unsigned part, size_t *count);

#endif

/* hashset.h - an exact set of 64-bit hashes, for counting distinct keys before a filter is planned for them. */
#ifndef PETAL_CLI_HASHSET_H
#define PETAL_CLI_HASHSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashset {
    uint64_t *slots; /* 0: free */
    unsigned log2_slots;
    uint64_t used; /* of the slots */
    bool has_zero; /* the hash 0, which no slot can hold */
};

/* False: out of memory. */
bool hashset_init(struct hashset *set);
void hashset_free(struct hashset *set);

/* Adds `count` hashes. False: out of memory; the set is as it was, or has some of them. */
bool hashset_add(struct hashset *set, const uint64_t *hashes, size_t count);

uint64_t hashset_count(const struct hashset *set);

/* The next up to `most` hashes into `out`, in table order; *at starts at 0. Returns how many; 0 at the end. */
size_t hashset_next(const struct hashset *set, uint64_t *at, uint64_t *out, size_t most);

#endif

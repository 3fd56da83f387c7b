/* hashset.c - see hashset.h.
 *
 * Open addressing with linear probing, doubled when three quarters full. The place of a hash is its high bits: then table
 * order is almost the order of the hashes, and a filter filled in it is written from front to back. */
#include "hashset.h"

#include <stdlib.h>

enum { FIRST_LOG2_SLOTS = 12, MOST_LOG2_SLOTS = 58 }; /* 2^58 slots of 8 bytes: beyond any address space */

bool hashset_init(struct hashset *set)
{
    *set = (struct hashset){.log2_slots = FIRST_LOG2_SLOTS};
    set->slots = calloc((size_t)1 << FIRST_LOG2_SLOTS, sizeof *set->slots);
    return set->slots != NULL;
}

void hashset_free(struct hashset *set)
{
    free(set->slots);
    *set = (struct hashset){0};
}

static uint64_t slot_count(const struct hashset *set)
{
    return (uint64_t)1 << set->log2_slots;
}

static uint64_t home(const struct hashset *set, uint64_t hash)
{
    return hash >> (64 - set->log2_slots);
}

static void insert(struct hashset *set, uint64_t hash)
{
    uint64_t mask = slot_count(set) - 1, at = home(set, hash);
    while (set->slots[at] != 0 && set->slots[at] != hash) at = (at + 1) & mask;
    set->used += set->slots[at] == 0;
    set->slots[at] = hash;
}

static bool grow(struct hashset *set)
{
    struct hashset larger = {.log2_slots = set->log2_slots + 1, .has_zero = set->has_zero};
    if (larger.log2_slots > MOST_LOG2_SLOTS) return false;
    larger.slots = calloc((size_t)slot_count(&larger), sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint64_t i = 0; i < slot_count(set); i++)
        if (set->slots[i]) insert(&larger, set->slots[i]);
    free(set->slots);
    *set = larger;
    return true;
}

bool hashset_add(struct hashset *set, const uint64_t *hashes, size_t count)
{
    while (set->used + count > slot_count(set) / 4 * 3)
        if (!grow(set)) return false;
    for (size_t i = 0; i < count; i++) __builtin_prefetch(&set->slots[home(set, hashes[i])], 1);
    for (size_t i = 0; i < count; i++) {
        if (hashes[i])
            insert(set, hashes[i]);
        else
            set->has_zero = true;
    }
    return true;
}

uint64_t hashset_count(const struct hashset *set)
{
    return set->used + set->has_zero;
}

size_t hashset_next(const struct hashset *set, uint64_t *at, uint64_t *out, size_t most)
{
    size_t count = 0;
    for (; *at < slot_count(set) && count < most; ++*at)
        if (set->slots[*at]) out[count++] = set->slots[*at];
    if (*at == slot_count(set) && set->has_zero && count < most) {
        out[count++] = 0;
        ++*at; /* only once */
    }
    return count;
}

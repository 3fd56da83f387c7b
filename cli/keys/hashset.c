/* hashset.c - see hashset.h.
 *
 * The high bits of a hash choose its part. Each part is a table with open addressing and linear
 * probing, which is doubled when it is three quarters full. So growing needs extra memory for only
 * one part at a time. A hash is multiplied by a random odd number to find its slot: attackers can
 * compute the hashes (XXH3 is not secret), but they still can't make them collide in the table.
 * Hashes are first sorted by part, and each part is locked once for all of its hashes. */
#define _GNU_SOURCE /* getentropy() */

#include "keys/hashset.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_LOG2_SLOTS = 10, MAX_LOG2_SLOTS = 56 }; /* larger than any address space */

struct part {
    pthread_mutex_t lock;
    uint64_t *slots; /* 0 if free */
    unsigned log2_slots;
    bool has_zero; /* true if the set contains the hash 0, which can't be stored in a slot */
    uint64_t used; /* used slots */
};

struct hashset {
    uint64_t multiplier;
    struct part parts[HASHSET_PARTS];
};

static unsigned part_of(uint64_t hash)
{
    return (unsigned)(hash >> 58);
}

/* The multiplier, an odd number. If the system provides no random bytes, it is derived from the
 * clock. */
static uint64_t random_multiplier(void)
{
    uint64_t number = 0;
    if (getentropy(&number, sizeof number) != 0) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        number = ((uint64_t)t.tv_sec << 30 ^ (uint64_t)t.tv_nsec) * 0x9e3779b97f4a7c15u;
    }
    return number | 1;
}

struct hashset *hashset_make(void)
{
    struct hashset *set = calloc(1, sizeof *set);
    bool good = set != NULL;
    for (unsigned i = 0; i < HASHSET_PARTS && set; i++) {
        struct part *part = &set->parts[i];
        pthread_mutex_init(&part->lock, NULL);
        part->log2_slots = FIRST_LOG2_SLOTS;
        part->slots = calloc((size_t)1 << FIRST_LOG2_SLOTS, sizeof *part->slots);
        good = good && part->slots;
    }
    if (set) set->multiplier = random_multiplier();
    if (good) return set;
    hashset_free(set);
    return NULL;
}

void hashset_free(struct hashset *set)
{
    for (unsigned i = 0; i < HASHSET_PARTS && set; i++) {
        free(set->parts[i].slots);
        pthread_mutex_destroy(&set->parts[i].lock);
    }
    free(set);
}

/* ---- a part ---------------------------------------------------------------------------------- */

static uint64_t slot_count(const struct part *part)
{
    return (uint64_t)1 << part->log2_slots;
}

static uint64_t home(const struct part *part, uint64_t multiplier, uint64_t hash)
{
    return hash * multiplier >> (64 - part->log2_slots);
}

static void insert(struct part *part, uint64_t multiplier, uint64_t hash)
{
    uint64_t mask = slot_count(part) - 1, at = home(part, multiplier, hash);
    while (part->slots[at] != 0 && part->slots[at] != hash) at = (at + 1) & mask;
    part->used += part->slots[at] == 0;
    part->slots[at] = hash;
}

static bool grow(struct part *part, uint64_t multiplier)
{
    struct part before = *part;
    if (part->log2_slots == MAX_LOG2_SLOTS) return false;
    uint64_t *larger = calloc((size_t)slot_count(part) * 2, sizeof *larger);
    if (!larger) return false;
    part->slots = larger;
    part->log2_slots++;
    part->used = 0;
    for (uint64_t i = 0; i < slot_count(&before); i++)
        if (before.slots[i]) insert(part, multiplier, before.slots[i]);
    free(before.slots);
    return true;
}

static bool add_to_part(struct part *part, uint64_t multiplier, const uint64_t *hashes,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&part->slots[home(part, multiplier, hashes[i])], 1);
    for (size_t i = 0; i < count; i++) {
        if (part->used >= slot_count(part) / 4 * 3 && !grow(part, multiplier)) return false;
        if (hashes[i])
            insert(part, multiplier, hashes[i]);
        else
            part->has_zero = true;
    }
    return true;
}

/* ---- the set --------------------------------------------------------------------------------- */

enum { SORTED_AT_ONCE = 4096 };

/* A counting sort by part: from[p] and from[p + 1] are the bounds of part p. */
static void sort_by_part(const uint64_t *hashes, size_t count, uint64_t *sorted,
                         size_t from[HASHSET_PARTS + 1])
{
    size_t to[HASHSET_PARTS];
    memset(from, 0, (HASHSET_PARTS + 1) * sizeof *from);
    for (size_t i = 0; i < count; i++) from[part_of(hashes[i]) + 1]++;
    for (unsigned p = 0; p < HASHSET_PARTS; p++) to[p] = from[p + 1] += from[p];
    for (size_t i = count; i-- > 0;) sorted[--to[part_of(hashes[i])]] = hashes[i];
}

static bool add_some(struct hashset *set, const uint64_t *hashes, size_t count)
{
    uint64_t sorted[SORTED_AT_ONCE];
    size_t from[HASHSET_PARTS + 1];
    bool good = true;
    sort_by_part(hashes, count, sorted, from);
    for (unsigned p = 0; p < HASHSET_PARTS && good; p++) {
        if (from[p] == from[p + 1]) continue;
        pthread_mutex_lock(&set->parts[p].lock);
        good =
            add_to_part(&set->parts[p], set->multiplier, sorted + from[p], from[p + 1] - from[p]);
        pthread_mutex_unlock(&set->parts[p].lock);
    }
    return good;
}

bool hashset_add(struct hashset *set, const uint64_t *hashes, size_t count)
{
    for (size_t piece; count > 0; hashes += piece, count -= piece) {
        piece = count < SORTED_AT_ONCE ? count : SORTED_AT_ONCE;
        if (!add_some(set, hashes, piece)) return false;
    }
    return true;
}

uint64_t hashset_count(struct hashset *set)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < HASHSET_PARTS; i++) {
        struct part *part = &set->parts[i];
        pthread_mutex_lock(&part->lock);
        count += part->used + part->has_zero;
        pthread_mutex_unlock(&part->lock);
    }
    return count;
}

uint64_t *hashset_take(struct hashset *set, unsigned number, size_t *count)
{
    struct part *part = &set->parts[number];
    uint64_t *slots = part->slots;
    *count = 0;
    for (uint64_t i = 0; i < slot_count(part); i++)
        if (slots[i]) slots[(*count)++] = slots[i];
    if (part->has_zero) slots[(*count)++] = 0; /* fits, because a quarter of the slots are free */
    part->slots = NULL;
    return slots;
}

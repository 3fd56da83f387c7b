/* keys.h - any number of keys, generated from consecutive numbers. No input is read, and any part
 * can be regenerated. */
#ifndef PETAL_BENCH_KEYS_H
#define PETAL_BENCH_KEYS_H

#include "bench.h"

enum keys_of {
    MEMBERS, /* numbers 0, 1, 2, ... */
    ABSENT,  /* numbers that no other kind uses */
    MIXED,   /* half random members, half absent, in random order */
    /* like links that arrive at a crawler: half are new members, and half are random earlier
     * ones */
    STREAM
};

#define ADDRESS_BYTES 28u

/* Allocates space for `max` keys. Returns false if memory runs out. */
bool take_keys(struct keys *keys, size_t max, bool addresses);
void drop_keys(struct keys *keys);

/* Generates `count` keys of a kind, starting with number `from`. For MIXED keys, `members` is the
 * number of members to choose from. Returns the number of members (MIXED) or of new keys
 * (STREAM). */
size_t fill_keys(struct keys *keys, enum keys_of kind, uint64_t from, size_t count,
                 uint64_t members);

/* Returns `count` of the keys, starting at index `from`. */
struct keys some_keys(const struct keys *keys, size_t from, size_t count);

#endif

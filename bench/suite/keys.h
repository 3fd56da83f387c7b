/* keys.h - any number of keys, made by counting: nothing is read, and any part can be made
 * again. */
#ifndef PETAL_BENCH_KEYS_H
#define PETAL_BENCH_KEYS_H

#include "bench.h"

enum keys_of {
    MEMBERS, /* numbers 0, 1, 2, ... */
    ABSENT,  /* numbers that no other kind has */
    MIXED,   /* in random order: half of them random members, half absent */
    /* members as they arrive at a crawler: half of them new, half random earlier ones */
    STREAM
};

#define ADDRESS_BYTES 28u

/* Makes room for `max` keys; false: no memory. */
bool take_keys(struct keys *keys, size_t max, bool addresses);
void drop_keys(struct keys *keys);

/* Fills in `count` keys of a kind, from number `from` on. `members` is how many there are to choose
 * from (MIXED). Returns how many of them are members (MIXED) or new (STREAM). */
size_t fill_keys(struct keys *keys, enum keys_of kind, uint64_t from, size_t count,
                 uint64_t members);

/* `count` of them, from index `from` on. */
struct keys some_keys(const struct keys *keys, size_t from, size_t count);

#endif

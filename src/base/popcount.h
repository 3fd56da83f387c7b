/* popcount.h - counts the set bits of an array, with the best instructions of this CPU. */
#ifndef PETAL_BASE_POPCOUNT_H
#define PETAL_BASE_POPCOUNT_H

#include <stdint.h>

/* Byte order doesn't matter for a count. */
uint64_t petal_popcount(const uint8_t *bytes, uint64_t size_bytes);

/* The ways to count, fastest first; the last runs on every CPU. `needs` are features of
 * base/cpu.h. */
struct popcount_level {
    const char *name;
    unsigned needs;
    uint64_t (*count)(const uint8_t *bytes, uint64_t size_bytes);
};

extern const struct popcount_level petal_popcount_levels[];

/* The first level that this CPU can run. */
const struct popcount_level *petal_popcount_level(void);

#endif

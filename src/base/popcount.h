/* popcount.h - how many bits are set in an array: with what this CPU has. */
#ifndef PETAL_BASE_POPCOUNT_H
#define PETAL_BASE_POPCOUNT_H

#include <stdint.h>

/* The byte order does not matter for a count. */
uint64_t petal_popcount(const uint8_t *bytes, uint64_t size_bytes);

/* The ways to count, the fastest first; the last is for every CPU. `needs` is of base/cpu.h. */
struct popcount_level {
    const char *name;
    unsigned needs;
    uint64_t (*count)(const uint8_t *bytes, uint64_t size_bytes);
};

extern const struct popcount_level petal_popcount_levels[];

/* The first that this CPU can run. */
const struct popcount_level *petal_popcount_level(void);

#endif

/* popcount.h - counts the set bits of an array, with the fastest instructions that this CPU has. */
#ifndef PETAL_BASE_POPCOUNT_H
#define PETAL_BASE_POPCOUNT_H

#include <stdint.h>

/* Byte order doesn't matter for a count. */
uint64_t petal_popcount(const uint8_t *bytes, uint64_t size_bytes);

/* The ways to count, fastest first; the last one runs on every CPU. `needs` are CPU features
 * (base/cpu.h). */
struct popcount_level {
    const char *name;
    unsigned needs;
    uint64_t (*count)(const uint8_t *bytes, uint64_t size_bytes);
};

extern const struct popcount_level petal_popcount_levels[];

/* Returns the first level that this CPU can run. */
const struct popcount_level *petal_popcount_level(void);

#endif

/* checked.h - overflow-checked arithmetic on untrusted sizes. These functions report overflow, so a
 * size that is too large is rejected and never wraps. */
#ifndef PETAL_BASE_CHECKED_H
#define PETAL_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets *sum = a + b. On overflow, returns false and leaves *sum unchanged. */
static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    if (b > UINT64_MAX - a) return false;
    *sum = a + b;
    return true;
}

/* Sets *product = a * b. On overflow, returns false and leaves *product unchanged. */
static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *product)
{
    if (a != 0 && b > UINT64_MAX / a) return false;
    *product = a * b;
    return true;
}

/* Sets *rounded to x, rounded up to a multiple of `unit`. Returns false on overflow. */
static inline bool checked_round_up(uint64_t x, uint64_t unit, uint64_t *rounded)
{
    uint64_t rest = x % unit;
    return checked_add(x, rest ? unit - rest : 0, rounded);
}

/* Returns the smaller of `count` and `max`, for example as the size of the next piece. */
static inline size_t at_most(uint64_t count, uint64_t max)
{
    return (size_t)(count < max ? count : max);
}

/* Counts saturate: a hint that sticks at its maximum is better than one that wraps to 0. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

#endif

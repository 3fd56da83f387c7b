/* divide.h - computes the remainders of many numbers modulo the same divisor, exactly and without a
 * division.
 *
 * A division costs as much as the rest of a probe. So r = floor((2^64 - 1) / m) is computed only
 * once, and then for each x:
 *
 *     q = floor(x * r / 2^64), rest = x - q * m, and m is subtracted once more if rest >= m
 *
 * Why one subtraction is enough: 2^64 = m * r + e with 1 <= e <= m, so x * r / 2^64 = x / m - (x /
 * 2^64) * (e / m), which is less than 1 below x / m. Hence q is floor(x / m) or one less, for every
 * x below 2^64 and every m from 1 up: 0 <= rest < 2 * m, and rest <= x, so nothing wraps.
 * (Barrett's reduction, 1986, with the reciprocal rounded down.) */
#ifndef PETAL_BASE_DIVIDE_H
#define PETAL_BASE_DIVIDE_H

#include "base/bytes.h"

struct divisor {
    uint64_t by, reciprocal;
};

/* The divisor `by` must be at least 1. */
static inline struct divisor divisor_of(uint64_t by)
{
    return (struct divisor){by, UINT64_MAX / by};
}

/* x % divisor.by */
static inline uint64_t rest_of(uint64_t x, struct divisor divisor)
{
    uint64_t rest = x - mulhi64(x, divisor.reciprocal) * divisor.by;
    return rest < divisor.by ? rest : rest - divisor.by;
}

/* |x % divisor.by| for a signed x: in Java and C the remainder has the sign of x. Works for
 * INT64_MIN too. */
static inline uint64_t signed_rest_of(int64_t x, struct divisor divisor)
{
    uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    return rest_of(magnitude, divisor);
}

#endif

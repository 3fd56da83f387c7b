/* amount.h - sets the length of a long test: full length in ./dev nightly, a tenth of it
 * otherwise. */
#ifndef PETAL_TESTS_AMOUNT_H
#define PETAL_TESTS_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool is_nightly(void)
{
    return getenv("PETAL_NIGHTLY") != NULL;
}

static inline uint64_t nightly_amount(uint64_t amount)
{
    return is_nightly() ? amount : amount / 10;
}

#endif

/* two_words.h - implements the walk of many libraries, which starts at the first word of the hash,
 * and adds the second word at each step. */
#ifndef PETAL_SCHEME_TWO_WORDS_H
#define PETAL_SCHEME_TWO_WORDS_H

#include "scheme/scheme.h"

struct walk {
    uint64_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash[0], hash[1], array->modulus};
}

#endif

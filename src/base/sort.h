/* sort.h - sorting hashes. */
#ifndef PETAL_BASE_SORT_H
#define PETAL_BASE_SORT_H

#include <stdint.h>

/* Ascending, in place, whatever the numbers are: about 9 passes at most. */
void petal_sort64(uint64_t *numbers, uint64_t count);

/* Which of these parts a number belongs to, by its highest byte: the
 * parts sorted one by one are all sorted. */
#define PETAL_SORT_PARTS 256u
static inline uint32_t sort_part(uint64_t number)
{
    return (uint32_t)(number >> 56);
}

/* Sorts a part: numbers that are alike in their highest 8 bits. */
void petal_sort64_part(uint64_t *numbers, uint64_t count);

#endif

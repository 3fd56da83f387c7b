/* sort.h - sorts hashes. */
#ifndef PETAL_BASE_SORT_H
#define PETAL_BASE_SORT_H

#include <stdint.h>

/* Sorts the numbers in place, in ascending order. Makes at most about 9 passes, whatever the
 * numbers are. */
void petal_sort64(uint64_t *numbers, uint64_t count);

/* Returns the part to which a number belongs, according to its highest byte. Once each part is
 * sorted, so is the whole array. */
#define PETAL_SORT_PARTS 256u
static inline uint32_t sort_part(uint64_t number)
{
    return (uint32_t)(number >> 56);
}

/* Sorts a part, whose numbers all have the same highest 8 bits. */
void petal_sort64_part(uint64_t *numbers, uint64_t count);

#endif

/* sort.h - sorts hashes. */
#ifndef PETAL_BASE_SORT_H
#define PETAL_BASE_SORT_H

#include <stdint.h>

/* Ascending, in place, for any numbers: at most about 9 passes. */
void petal_sort64(uint64_t *numbers, uint64_t count);

/* The part that a number belongs to, chosen by its highest byte: once each part is sorted, all
 * numbers are. */
#define PETAL_SORT_PARTS 256u
static inline uint32_t sort_part(uint64_t number)
{
    return (uint32_t)(number >> 56);
}

/* Sorts a part: numbers whose highest 8 bits are equal. */
void petal_sort64_part(uint64_t *numbers, uint64_t count);

#endif

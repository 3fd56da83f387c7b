/* sort.c - see sort.h. Radix sort from the highest byte down, in place (McIlroy, Bostic, McIlroy:
 * "Engineering Radix Sort", 1993, the American flag): swaps move each number to the bucket of its
 * byte, and then each bucket is sorted by the next byte. Small buckets are sorted by insertion. */
#include "base/sort.h"

#define FEW 48u
#define BYTE_VALUES 256u
#define HIGHEST_SHIFT 56u
#define BYTE_BITS 8u

static void insert_each(uint64_t *numbers, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t number = numbers[i], at = i;
        for (; at > 0 && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static inline uint32_t byte_of(uint64_t number, unsigned shift)
{
    return (uint8_t)(number >> shift);
}

/* Moves each number to its bucket; ends[i] is where bucket i ends. */
static void deal(uint64_t *numbers, uint64_t count, unsigned shift, uint64_t ends[BYTE_VALUES])
{
    uint64_t next[BYTE_VALUES], sum = 0;
    for (uint32_t i = 0; i < BYTE_VALUES; i++) ends[i] = 0;
    for (uint64_t i = 0; i < count; i++) ends[byte_of(numbers[i], shift)]++;
    for (uint32_t i = 0; i < BYTE_VALUES; i++) {
        next[i] = sum;
        sum += ends[i];
        ends[i] = sum;
    }
    for (uint32_t i = 0; i < BYTE_VALUES; i++)
        while (next[i] < ends[i]) {
            uint64_t number = numbers[next[i]];
            for (uint32_t own = byte_of(number, shift); own != i; own = byte_of(number, shift)) {
                uint64_t other = numbers[next[own]];
                numbers[next[own]++] = number;
                number = other;
            }
            numbers[next[i]++] = number;
        }
}

/* Recursion ends after the lowest byte: 8 levels. */
static void sort_from(uint64_t *numbers, uint64_t count, unsigned shift)
{
    uint64_t ends[BYTE_VALUES], begin = 0;
    if (count <= FEW) {
        insert_each(numbers, count);
        return;
    }
    deal(numbers, count, shift, ends);
    if (shift == 0) return;
    for (uint32_t i = 0; i < BYTE_VALUES; i++) {
        if (ends[i] - begin > 1) sort_from(numbers + begin, ends[i] - begin, shift - BYTE_BITS);
        begin = ends[i];
    }
}

void petal_sort64(uint64_t *numbers, uint64_t count)
{
    sort_from(numbers, count, HIGHEST_SHIFT);
}

void petal_sort64_part(uint64_t *numbers, uint64_t count)
{
    sort_from(numbers, count, HIGHEST_SHIFT - BYTE_BITS);
}

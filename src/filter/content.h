/* content.h - checksums of the bits by blocks, and the id of a filter's content made of them. */
#ifndef PETAL_FILTER_CONTENT_H
#define PETAL_FILTER_CONTENT_H

#include "filter/filter.h"

/* How many blocks of PETAL_BLOCK_BYTES an array has; the last may be shorter. */
uint64_t petal_block_count(const struct bit_array *array);

/* XXH3 of a block of the array, seeded with its number in the file, so that swapped blocks are
 * noticed. Blocks are numbered through all layers. */
uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number);

/* The id starts from the parameters and takes in one block sum after the other: equal for equal
 * filters, whatever the order in which keys came. Items, capacity, rate and metadata are no part of
 * it. */
uint64_t petal_content_start(const petal_filter *filter);
uint64_t petal_content_add(uint64_t id, uint64_t block_sum);

/* All of it, from the bits as they are. */
uint64_t petal_content_of_bits(const petal_filter *filter);

#endif

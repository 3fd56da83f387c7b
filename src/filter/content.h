/* content.h - computes the checksums of blocks of bits and, from these checksums, a filter's
 * content id. */
#ifndef PETAL_FILTER_CONTENT_H
#define PETAL_FILTER_CONTENT_H

#include "filter/filter.h"

/* Returns the number of PETAL_BLOCK_BYTES blocks in an array. The last block may be shorter. */
uint64_t petal_block_count(const struct bit_array *array);

/* Returns the XXH3 of a block of the array, seeded with its number in the file, so that swapped
 * blocks are detected. Blocks are numbered across all layers. */
uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number);

/* The content id is a hash of the parameters and the block sums, in order. Equal filters have equal
 * ids, whatever the order in which keys were added. The id does not cover items, capacity, rate or
 * metadata. */
uint64_t petal_content_start(const petal_filter *filter);
uint64_t petal_content_add(uint64_t id, uint64_t block_sum);

/* Computes the content id from all bits. */
uint64_t petal_content_of_bits(const petal_filter *filter);

#endif

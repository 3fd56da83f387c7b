/* content.h - checksums of blocks of bits, and a filter's content id, which is computed from
 * them. */
#ifndef PETAL_FILTER_CONTENT_H
#define PETAL_FILTER_CONTENT_H

#include "filter/filter.h"

/* Returns the number of PETAL_BLOCK_BYTES blocks in an array. The last one may be shorter. */
uint64_t petal_block_count(const struct bit_array *array);

/* Returns the XXH3 of a block of the array, seeded with its number in the file, so that swapped
 * blocks are noticed. Blocks are numbered across all layers. */
uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number);

/* The id is the hash of the parameters, followed by the block sums in order. Equal filters have
 * equal ids, whatever the order in which keys were added. The id does not cover items, capacity,
 * rate and metadata. */
uint64_t petal_content_start(const petal_filter *filter);
uint64_t petal_content_add(uint64_t id, uint64_t block_sum);

/* Computes the id from all bits. */
uint64_t petal_content_of_bits(const petal_filter *filter);

#endif

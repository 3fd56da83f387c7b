/* content.h - checksums of blocks of bits, and the id of a filter's content computed from them. */
#ifndef PETAL_FILTER_CONTENT_H
#define PETAL_FILTER_CONTENT_H

#include "filter/filter.h"

/* The number of PETAL_BLOCK_BYTES blocks in an array; the last may be shorter. */
uint64_t petal_block_count(const struct bit_array *array);

/* XXH3 of a block of the array, seeded with its number in the file, so that swapped blocks are
 * noticed. Blocks are numbered across all layers. */
uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number);

/* The id starts from the parameters and then adds the block sums in order: equal for equal filters,
 * in whatever order keys came. It does not cover items, capacity, rate and metadata. */
uint64_t petal_content_start(const petal_filter *filter);
uint64_t petal_content_add(uint64_t id, uint64_t block_sum);

/* Computes it completely from the current bits. */
uint64_t petal_content_of_bits(const petal_filter *filter);

#endif

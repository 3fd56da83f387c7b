/* content.h - checksums of blocks of bits, and a filter's content id, which is computed from
 * them. */
#ifndef PETAL_FILTER_CONTENT_H
#define PETAL_FILTER_CONTENT_H

#include "filter/filter.h"

/* The number of PETAL_BLOCK_BYTES blocks in an array; the last may be shorter. */
uint64_t petal_block_count(const struct bit_array *array);

/* XXH3 of a block of the array, seeded with its number in the file, so that swapped blocks are
 * noticed. Blocks are numbered across all layers. */
uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number);

/* The id hashes the parameters and then the block sums in order. It is equal for equal filters,
 * whatever the order in which keys were added. It does not cover items, capacity, rate and
 * metadata. */
uint64_t petal_content_start(const petal_filter *filter);
uint64_t petal_content_add(uint64_t id, uint64_t block_sum);

/* Computes the id from all current bits. */
uint64_t petal_content_of_bits(const petal_filter *filter);

#endif

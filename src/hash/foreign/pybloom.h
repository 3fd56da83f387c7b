/* pybloom.h - the hash of pybloom_live 4, which depends on the number and size of a filter's
 * slices. */
#ifndef PETAL_HASH_PYBLOOM_H
#define PETAL_HASH_PYBLOOM_H

#include "hash/hash.h"

/* Computes one word per slice. The scheme reduces each word mod slice_bits. */
void petal_pybloom_hash(uint32_t slices, uint64_t slice_bits, const void *data, size_t size_bytes,
                        uint64_t *words);

/* Returns the number of hash bits in each word. */
uint32_t petal_pybloom_chunk_bits(uint64_t slice_bits);

#endif

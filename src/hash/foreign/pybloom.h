/* pybloom.h - the hash of pybloom_live 4. It depends on the number of slices of a filter and on
 * their size. */
#ifndef PETAL_HASH_PYBLOOM_H
#define PETAL_HASH_PYBLOOM_H

#include "hash/hash.h"

/* Computes one word per slice. The scheme reduces it mod slice_bits. */
void petal_pybloom_hash(uint32_t slices, uint64_t slice_bits, const void *data, size_t size_bytes,
                        uint64_t *words);

/* Returns the number of bits in a word. */
uint32_t petal_pybloom_chunk_bits(uint64_t slice_bits);

#endif

/* parquet_block.h - chooses a key's block, and defines the salts, for all kernels of the `parquet`
 * scheme. The comment at the top of parquet_scheme.c explains the rule. */
#ifndef PETAL_SCHEME_PARQUET_BLOCK_H
#define PETAL_SCHEME_PARQUET_BLOCK_H

#include "scheme/scheme.h"

#define WORDS 8u
#define WORD_BITS 32u
#define BLOCK_BYTES 32u
#define BLOCK_BITS 256u

static const uint32_t salts[WORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

static inline uint8_t *block_of(const struct bit_array *array, uint64_t hash)
{
    return array->bytes + ((hash >> 32) * (array->shape.bits / BLOCK_BITS) >> 32) * BLOCK_BYTES;
}

extern const struct kernel petal_parquet_avx2;

#endif

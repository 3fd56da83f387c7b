/* parquet.h - the header of a Parquet Bloom filter, for those who read one alone and those who find
 * it inside a file. */
#ifndef PETAL_FORMAT_PARQUET_H
#define PETAL_FORMAT_PARQUET_H

#include "format/format.h"

/* What a BloomFilterHeader says. */
struct parquet_header {
    uint32_t header_bytes; /* of the header itself; the blocks follow */
    uint32_t bitset_bytes; /* of the blocks: a multiple of 32, at least 32 */
};

/* Reads and checks a header at the start of `bytes`, which may be cut off after it. `offset` is
 * where the bytes lie in the file, for messages. */
petal_status petal_parquet_read_header(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                       struct parquet_header *header, petal_error *error);

#endif

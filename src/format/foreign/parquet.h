/* parquet.h - the header of a Parquet Bloom filter, for reading one on its own and for finding them
 * within a file. */
#ifndef PETAL_FORMAT_PARQUET_H
#define PETAL_FORMAT_PARQUET_H

#include "format/format.h"

/* The contents of a BloomFilterHeader. */
struct parquet_header {
    uint32_t header_bytes; /* size of the header itself; the blocks follow */
    uint32_t bitset_bytes; /* size of the blocks: a multiple of 32, at least 32 */
};

/* Reads and checks a header at the start of `bytes`, which may end right after it. `offset` is the
 * position of the bytes in the file, for messages. */
petal_status petal_parquet_read_header(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                       struct parquet_header *header, petal_error *error);

#endif

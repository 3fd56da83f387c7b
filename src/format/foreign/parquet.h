/* parquet.h - reads the header of a Parquet Bloom filter, for a single filter and for the filters
 * in a .parquet file. */
#ifndef PETAL_FORMAT_PARQUET_H
#define PETAL_FORMAT_PARQUET_H

#include "format/format.h"

/* The contents of a BloomFilterHeader. */
struct parquet_header {
    uint32_t header_bytes; /* size of the header, which precedes the blocks */
    uint32_t bitset_bytes; /* size of the blocks in bytes: a multiple of 32, at least 32 */
};

/* Reads and checks a header at the start of `bytes`. The bytes may end right after the header.
 * `offset` is the position of `bytes` in the file, for error messages. */
petal_status petal_parquet_read_header(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                       struct parquet_header *header, petal_error *error);

#endif

/* parquet.h - the header of a Parquet Bloom filter. It is needed to read a single filter, and to
 * find the filters in a file. */
#ifndef PETAL_FORMAT_PARQUET_H
#define PETAL_FORMAT_PARQUET_H

#include "format/format.h"

/* The values in a BloomFilterHeader. */
struct parquet_header {
    uint32_t header_bytes; /* size of the header; the blocks follow it */
    uint32_t bitset_bytes; /* size of the blocks: a multiple of 32, at least 32 */
};

/* Reads and checks a header at the start of `bytes`. The bytes may end right after it. `offset` is
 * their position in the file, for messages. */
petal_status petal_parquet_read_header(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                       struct parquet_header *header, petal_error *error);

#endif

/* petal_parquet.h - finds the Bloom filters inside a Parquet file.
 *
 * To query one:
 *
 *     petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
 *     options.format = "parquet";
 *     petal_view(bytes + list[i].offset, list[i].size_bytes, &options, &filter, NULL);
 *
 * A key may be in a column if the filter of any of its row groups contains it. */
#ifndef PETAL_PARQUET_H
#define PETAL_PARQUET_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PETAL_PARQUET_COLUMN_BYTES 256

/* Describes the filter of one column in one row group. This struct never grows. */
typedef struct petal_parquet_filter {
    /* The column's path in the schema, such as "a.b.c", truncated to fit and 0-terminated. Control
     * characters are replaced by '?'. */
    char column[PETAL_PARQUET_COLUMN_BYTES];
    uint32_t row_group;     /* from 0 */
    uint32_t column_number; /* leaf columns are counted from 0; distinguishes equal names */
    /* "INT64", "BYTE_ARRAY", ...: keys have this type's plain encoding. Static storage */
    const char *physical_type;
    uint64_t offset;     /* offset of the filter in the file */
    uint64_t size_bytes; /* size of the filter */
    uint64_t blocks;     /* number of blocks, of 32 bytes each */
    /* 1 if the column is encrypted. If it has a filter, that filter can't be read; offset and sizes
     * are 0. */
    uint8_t encrypted;
    uint8_t reserved[7];
} petal_parquet_filter;

/* Lists all Bloom filters in a Parquet file, in the order of its row groups and columns. `bytes`
 * must be the whole file. Writes up to `room` filters, and sets *count to their total number. Safe
 * to call with hostile bytes.
 *   PETAL_ERR_NOT_A_FILTER  the bytes are not a Parquet file
 *   PETAL_ERR_TRUNCATED, PETAL_ERR_DAMAGED
 *   PETAL_ERR_UNSUPPORTED   the footer is encrypted, or this build does not support Parquet
 * Cost: O(footer), plus reading each filter's header. */
PETAL_API petal_status petal_parquet_list(const void *bytes, uint64_t size_bytes,
                                          petal_parquet_filter *list, uint64_t room,
                                          uint64_t *count, petal_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* petal_parquet.h - finds the Bloom filters inside a Parquet file.
 *
 * To query one:
 *
 *     petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
 *     options.format = "parquet";
 *     petal_view(bytes + list[i].offset, list[i].size_bytes, &options, &filter, NULL);
 *
 * A key is in a column if the filter of any of its row groups contains it. */
#ifndef PETAL_PARQUET_H
#define PETAL_PARQUET_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PETAL_PARQUET_COLUMN_BYTES 256

/* The filter for one column in one row group. Does not grow. */
typedef struct petal_parquet_filter {
    /* Its path in the schema, "a.b.c", truncated to fit and 0-terminated; control characters are
     * replaced by '?'. */
    char column[PETAL_PARQUET_COLUMN_BYTES];
    uint32_t row_group;     /* from 0 */
    uint32_t column_number; /* of the leaf column, from 0: tells columns of the same name apart */
    /* "INT64", "BYTE_ARRAY", ...: keys are its plain encoding; static storage */
    const char *physical_type;
    uint64_t offset;     /* of the filter in the file */
    uint64_t size_bytes; /* of the filter */
    uint64_t blocks;     /* of 32 bytes */
    /* 1 if the column is encrypted. It may have a filter, but that can't be read; offset and sizes
     * are 0. */
    uint8_t encrypted;
    uint8_t reserved[7];
} petal_parquet_filter;

/* Lists the Bloom filters in a whole Parquet file, in the order of its row groups and columns.
 * Writes up to `room` of them, and sets *count to how many there are. Safe on hostile bytes.
 *   PETAL_ERR_NOT_A_FILTER  not a Parquet file
 *   PETAL_ERR_TRUNCATED, PETAL_ERR_DAMAGED
 *   PETAL_ERR_UNSUPPORTED   the footer is encrypted, or this build has no Parquet
 * Cost: O(footer), and the header of each filter. */
PETAL_API petal_status petal_parquet_list(const void *bytes, uint64_t size_bytes,
                                          petal_parquet_filter *list, uint64_t room,
                                          uint64_t *count, petal_error *error);

#ifdef __cplusplus
}
#endif
#endif

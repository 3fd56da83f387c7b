/* parquet.h - the Bloom filters inside .parquet files: lists them, and extracts one. */
#ifndef PETAL_CLI_PARQUET_H
#define PETAL_CLI_PARQUET_H

#include <petal/petal_parquet.h>
#include <stdbool.h>

/* True if the file starts and ends like a Parquet file. */
bool is_parquet_file(const char *path);

/* Prints one line per filter in the file, or a JSON object. Returns false after reporting an
 * error. */
bool list_parquet(const char *path, bool json);

/* If the value of --from is "parquet:COLUMN" or "parquet:COLUMN:ROWGROUP", returns the text after
 * the first colon, otherwise NULL. */
const char *parquet_place(const char *from);

/* Returns a copy of the filter in the given column and row group. If no row group is given, the
 * column must have only one filter. Returns NULL after reporting an error. */
petal_filter *open_parquet_place(const char *path, const char *place);

#endif

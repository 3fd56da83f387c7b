/* parquet.h - the Bloom filters that stand inside .parquet files: listed, and one of them taken
 * out. */
#ifndef PETAL_CLI_PARQUET_H
#define PETAL_CLI_PARQUET_H

#include <petal/petal_parquet.h>
#include <stdbool.h>

/* Does the file begin and end as a Parquet file does? */
bool is_parquet_file(const char *path);

/* Prints a line for each filter in the file, or a JSON object. False: reported. */
bool list_parquet(const char *path, bool json);

/* "parquet:COLUMN" or "parquet:COLUMN:ROWGROUP" of --from: NULL if it is not of this form, else
 * what follows the colon. */
const char *parquet_place(const char *from);

/* A copy of the filter at such a place; of the only row group if none is named.
 * NULL: reported. */
petal_filter *open_parquet_place(const char *path, const char *place);

#endif

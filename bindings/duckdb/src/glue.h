/* glue.h - what the files of the DuckDB extension share.
 *
 *   extension.c   the entry point: registers the functions, one overload per combination of types
 *   contains.c    petal_contains()
 *   build.c       the aggregate petal_build()
 *   merge.c       the aggregate petal_merge()
 *   info.c        petal_info(), and the table function petal_formats()
 *   source.c      opens the first argument, a file's name or a blob, as a filter
 *   keys.c        turns a column of keys into a batch
 *   result.c      returns failures and filters as results
 *   library.c     what all functions of a database share
 *
 * ../sql contains what this extension shares with those for other databases. DuckDB calls functions
 * from several threads. It passes columns of up to 2,048 rows, in which constants and dictionaries
 * have been expanded. */
#ifndef PETAL_DUCKDB_GLUE_H
#define PETAL_DUCKDB_GLUE_H

/* The stable API of DuckDB 1.2, which later versions also provide. */
#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#define DUCKDB_EXTENSION_NAME petal

#include "../../sql/sql.h"

#include <duckdb_extension.h>

/* The table of DuckDB's calls, which the entry point fills in. */
DUCKDB_EXTENSION_EXTERN

/* ---- library.c ------------------------------------------------------------------------------- */

/* Shared by the functions of a database. */
struct library;
struct library *library_create(void); /* NULL if memory runs out */
struct library *library_share(struct library *library);
void library_release(struct library *library);

/* Hashes keys for every filter that petal_build() makes: they have the same hash and seed. Any
 * number of threads may use it. */
const petal_filter *library_hasher(const struct library *library);

/* shelf_take() and shelf_take_bytes(), one thread at a time: threads that need the same file wait
 * until the first one has read it. */
struct held *library_take(struct library *library, const char *path,
                          const petal_open_options *options, petal_error *error);
struct held *library_take_bytes(struct library *library, const void *bytes, uint64_t size,
                                const petal_filter *view, const petal_open_options *options,
                                petal_error *error);

/* ---- extension.c ----------------------------------------------------------------------------- */

/* The extra info of each overload: the types of its arguments. */
struct overload {
    struct library *library;
    duckdb_type first; /* VARCHAR or BLOB; for petal_build(), the key */
    duckdb_type key;   /* of petal_contains() and petal_build() */
    unsigned arguments;
};

/* ---- columns --------------------------------------------------------------------------------- */

struct column {
    const void *data;
    const uint64_t *valid; /* NULL if no row is NULL */
};

static inline struct column column_of(duckdb_data_chunk chunk, idx_t place)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, place);
    return (struct column){duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector)};
}

static inline bool is_null(const struct column *column, idx_t row)
{
    return column->valid && !(column->valid[row / 64] >> row % 64 & 1);
}

static inline const duckdb_string_t *string_at(const struct column *column, idx_t row)
{
    return (const duckdb_string_t *)column->data + row;
}

/* Strings of up to 12 bytes are stored inline. */
static inline const char *bytes_of(const duckdb_string_t *string)
{
    return string->value.inlined.length <= sizeof string->value.inlined.inlined
               ? string->value.inlined.inlined
               : string->value.pointer.ptr;
}

static inline size_t size_of(const duckdb_string_t *string)
{
    return string->value.inlined.length;
}

void set_null(duckdb_vector vector, idx_t row);

/* ---- result.c -------------------------------------------------------------------------------- */

/* One call of a function, and how it reports an error. */
struct call {
    duckdb_function_info info;
    void (*set_error)(duckdb_function_info info, const char *message);
    const struct overload *overload;
};

struct call scalar_call(duckdb_function_info info);
struct call aggregate_call(duckdb_function_info info);

/* Report an error, which ends the statement. They return false. */
bool fail(const struct call *call, const char *format, ...);
bool fail_with(const struct call *call, const char *file, const petal_error *error);
bool fail_memory(const struct call *call);

/* DuckDB's blobs are smaller than 4 GiB. Returns false after an error. */
bool fits_in_a_blob(const struct call *call, uint64_t size);

/* Sets a row of the result to the filter's file in this format (NULL means petal), as a blob. */
bool result_filter(const struct call *call, const petal_filter *filter, const char *format,
                   duckdb_vector output, idx_t row);

/* ---- source.c -------------------------------------------------------------------------------- */

/* The filter for some rows: a held one, or a view of the blob. */
struct source {
    struct held *held;
    petal_filter *view;
    const petal_filter *filter; /* one of the two */
    uint32_t key_type;
    char *path; /* NULL for a blob */
};

/* Returns the end of the run of rows, starting at `from`, that have the same values in both
 * columns. `format` may be NULL. */
idx_t same_until(const struct column *filter, const struct column *format, idx_t from, idx_t rows);

/* Opens the filter in row `from`, for the rows up to `to`, in which filter and format are the same
 * and not NULL. Returns false after an error. */
bool source_open(const struct call *call, const struct column *filter, const struct column *format,
                 idx_t from, idx_t to, struct source *source);
void source_close(struct source *source);

/* ---- keys.c ---------------------------------------------------------------------------------- */

/* The kind of key that a DuckDB type gives: PETAL_KEY_TYPE_I64, F64, TEXT or HEX (bytes). */
uint32_t key_kind(duckdb_type type);

/* The non-NULL keys of some rows. */
struct keys {
    petal_batch batch;
    idx_t *rows;   /* of each key; NULL if every row has one */
    uint8_t *text; /* in UTF-16; else NULL */
};

/* Reads the rows from `from` up to `to`, for a filter of this key type. Returns false after an
 * error. */
bool keys_read(const struct call *call, const struct column *column, duckdb_type type,
               uint32_t key_type, idx_t from, idx_t to, struct keys *keys);
void keys_free(struct keys *keys);

/* ---- the functions --------------------------------------------------------------------------- */

void sql_contains(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output);
void sql_info(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output);

/* The calls of an aggregate. */
struct aggregate {
    duckdb_aggregate_state_size size;
    duckdb_aggregate_init_t init;
    duckdb_aggregate_update_t update;
    duckdb_aggregate_combine_t combine;
    duckdb_aggregate_finalize_t finalize;
    duckdb_aggregate_destroy_t destroy;
};
extern const struct aggregate sql_build, sql_merge;

void formats_bind(duckdb_bind_info info);
void formats_init(duckdb_init_info info);
void formats_rows(duckdb_function_info info, duckdb_data_chunk output);

#endif

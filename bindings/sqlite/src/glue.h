/* glue.h - contains declarations that the files of the SQLite extension share.
 *
 *   extension.c   the entry point, which registers the functions with their flags
 *   contains.c    implements petal_contains()
 *   build.c       implements the aggregates petal_build() and petal_merge()
 *   info.c        implements petal_info()
 *   source.c      opens the first argument, a file name or a blob, as a filter
 *   key.c         converts an SQL value to key bytes
 *   result.c      returns errors and filters as results; allocates memory from SQLite
 *
 * The code that this extension shares with those for other databases is in ../sql. SQLite calls the
 * functions of a connection one at a time, so the extension needs no locks. */
#ifndef PETAL_SQLITE_GLUE_H
#define PETAL_SQLITE_GLUE_H

#include "../../sql/sql.h"

#include <sqlite3ext.h>

/* Declares the table of SQLite's API routines in every file except extension.c, whose entry point
 * fills in the table. */
#ifndef PETAL_SQLITE_ENTRY
SQLITE_EXTENSION_INIT3
#endif

/* ---- result.c ------------------------------------------------------------------------------- */

/* Allocates memory from SQLite, so that filters count toward `PRAGMA hard_heap_limit` and SQLite's
 * memory statistics. */
extern const petal_allocator sqlite_memory;

/* Ends the SQL function with an error. The message is the function's name followed by the arguments
 * formatted as by sqlite3_mprintf(). */
void fail(sqlite3_context *context, const char *format, ...);

/* Ends the SQL function with an error from the core. `file` is a path or NULL. */
void fail_with(sqlite3_context *context, const char *file, const petal_error *error);

/* Sets the result to a blob that contains the filter's file in this format. NULL selects the petal
 * format. */
void result_filter(sqlite3_context *context, const petal_filter *filter, const char *format);

/* Returns the maximum size of a value in this connection, in bytes. */
uint64_t limit_of(sqlite3_context *context);

/* ---- key.c ---------------------------------------------------------------------------------- */

struct key {
    const void *data;
    size_t size;
    uint8_t number[8];
    void *owned; /* converted text, or NULL */
};

/* Returns the key type that is recorded in a filter built from values of this SQL type. */
uint32_t key_type_of(sqlite3_value *value);

/* Converts a value that is not an SQL NULL to key bytes for a filter of this key type. The bytes
 * are valid until key_free(), or until the SQL function returns. Returns false after an error; then
 * there is nothing to free. */
bool key_read(sqlite3_context *context, sqlite3_value *value, uint32_t key_type, struct key *key);
void key_free(struct key *key);

/* ---- source.c ------------------------------------------------------------------------------- */

/* The user data of every SQL function of a connection, which contains the cached filters. */
struct connection {
    unsigned owners; /* functions */
    struct shelf *shelf;
};

struct connection *connection_create(void); /* NULL if memory runs out */
struct connection *connection_share(struct connection *connection);
void connection_release(void *connection); /* the last call frees it */

/* The filter used in one call: either a cached filter or a view of a blob. */
struct source {
    struct held *held;
    petal_filter *view;
    const petal_filter *filter; /* the held filter or the view */
    uint32_t key_type;
    const char *path; /* NULL for a blob */
};

/* Opens the filter specified by the SQL function's first argument, `filter`. `format` is NULL if
 * that argument was omitted. Neither argument may be an SQL NULL. Scalar functions call
 * source_open(), which caches the filter if the arguments are constant within the statement.
 * Aggregates call source_open_once(), since SQLite can't reliably keep auxiliary data for them.
 * Returns false after an error. */
bool source_open(sqlite3_context *context, sqlite3_value *filter, sqlite3_value *format,
                 struct source *source);
bool source_open_once(sqlite3_context *context, sqlite3_value *filter, sqlite3_value *format,
                      struct source *source);
void source_close(struct source *source);

/* ---- the functions --------------------------------------------------------------------------- */

void sql_contains(sqlite3_context *context, int count, sqlite3_value **values);
void sql_info(sqlite3_context *context, int count, sqlite3_value **values);
void sql_build_step(sqlite3_context *context, int count, sqlite3_value **values);
void sql_build_final(sqlite3_context *context);
void sql_merge_step(sqlite3_context *context, int count, sqlite3_value **values);
void sql_merge_final(sqlite3_context *context);

#endif

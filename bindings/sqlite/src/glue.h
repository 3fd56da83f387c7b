/* glue.h - what the files of the SQLite extension share.
 *
 *   extension.c   the entry point: the functions and their flags
 *   contains.c    petal_contains()
 *   build.c       the aggregates petal_build() and petal_merge()
 *   info.c        petal_info(): JSON
 *   source.c      opens the first argument, a file's name or a blob, as a filter
 *   shelf.c       keeps a connection's filters from files
 *   key.c         converts an SQL value to key bytes
 *   result.c      returns failures and filters as results; allocates memory from SQLite
 *
 * SQLite runs the functions of a connection one at a time, so nothing here takes a lock. */
#ifndef PETAL_SQLITE_GLUE_H
#define PETAL_SQLITE_GLUE_H

#include <petal/petal_host.h>
#include <sqlite3ext.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table of SQLite's calls, for every file except extension.c, whose entry point fills it in. */
#ifndef PETAL_SQLITE_ENTRY
SQLITE_EXTENSION_INIT3
#endif

/* ---- result.c ------------------------------------------------------------------------------- */

/* Memory from SQLite, so that `PRAGMA hard_heap_limit` and SQLite's counters include filters. */
extern const petal_allocator sqlite_memory;

/* Ends the call with an error: the function's name, followed by the message in the format of
 * sqlite3_mprintf(). */
void fail(sqlite3_context *context, const char *format, ...);

/* Ends the call with the core's failure; `file` is a path or NULL. */
void fail_with(sqlite3_context *context, const char *file, const petal_error *error);

/* Sets the result to the filter's file in this format (NULL means petal), as a blob. */
void result_filter(sqlite3_context *context, const petal_filter *filter, const char *format);

/* The maximum size of a value in this connection, in bytes. */
uint64_t limit_of(sqlite3_context *context);

/* ---- key.c ---------------------------------------------------------------------------------- */

struct key {
    const void *data;
    size_t size;
    uint8_t number[8];
};

const char *key_type_name(uint32_t key_type); /* NULL if there is none */

/* The key type that a filter built from such values records. */
uint32_t key_type_of(sqlite3_value *value);

/* Reads the key bytes of a value that is not NULL, for a filter of this key type. The bytes last
 * until the call ends. Returns false after an error. */
bool key_read(sqlite3_context *context, sqlite3_value *value, uint32_t key_type, struct key *key);

/* ---- shelf.c -------------------------------------------------------------------------------- */

/* A filter in memory, shared by the shelf and by statements. */
struct held {
    petal_filter *filter;
    uint32_t key_type;
    unsigned owners;
    uint64_t bytes; /* of memory */
};

void held_release(struct held *held); /* NULL is allowed */

/* Returns the filter in this file: the shelf's if the file has not changed since it was read,
 * otherwise a new one. The caller releases it. Returns NULL after an error. */
struct held *shelf_take(sqlite3_context *context, const char *path, const char *format);

/* One per connection, owned by its functions. */
struct shelf;
struct shelf *shelf_create(void); /* NULL if memory runs out */
void shelf_release(void *shelf);  /* drops one reference; the last one frees the shelf */
struct shelf *shelf_share(struct shelf *shelf);

/* Wraps the filter; on failure, frees it and returns NULL. */
struct held *hold(sqlite3_context *context, petal_filter *filter);

/* How this extension opens filters: with SQLite's memory and limits. */
petal_open_options open_options(sqlite3_context *context, const char *format, uint32_t flags);

/* ---- source.c ------------------------------------------------------------------------------- */

/* The filter used in one call: a held one, or a view of the blob. */
struct source {
    struct held *held;
    petal_filter *view;
    const petal_filter *filter; /* one of the two */
    uint32_t key_type;
    const char *path; /* NULL for a blob */
};

/* Opens the filter that the argument `filter`, the first one, names; `format` may be missing
 * (NULL). Neither is NULL in SQL. source_open() is for scalar functions: if the arguments are
 * constant in the statement, it keeps the opened filter. Aggregates call source_open_once(), since
 * SQLite can't keep data for them reliably. Returns false after an error. */
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

/* glue.h - declarations that the files of the PostgreSQL extension share.
 *
 *   type.c       the type petal: its input and output, casts, files, petal_info(), union
 *   contains.c   petal_contains()
 *   build.c      the aggregates petal_build() and petal_merge()
 *   key.c        converts an SQL value to key bytes
 *   value.c      opens values, makes values, reports failures, allocates memory from PostgreSQL
 *
 * A value of type petal is always the image of a petal file that was verified when the value was
 * created. Other libraries' files are converted to petal files with the same bits.
 *
 * PostgreSQL raises errors with longjmp(). No error crosses a call into the core, because the
 * core's allocator returns NULL instead. A filter consists only of memory from a MemoryContext, so
 * an error needs no cleanup. */
#ifndef PETAL_POSTGRESQL_GLUE_H
#define PETAL_POSTGRESQL_GLUE_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include <petal/petal_host.h>

#include "sql.h"

/* Declares a function that SQL calls. The build hides all other symbols, including the
 * library's. */
#define VISIBLE __attribute__((visibility("default")))
#define SQL_FUNCTION(name) \
    extern VISIBLE Datum name(PG_FUNCTION_ARGS); \
    extern VISIBLE const Pg_finfo_record *pg_finfo_##name(void); \
    PG_FUNCTION_INFO_V1(name); \
    Datum name(PG_FUNCTION_ARGS)

/* ---- value.c --------------------------------------------------------------------------------- */

/* The maximum size of a value in bytes, without its header. */
enum { VALUE_LIMIT = MaxAllocSize - VARHDRSZ };

/* Returns an allocator that uses this context. */
petal_allocator memory_of(MemoryContext context);

/* Raises an error: "petal: MESSAGE". */
void fail(int code, const char *format, ...) pg_attribute_noreturn() pg_attribute_printf(2, 3);

/* Raises the core's failure as an error. `file` is a path, or NULL. */
void fail_with(const char *file, const petal_error *error) pg_attribute_noreturn();

/* Raises an error for a value that was damaged in storage after it had been verified. */
void fail_damaged(const petal_error *error) pg_attribute_noreturn();

/* Returns the options with which this extension opens filters, including PostgreSQL's limits. */
petal_open_options open_options(const petal_allocator *memory, const char *format, uint32_t flags);

/* Opens a value of type petal in place, without its header. Each block is verified before its first
 * use. The filter allocates from `memory`. */
petal_filter *value_view(const void *bytes, size_t size, const petal_allocator *memory);

/* Copies a value to a writable filter. */
petal_filter *value_load(const void *bytes, size_t size, const petal_allocator *memory);

/* Returns a value that contains the filter's image in this format (NULL means petal). */
bytea *value_of(const petal_filter *filter, const char *format);

/* Raises an error if a filter of this size would be too large for a value. */
void check_size(uint64_t bytes);

/* Merges `other` into `filter`, or raises an error. */
void value_merge(petal_filter *filter, const petal_filter *other);

/* ---- key.c ----------------------------------------------------------------------------------- */

struct key {
    const void *data;
    size_t size;
    uint8_t number[8];
};

/* Describes how the values of an SQL type become keys. */
struct key_source {
    Oid type;
    uint32_t key_type; /* I64, F64, TEXT or HEX (bytes) */
};

/* Returns the key source for this argument's type. Raises an error if values of the type can't be
 * keys. */
struct key_source key_source_of(FunctionCallInfo call, int argument);

/* Reads the key bytes of a value for a filter of this key type. The bytes are valid as long as the
 * value exists and the current memory context is not reset. */
void key_read(const struct key_source *source, Datum value, uint32_t key_type, struct key *key);

#endif

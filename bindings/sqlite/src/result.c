/* result.c - returns errors and filters as the results of SQL functions; allocates memory from
 * SQLite. */
#include "glue.h"

#include <stdarg.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* SQLite aligns memory to 8 bytes, but the library requires malloc's alignment of 16 bytes. The
 * byte before the aligned memory stores its distance from the original address. */
enum { ALIGNMENT = 16 };

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    (void)context;
    if (size_bytes > SIZE_MAX - ALIGNMENT) return NULL;
    uint8_t *block = sqlite3_malloc64((sqlite3_uint64)size_bytes + ALIGNMENT);
    if (!block) return NULL;
    size_t moved = ALIGNMENT - (uintptr_t)block % ALIGNMENT;
    memset(block + moved, 0, size_bytes);
    block[moved - 1] = (uint8_t)moved;
    return block + moved;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    if (memory) sqlite3_free((uint8_t *)memory - ((uint8_t *)memory)[-1]);
}

const petal_allocator sqlite_memory = {alloc_zeroed, release, NULL};

uint64_t limit_of(sqlite3_context *context)
{
    return (uint64_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void result_error(sqlite3_context *context, char *message)
{
    if (message)
        sqlite3_result_error(context, message, -1);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(message);
}

void fail(sqlite3_context *context, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *said = sqlite3_vmprintf(format, values);
    va_end(values);
    result_error(context, said ? sqlite3_mprintf("petal: %s", said) : NULL);
    sqlite3_free(said);
}

void fail_with(sqlite3_context *context, const char *file, const petal_error *error)
{
    if (error->status == PETAL_ERR_MEMORY) {
        sqlite3_result_error_nomem(context);
        return;
    }
    char text[MESSAGE_ROOM];
    fail(context, "%s", failure_text(file, error, text));
}

/* ---- filters --------------------------------------------------------------------------------- */

void result_filter(sqlite3_context *context, const petal_filter *filter, const char *format)
{
    petal_error error;
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    uint64_t size = petal_serialized_bytes(filter, &options);
    if (size > limit_of(context)) {
        fail(context, "the filter has %llu bytes, and SQLite's limit for a value is %llu",
             (unsigned long long)size, (unsigned long long)limit_of(context));
        return;
    }
    void *bytes = sqlite3_malloc64(size ? size : 1);
    if (!bytes) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (petal_serialize(filter, &options, bytes, size, &error) == PETAL_OK) {
        sqlite3_result_blob64(context, bytes, size, sqlite3_free);
        return;
    }
    sqlite3_free(bytes);
    fail_with(context, NULL, &error);
}

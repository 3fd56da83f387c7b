/* source.c - opens a function's first argument, a file name (TEXT) or a file's bytes (BLOB), as a
 * filter.
 *
 * If the arguments are constant within a statement (literals or parameters), the filter is opened
 * only once: sqlite3_set_auxdata() keeps it until the statement ends. So even if the file changes
 * while the statement runs, the statement sees a single version of it. A blob from a row is viewed
 * in place, which takes constant time. Damage in such a blob is detected only when a key is in a
 * damaged block. Only at the second row is it clear whether a blob is constant, so the first row
 * sets a marker, and the second row copies the blob. */
#include "glue.h"

#include <string.h>

/* The auxiliary data that SQLite keeps for a statement. If the filter argument is not constant,
 * SQLite drops the data after each row. The format argument can change independently, so it is
 * compared. */
struct memo {
    struct held *held; /* NULL if a blob has been seen only once */
    char format[32];
};

static void forget(void *memory)
{
    struct memo *memo = memory;
    held_release(memo->held);
    sqlite3_free(memo);
}

/* Takes ownership of one reference to `held`. If memory runs out, the next row opens the filter
 * again. */
static void remember(sqlite3_context *context, struct held *held, const char *format)
{
    struct memo *memo = NULL;
    if (strlen(format) < sizeof memo->format) memo = sqlite3_malloc64(sizeof *memo);
    if (!memo) {
        held_release(held);
        return;
    }
    memo->held = held;
    strcpy(memo->format, format);
    sqlite3_set_auxdata(context, 0, memo, forget);
}

static bool use(struct source *source, struct held *held)
{
    source->held = held;
    if (!held) return false;
    source->filter = held->filter;
    source->key_type = held->key_type;
    return true;
}

/* ---- a connection's files -------------------------------------------------------------------- */

struct connection *connection_create(void)
{
    struct connection *connection = sqlite3_malloc64(sizeof *connection);
    if (!connection) return NULL;
    *connection = (struct connection){1, shelf_create(&sqlite_memory)};
    if (connection->shelf) return connection;
    sqlite3_free(connection);
    return NULL;
}

struct connection *connection_share(struct connection *connection)
{
    connection->owners++;
    return connection;
}

void connection_release(void *memory)
{
    struct connection *connection = memory;
    if (--connection->owners > 0) return;
    shelf_free(connection->shelf);
    sqlite3_free(connection);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Returns the options for opening a filter with SQLite's allocator and limits. */
static petal_open_options open_options(sqlite3_context *context, const char *format, uint32_t flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.allocator = &sqlite_memory;
    options.format = format;
    options.max_bytes = options.memory_limit = limit_of(context);
    return options;
}

static bool fail_source(sqlite3_context *context, const char *path, const petal_error *error)
{
    fail_with(context, path, error);
    return false;
}

static bool copy_blob(sqlite3_context *context, const void *bytes, uint64_t size,
                      const char *format, struct source *source)
{
    petal_error error;
    petal_filter *filter;
    petal_open_options options = open_options(context, format, PETAL_OPEN_LOAD);
    if (petal_load(bytes, size, &options, &filter, &error) != PETAL_OK ||
        !use(source, hold(filter, &sqlite_memory, &error)))
        return fail_source(context, NULL, &error);
    return true;
}

static bool view_blob(sqlite3_context *context, const void *bytes, uint64_t size,
                      const char *format, struct source *source)
{
    petal_error error;
    petal_info info = PETAL_INFO_INIT;
    petal_open_options options = open_options(context, format, PETAL_OPEN_VERIFY_ON_USE);
    if (petal_view(bytes, size, &options, &source->view, &error) != PETAL_OK)
        return fail_source(context, NULL, &error);
    petal_get_info(source->view, PETAL_ALL_LAYERS, &info, NULL);
    source->filter = source->view;
    source->key_type = info.key_type;
    return true;
}

static bool open_blob(sqlite3_context *context, sqlite3_value *value, const char *format,
                      bool copies, struct source *source)
{
    const void *bytes = sqlite3_value_blob(value);
    uint64_t size = (uint64_t)sqlite3_value_bytes(value);
    if (!bytes && size > 0) { /* a zeroblob() that does not fit in memory */
        sqlite3_result_error_nomem(context);
        return false;
    }
    if (!bytes) bytes = "";
    return copies ? copy_blob(context, bytes, size, format, source)
                  : view_blob(context, bytes, size, format, source);
}

/* Returns the text without NULs of a name, or NULL after an error. */
static const char *name_of(sqlite3_context *context, sqlite3_value *value, const char *what)
{
    const char *name = (const char *)sqlite3_value_text(value);
    if (!name) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    if (strlen(name) == (size_t)sqlite3_value_bytes(value)) return name;
    fail(context, "the %s has a NUL byte in it; a filter's bytes are a BLOB", what);
    return NULL;
}

static bool open_file(sqlite3_context *context, sqlite3_value *value, const char *format,
                      struct source *source)
{
    const char *path = name_of(context, value, "file's name");
    if (!path) return false;
    petal_error error;
    const struct connection *connection = sqlite3_user_data(context);
    petal_open_options options = open_options(context, format, PETAL_OPEN_LOAD);
    source->path = path;
    struct held *held = shelf_take(connection->shelf, path, &options, limit_of(context), &error);
    return use(source, held) || fail_source(context, path, &error);
}

/* If `copies` is true, a blob is copied instead of viewed. */
static bool open_any(sqlite3_context *context, sqlite3_value *value, const char *format,
                     bool copies, struct source *source)
{
    memset(source, 0, sizeof *source);
    switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT: return open_file(context, value, format, source);
    case SQLITE_BLOB: return open_blob(context, value, format, copies, source);
    default:
        fail(context, "a filter is a file's name (text) or a file's bytes (blob), not a number");
        return false;
    }
}

/* Returns the name of the format, or "auto" if the argument is missing. Returns NULL after an
 * error. */
static const char *format_of(sqlite3_context *context, sqlite3_value *value)
{
    if (!value) return "auto";
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        fail(context, "the format is a name, such as 'guava'; see `petal formats`");
        return NULL;
    }
    return name_of(context, value, "format");
}

bool source_open_once(sqlite3_context *context, sqlite3_value *filter, sqlite3_value *format,
                      struct source *source)
{
    const char *name = format_of(context, format);
    return name && open_any(context, filter, name, false, source);
}

bool source_open(sqlite3_context *context, sqlite3_value *filter, sqlite3_value *format,
                 struct source *source)
{
    const char *name = format_of(context, format);
    if (!name) return false;
    const struct memo *memo = sqlite3_get_auxdata(context, 0);
    bool is_constant = memo && strcmp(memo->format, name) == 0;
    if (is_constant && memo->held) {
        memset(source, 0, sizeof *source);
        return use(source, held_share(memo->held));
    }
    if (!open_any(context, filter, name, is_constant, source)) return false;
    remember(context, source->held ? held_share(source->held) : NULL, name);
    return true;
}

void source_close(struct source *source)
{
    petal_free(source->view);
    held_release(source->held);
}

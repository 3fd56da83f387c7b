/* source.c - opens a function's first argument, a file's name (TEXT) or a file's bytes (BLOB), as a
 * filter.
 *
 * If the arguments are constant in a statement (literals, parameters), the filter is opened once:
 * sqlite3_set_auxdata() keeps it until the statement ends. So a statement sees one state of a file,
 * whatever happens to the file while it runs. A blob from a row is viewed in place, which takes
 * constant time; damaged blocks are noticed when a key needs them. Only the second row shows
 * whether a blob is constant. So the first row only sets a marker, and the blob is copied on the
 * second. */
#include "glue.h"

#include <string.h>

/* What a statement keeps. If the filter argument is not constant, SQLite drops this after the row.
 * The format may change on its own, so it is compared. */
struct memo {
    struct held *held; /* NULL if a blob was seen once */
    char format[32];
};

static void forget(void *memory)
{
    struct memo *memo = memory;
    held_release(memo->held);
    sqlite3_free(memo);
}

/* Takes over a reference to `held`. If memory runs out, the filter is opened again for the next
 * row. */
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

static struct held *share(struct held *held)
{
    held->owners++;
    return held;
}

static bool use(struct source *source, struct held *held)
{
    source->held = held;
    if (!held) return false;
    source->filter = held->filter;
    source->key_type = held->key_type;
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool fail_source(sqlite3_context *context, const petal_error *error)
{
    fail_with(context, NULL, error);
    return false;
}

static bool copy_blob(sqlite3_context *context, const void *bytes, uint64_t size,
                      const char *format, struct source *source)
{
    petal_error error;
    petal_filter *filter;
    petal_open_options options = open_options(context, format, PETAL_OPEN_LOAD);
    if (petal_load(bytes, size, &options, &filter, &error) != PETAL_OK)
        return fail_source(context, &error);
    return use(source, hold(context, filter));
}

static bool view_blob(sqlite3_context *context, const void *bytes, uint64_t size,
                      const char *format, struct source *source)
{
    petal_error error;
    petal_info info = PETAL_INFO_INIT;
    petal_open_options options = open_options(context, format, PETAL_OPEN_VERIFY_ON_USE);
    if (petal_view(bytes, size, &options, &source->view, &error) != PETAL_OK)
        return fail_source(context, &error);
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

static bool open_file(sqlite3_context *context, sqlite3_value *value, const char *format,
                      struct source *source)
{
    const char *path = (const char *)sqlite3_value_text(value);
    if (!path) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    if (strlen(path) != (size_t)sqlite3_value_bytes(value)) {
        fail(context, "the file's name has a NUL byte in it; a filter's bytes are a BLOB");
        return false;
    }
    source->path = path;
    return use(source, shelf_take(context, path, format));
}

/* copies: copy a blob instead of viewing it. */
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

/* Returns the name of a format, "auto" if none is given, or NULL after an error. */
static const char *format_of(sqlite3_context *context, sqlite3_value *value)
{
    if (!value) return "auto";
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        fail(context, "the format is a name, such as 'guava'; see `petal formats`");
        return NULL;
    }
    const char *name = (const char *)sqlite3_value_text(value);
    if (!name) sqlite3_result_error_nomem(context);
    return name;
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
        return use(source, share(memo->held));
    }
    if (!open_any(context, filter, name, is_constant, source)) return false;
    remember(context, source->held ? share(source->held) : NULL, name);
    return true;
}

void source_close(struct source *source)
{
    petal_free(source->view);
    held_release(source->held);
}

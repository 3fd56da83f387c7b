/* source.c - opens the first argument, a file's name (VARCHAR) or a file's bytes (BLOB), as a
 * filter.
 *
 * DuckDB's API does not tell a function which of its arguments are constant in a statement. But
 * rows with the same filter follow each other, so it is opened once for each such run of rows,
 * which ends with the chunk. A file comes from the shelf, at the cost of one stat(). A blob is
 * viewed in place, which takes constant time; its blocks are verified when a key needs them. For a
 * run of many rows, that would verify all of its blocks once per chunk, so then the shelf keeps a
 * verified copy. */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

/* With this many rows, verifying the blocks they need costs more than finding the copy. */
enum { ROWS_WORTH_A_COPY = 64 };

/* Constants share their bytes, so the comparison of 16 bytes finds nearly all equal values. */
static bool is_same(const struct column *column, idx_t a, idx_t b)
{
    if (is_null(column, a) || is_null(column, b)) return is_null(column, a) == is_null(column, b);
    return memcmp(string_at(column, a), string_at(column, b), sizeof(duckdb_string_t)) == 0;
}

idx_t same_until(const struct column *filter, const struct column *format, idx_t from, idx_t rows)
{
    idx_t to = from + 1;
    while (to < rows && is_same(filter, from, to) && (!format || is_same(format, from, to))) to++;
    return to;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A filter in memory may be as large as its file. */
static petal_open_options open_options(const char *format, uint32_t flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.format = format;
    return options;
}

/* A copy of the string with a NUL after it; NULL after an error. */
static char *copy_string(const struct call *call, const duckdb_string_t *string, const char *what)
{
    size_t size = size_of(string);
    if (memchr(bytes_of(string), 0, size)) {
        fail(call, "the %s has a NUL byte in it; a filter's bytes are a BLOB", what);
        return NULL;
    }
    char *copy = malloc(size + 1);
    if (!copy) {
        fail_memory(call);
        return NULL;
    }
    memcpy(copy, bytes_of(string), size);
    copy[size] = 0;
    return copy;
}

static bool use(struct source *source, struct held *held)
{
    source->held = held;
    if (!held) return false;
    source->filter = held->filter;
    source->key_type = held->key_type;
    return true;
}

static bool open_file(const struct call *call, const duckdb_string_t *name, const char *format,
                      struct source *source)
{
    petal_error error;
    petal_open_options options = open_options(format, PETAL_OPEN_LOAD);
    source->path = copy_string(call, name, "file's name");
    if (!source->path) return false;
    return use(source, library_take(call->overload->library, source->path, &options, &error)) ||
           fail_with(call, source->path, &error);
}

/* A filter with a time window depends on more than its checksums. */
static bool is_worth_a_copy(const petal_filter *view, idx_t rows)
{
    petal_info info = PETAL_INFO_INIT;
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_get_info(view, PETAL_ALL_LAYERS, &info, NULL);
    petal_get_file_info(view, &file, NULL);
    return rows >= ROWS_WORTH_A_COPY && file.verifiable && info.policy != PETAL_POLICY_WINDOW_TIME;
}

static bool open_blob(const struct call *call, const duckdb_string_t *blob, const char *format,
                      idx_t rows, struct source *source)
{
    petal_error error;
    petal_info info = PETAL_INFO_INIT;
    const void *bytes = bytes_of(blob);
    petal_open_options options = open_options(format, PETAL_OPEN_VERIFY_ON_USE);
    if (petal_view(bytes, size_of(blob), &options, &source->view, &error) != PETAL_OK)
        return fail_with(call, NULL, &error);
    if (is_worth_a_copy(source->view, rows)) {
        options.flags = PETAL_OPEN_LOAD;
        return use(source, library_take_bytes(call->overload->library, bytes, size_of(blob),
                                              source->view, &options, &error)) ||
               fail_with(call, NULL, &error);
    }
    petal_get_info(source->view, PETAL_ALL_LAYERS, &info, NULL);
    source->filter = source->view;
    source->key_type = info.key_type;
    return true;
}

bool source_open(const struct call *call, const struct column *filter, const struct column *format,
                 idx_t from, idx_t to, struct source *source)
{
    *source = (struct source){0};
    char *name = format ? copy_string(call, string_at(format, from), "format") : NULL;
    if (format && !name) return false;
    const char *opened = name ? name : "auto";
    bool done = call->overload->first == DUCKDB_TYPE_BLOB
                    ? open_blob(call, string_at(filter, from), opened, to - from, source)
                    : open_file(call, string_at(filter, from), opened, source);
    free(name);
    if (!done) source_close(source);
    return done;
}

void source_close(struct source *source)
{
    petal_free(source->view);
    held_release(source->held);
    free(source->path);
}

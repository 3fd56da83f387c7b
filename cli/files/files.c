/* files.c - see files.h. */
#include "files/files.h"

#include "files/formats.h"
#include "files/parquet.h"
#include "files/paths.h"
#include "files/secret.h"
#include "files/stream.h"
#include "output/filter_info.h"
#include "output/progress.h"
#include "output/report.h"

#include <stdio.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

#define MODE 15u

static unsigned loading(unsigned flags)
{
    return (flags & ~MODE) | PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED;
}

/* Filters that grow or forget can't be changed in place, so they are loaded into memory and saved
 * as a whole. */
static bool wants_loading(unsigned flags, petal_status status, const petal_filter *filter)
{
    bool recovers = flags & PETAL_OPEN_RECOVER;
    if ((flags & MODE) != PETAL_OPEN_WRITABLE) return false;
    if (recovers) return status == PETAL_ERR_UNSUPPORTED;
    return status == PETAL_ERR_UNSUPPORTED ||
           (status == PETAL_OK && info_of(filter).policy != PETAL_POLICY_NONE);
}

/* Opens a file that another process is changing only if necessary, with a remark. A dirty file is
 * opened in the same way if it is only to be described. If the secret of a keyed file is missing,
 * only its header is described. */
static petal_status open_quietest(const char *path, petal_open_options *options,
                                  petal_filter **filter, petal_error *error)
{
    bool live = options->flags & PETAL_OPEN_LIVE,
         described = live && options->flags & PETAL_OPEN_RECOVER;
    options->flags &= ~PETAL_OPEN_LIVE;
    if (described) options->flags &= ~PETAL_OPEN_RECOVER;
    petal_status status = petal_open(path, options, filter, error);
    if (status == PETAL_ERR_DIRTY && described) {
        petal_error why = *error;
        options->flags = (options->flags & ~MODE) | PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER;
        status = petal_open(path, options, filter, error);
        if (status == PETAL_OK) complain(path, "%s", why.message);
        return status;
    }
    if (status == PETAL_ERR_SECRET_MISSING && described) {
        options->flags = PETAL_OPEN_LOAD | PETAL_OPEN_HEADER_ONLY | PETAL_OPEN_NO_SECRET;
        return petal_open(path, options, filter, error);
    }
    if (status != PETAL_ERR_BUSY || !live) return status;
    options->flags |= PETAL_OPEN_LIVE;
    status = petal_open(path, options, filter, error);
    if (status == PETAL_OK)
        remark(
            path,
            "being changed by another process; keys of the last sync are found, later ones may be");
    return status;
}

static petal_status open_as(const char *path, petal_open_options options, petal_filter **filter,
                            petal_error *error)
{
    if (!is_petal(options.format) && (options.flags & MODE) == PETAL_OPEN_WRITABLE)
        options.flags = loading(options.flags);
    petal_status status = open_quietest(path, &options, filter, error);
    if (!wants_loading(options.flags, status, *filter)) return status;
    petal_error why = *error;
    petal_free(*filter);
    options.flags = loading(options.flags);
    petal_status loaded = petal_open(path, &options, filter, error);
    /* If the file could not be mapped for a reason other than its kind, that failure is returned,
     * because update_file() would only sync a loaded filter. */
    if (loaded != PETAL_OK || status == PETAL_OK || info_of(*filter).policy != PETAL_POLICY_NONE)
        return loaded;
    petal_free(*filter);
    *filter = NULL;
    *error = why;
    return status;
}

static petal_open_options options_of(unsigned flags, const struct args *args, const void *secret)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = args->no_lock ? flags | PETAL_OPEN_NO_LOCK : flags;
    /* A writable map always verifies every block that it changes. */
    if ((flags & MODE) == PETAL_OPEN_MAP && !args->no_verify)
        options.flags |= PETAL_OPEN_VERIFY_ON_USE;
    options.secret = secret;
    options.format = args->from;
    options.memory_limit = args->memory_limit;
    return options;
}

/* Opens a file that is not a petal file as another library's, if exactly one format fits. */
static petal_status open_strange(const char *path, petal_open_options options,
                                 petal_filter **filter, petal_error *error)
{
    petal_error why = *error;
    options.format = "auto";
    petal_status status = open_as(path, options, filter, error);
    if (status == PETAL_OK) {
        const char *format = file_format_of(*filter);
        remark(path, "looks like %s (no other format fits); pass --from %s to be explicit", format,
               format);
    } else if (status == PETAL_ERR_NOT_A_FILTER && is_parquet_file(path)) {
        error->status = PETAL_ERR_ARGUMENT; /* not NOT_A_FILTER, since the file may contain
                                             * filters */
        snprintf(
            error->message, sizeof error->message,
            "is a Parquet file; petal info lists its filters, --from parquet:COLUMN takes one");
    } else if (status == PETAL_ERR_NOT_A_FILTER) {
        *error = why;
    } else if (status == PETAL_ERR_ARGUMENT) {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, " with --from");
    }
    return status;
}

/* A filter that was read from a pipe can't be written back to the pipe. */
static petal_status open_stream(petal_open_options options, petal_filter **filter,
                                petal_error *error)
{
    bool changes =
        (options.flags & MODE) == PETAL_OPEN_WRITABLE || options.flags & PETAL_OPEN_LOCKED;
    static bool was_read;
    const char *why = changes    ? "cannot be changed in place; name a file"
                      : was_read ? "was read already; name a file"
                                 : NULL;
    if (why) {
        error->status = PETAL_ERR_ARGUMENT;
        snprintf(error->message, sizeof error->message, "%s", why);
        return PETAL_ERR_ARGUMENT;
    }
    was_read = true;
    options.flags = PETAL_OPEN_LOAD;
    return read_stream(options, filter, error);
}

petal_filter *open_filter(const char *path, unsigned flags, const struct args *args)
{
    petal_filter *filter = NULL;
    petal_error error;
    uint8_t secret[PETAL_SECRET_BYTES] = {0};
    const void *given = args->secret_file ? secret : NULL;
    petal_open_options options = options_of(flags, args, given);
    const char *place = parquet_place(args->from);
    if (place) return open_parquet_place(path, place);
    if (!check_format(args->from) || (given && !read_secret(args->secret_file, secret)))
        return NULL;
    progress_begin("opening", is_stream(path) ? "standard input" : path);
    petal_status status = is_stream(path) ? open_stream(options, &filter, &error)
                                          : open_as(path, options, &filter, &error);
    if (status == PETAL_ERR_NOT_A_FILTER && !args->from && !is_stream(path))
        status = open_strange(path, options, &filter, &error);
    progress_end();
    wipe(secret, sizeof secret);
    if (status == PETAL_OK) return filter;
    if (!is_petal(args->from) && is_petal_file(path))
        complain(path, "is a petal file, not one of %s; leave out --from", args->from);
    else
        complain_of(is_stream(path) ? "standard input" : path, &error);
    return NULL;
}

petal_filter *open_to_describe(const char *path, const struct args *args)
{
    return open_filter(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE | PETAL_OPEN_RECOVER, args);
}

petal_filter *open_live(const char *path, const struct args *args)
{
    return open_filter(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE, args);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool may_save(const char *path, const struct args *args)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    if (is_stream(path)) return may_write_stream();
    if (!may_write(path, args->force)) return false;
    if (args->no_lock || !identify(path).inode) return true;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED | PETAL_OPEN_HEADER_ONLY;
    petal_status status = petal_open(path, &options, &filter, &error);
    petal_free(filter);
    return status != PETAL_ERR_BUSY || complain_of(path, &error); /* the file need not be a
                                                                   * filter */
}

/* Determines what happened to the file: saving can fail after the new file has been given its
 * name. */
static bool complain_of_save(const char *path, struct identity before, const petal_error *error)
{
    struct identity now = identify(path);
    bool same = now.device == before.device && now.inode == before.inode;
    if (error->status == PETAL_ERR_EXISTS || error->status == PETAL_ERR_BUSY ||
        error->status == PETAL_ERR_REPLACED)
        return complain_of(path, error);
    if (!same) return complain(path, "%s", error->message);
    return complain(path, "%s; %s", error->message,
                    before.inode ? "the old file is unchanged" : "nothing was written");
}

static petal_save_options how_to_save(const struct args *args, const char *format, bool replace)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    if (!replace) options.flags |= PETAL_SAVE_NO_REPLACE;
    if (args->force) options.flags |= PETAL_SAVE_NEW_OWNER;
    if (args->no_lock) options.flags |= PETAL_SAVE_NO_LOCK;
    return options;
}

static bool save(const petal_filter *filter, const char *path, const petal_save_options *options)
{
    petal_error error;
    struct identity before = identify(path);
    progress_begin("saving", path);
    petal_status status = petal_save(filter, path, options, &error);
    progress_end();
    return status == PETAL_OK || complain_of_save(path, before, &error);
}

bool save_filter(const petal_filter *filter, const char *path, const char *format,
                 const struct args *args)
{
    petal_save_options options = how_to_save(args, format, args->force);
    return is_stream(path) ? write_stream(filter, format) : save(filter, path, &options);
}

bool publish_filter(const petal_filter *filter, const char *path, const struct args *args)
{
    petal_error error;
    struct identity before = identify(path);
    petal_save_options options = how_to_save(args, NULL, false);
    petal_status status = petal_save(filter, path, &options, &error);
    return status == PETAL_OK || status == PETAL_ERR_EXISTS ||
           complain_of_save(path, before, &error);
}

bool replace_file(const petal_filter *filter, const char *path, const struct args *args)
{
    petal_save_options options = how_to_save(args, file_format_of(filter), true);
    return save(filter, path, &options);
}

bool update_file(petal_filter *filter, const char *path, const struct args *args,
                 const char *way_out)
{
    petal_error error;
    if (!is_petal(file_format_of(filter)) || info_of(filter).policy != PETAL_POLICY_NONE)
        return replace_file(filter, path, args);
    progress_begin("saving", path);
    petal_status status = petal_sync(filter, &error);
    progress_end();
    if (status == PETAL_OK) return true;
    if (error.status == PETAL_ERR_REPLACED) return complain_of(path, &error);
    return complain(path, "%s; %s", error.message, way_out);
}

/* ---- indexes --------------------------------------------------------------------------------- */

bool is_index_file(const char *path)
{
    static const uint8_t magic[8] = {0x89, 'P', 'T', 'X', '\r', '\n', 0x1a, '\n'};
    uint8_t begin[sizeof magic] = {0};
    return read_beginning(path, begin, sizeof begin) && memcmp(begin, magic, sizeof magic) == 0;
}

petal_index *open_index(const char *path, const struct args *args)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_index *index = NULL;
    petal_error error;
    uint8_t secret[PETAL_SECRET_BYTES] = {0};
    if (args->secret_file && !read_secret(args->secret_file, secret)) return NULL;
    options.secret = args->secret_file ? secret : NULL;
    options.flags = args->no_verify ? 0 : PETAL_OPEN_VERIFY_ON_USE;
    petal_status status = petal_index_open(path, &options, &index, &error);
    if (status == PETAL_ERR_SECRET_WRONG && args->secret_file) { /* the filter might not be keyed */
        options.secret = NULL;
        if (petal_index_open(path, &options, &index, NULL) == PETAL_OK) status = PETAL_OK;
    }
    wipe(secret, sizeof secret);
    if (status != PETAL_OK) complain_of(path, &error);
    return index;
}

bool save_index(const petal_index *index, const char *path, const struct args *args)
{
    petal_error error;
    petal_save_options options = how_to_save(args, NULL, args->force);
    struct identity before = identify(path);
    progress_begin("saving", path);
    petal_status status = petal_index_save(index, path, &options, &error);
    progress_end();
    return status == PETAL_OK || complain_of_save(path, before, &error);
}

bool is_file_of_its_own(const char *path, const struct args *args)
{
    return !parquet_place(args->from) ||
           complain(
               path,
               "a filter inside a Parquet file cannot be changed; convert it to a file of its own first");
}

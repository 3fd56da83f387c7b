/* files.h - opens and saves filters, and prints the related messages. */
#ifndef PETAL_CLI_FILES_H
#define PETAL_CLI_FILES_H

#include "options/options.h"

#include <petal/petal.h>
#include <petal/petal_index.h>

/* Opens the filter at `path` with PETAL_OPEN_* `flags`, the secret of --secret-file and the format
 * of --from. A map checks its blocks before use, unless --no-verify was given. A file that is not
 * Petal's is opened as the only format it fits, with a remark. "-" is standard input, for commands
 * that don't change the file. Other libraries' files, and filters that grow or forget, are never
 * opened PETAL_OPEN_WRITABLE: they are loaded into memory while their lock is held, and
 * update_file() saves them. Returns NULL after reporting an error. */
petal_filter *open_filter(const char *path, unsigned flags, const struct args *args);

/* Like open_filter(), for queries only: also opens a file that another process is changing, with a
 * remark. */
petal_filter *open_live(const char *path, const struct args *args);

/* Like open_live(), for petal info: also opens a dirty file, and shows what recovery would keep,
 * but still reports that as a failure. If a file is keyed and --secret-file is missing, opens only
 * its header, as a filter without PETAL_CAN_STATS. */
petal_filter *open_to_describe(const char *path, const struct args *args);

/* True if the filter may be written back to `path`, from which it was opened. Returns false after
 * reporting an error. */
bool is_file_of_its_own(const char *path, const struct args *args);

/* Checks may_write(), and that no other process is changing the file to be replaced. Call it before
 * any work is done. save_filter() can still fail afterwards. Returns false after reporting an
 * error. */
bool may_save(const char *path, const struct args *args);

/* Saves the filter as a new file in a format (NULL means petal); replaces a file only with --force.
 * "-" is standard output. Returns false after reporting an error. */
bool save_filter(const petal_filter *filter, const char *path, const char *format,
                 const struct args *args);

/* Like save_filter(), but never replaces a file. If a file already exists, it is kept, and the call
 * succeeds. */
bool publish_filter(const petal_filter *filter, const char *path, const struct args *args);

/* Replaces the file from which the filter was loaded. Returns false after reporting an error. */
bool replace_file(const petal_filter *filter, const char *path, const struct args *args);

/* Updates the file that open_filter() opened: in place, or by replacing it. If the file remains
 * dirty, `way_out` is appended to the message. Returns false after reporting an error. */
bool update_file(petal_filter *filter, const char *path, const struct args *args,
                 const char *way_out);

/* True if this is a regular file that starts like an index of filters. */
bool is_index_file(const char *path);

/* Open an index like open_filter(), and save an index like save_filter(). */
petal_index *open_index(const char *path, const struct args *args);
bool save_index(const petal_index *index, const char *path, const struct args *args);

#endif

/* files.h - opening and saving filters, with the messages that belong to it. */
#ifndef PETAL_CLI_FILES_H
#define PETAL_CLI_FILES_H

#include "options/options.h"

#include <petal/petal.h>

/* The filter in `path`, opened with PETAL_OPEN_* `flags`, the secret of --secret-file and the
 * format of --from. A map checks its blocks before they are used, unless --no-verify was given. A
 * file that is not Petal's is opened as the only format it fits, with a remark. "-" is standard
 * input, for whatever does not change the file. NULL: reported. */
petal_filter *open_filter(const char *path, unsigned flags, const struct args *args);

/* Like open_filter(), and tells the format of the file. Files of other libraries are never opened
 * PETAL_OPEN_WRITABLE, nor are those that grow or forget: they are loaded with their lock kept, and
 * update_file() saves them. */
petal_filter *open_container(const char *path, unsigned flags, const struct args *args,
                             const char **format);

/* Like open_container() for queries alone: also a file that another process is changing, with a
 * remark. */
petal_filter *open_live(const char *path, const struct args *args, const char **format);

/* Like open_live() for petal info: also a dirty file, of which it shows what recovery would keep;
 * that is reported as a failure nevertheless. Of a keyed one without --secret-file it is the header
 * alone: a filter without PETAL_CAN_STATS. */
petal_filter *open_to_describe(const char *path, const struct args *args, const char **format);

/* The format to write a changed filter back in, that came from a file of `format`: some names read
 * several forms (dcso plain and packed), and a file keeps its own. */
const char *format_to_keep(const petal_filter *filter, const char *format);

/* Whether a filter that is opened from `path` may be written back there. False: reported. */
bool is_file_of_its_own(const char *path, const struct args *args);

/* Before any work is done: may_write(), and nobody else is changing the file that is to be
 * replaced. save_filter() finds out for good. False: reported. */
bool may_save(const char *path, const struct args *args);

/* Saves the filter as a new file in a format (NULL: petal); replaces one only with --force. "-" is
 * standard output. False: reported. */
bool save_filter(const petal_filter *filter, const char *path, const char *format,
                 const struct args *args);

/* Like save_filter(), but never replaces: a file that is there by now is left alone, and is no
 * failure. */
bool publish_filter(const petal_filter *filter, const char *path, const struct args *args);

/* Replaces the file that the filter was loaded from, or made for. False: reported. */
bool replace_file(const petal_filter *filter, const char *path, const char *format,
                  const struct args *args);

/* Brings the file that open_container() opened up to date with the filter: in place, or by
 * replacing it. `way_out` follows the message if the file is left dirty. False: reported. */
bool update_file(petal_filter *filter, const char *path, const char *format,
                 const struct args *args, const char *way_out);

#endif

/* files.h - opening and saving filters, with the messages that belong to it. */
#ifndef PETAL_CLI_FILES_H
#define PETAL_CLI_FILES_H

#include "options.h"

#include <petal/petal.h>

/* Reports a failed call on `path`: the library's message, and the tool's own way out where there is one. Returns false. */
bool complain_of(const char *path, const petal_error *error);

/* The filter in `path`, opened with PETAL_OPEN_* `flags`, the secret of --key-file and the format of --from. A file that is not
 * Petal's is taken for what it must be where exactly one format fits, and that is said. NULL: reported. */
petal_filter *open_filter(const char *path, unsigned flags, const struct args *args);

/* Like open_filter(), and tells the format of the file. Files of other libraries are never opened
 * PETAL_OPEN_WRITABLE, nor are those that grow or forget: they are loaded with their lock kept, and
 * write_back() saves them. */
petal_filter *open_container(const char *path, unsigned flags, const struct args *args, const char **format);

/* Like open_container() for queries alone: also a file that another process is changing, with a
 * remark. */
petal_filter *open_live(const char *path, const struct args *args, const char **format);

/* Whether there is such a format; NULL is petal. False: reported, with the names there are. */
bool check_format(const char *format);

/* Whether a format is Petal's own; NULL is. */
bool is_petal(const char *format);

/* Before any work is done: whether `path` may be written, that is, does not exist or `force` is given. False: reported. */
bool may_write(const char *path, bool force);

/* Whether two paths lead to one file that is there. */
bool is_same_file(const char *a, const char *b);

/* Whether `path` is none of the `count` files that are read from. False: reported. */
bool is_no_input(const char *path, char **files, size_t count);

/* The format to write a changed filter back in, that came from a file of `format`: some names read several forms (dcso plain
 * and packed), and a file keeps its own. */
const char *format_to_keep(const petal_filter *filter, const char *format);

/* Whether a filter that is opened from `path` may be written back there. False: reported. */
bool may_change(const char *path, const struct args *args);

/* Saves the filter as a new file in a format (NULL: petal); replaces one only with --force. False:
 * reported. */
bool save_filter(const petal_filter *filter, const char *path, const char *format, const struct args *args);

/* Like save_filter(), but never replaces: a file that is there by now is left alone, and is no
 * failure. */
bool publish_filter(const petal_filter *filter, const char *path, const struct args *args);

/* Replaces the file that the filter was loaded from, or made for. False: reported. */
bool replace_file(const petal_filter *filter, const char *path, const char *format, const struct args *args);

/* Brings the file that open_container() opened up to date with the filter: in place, or by
 * replacing it. `way_out` follows the message if the file is left dirty. False: reported. */
bool write_back(petal_filter *filter, const char *path, const char *format, const struct args *args,
                const char *way_out);

/* The bytes of a small file, in memory of malloc(). NULL: reported. */
uint8_t *read_small_file(const char *path, size_t most_bytes, size_t *size_bytes);

/* 64 random bits. False: reported. */
bool random_bits(uint64_t *bits);

/* A text file in the making, beside its final name and with the mode that it will have. `token`
 * (random) tells it from those of others. A descriptor, or -1: errno says why. */
int open_draft(const char *path, uint64_t token);

/* Gives a complete draft its final name, or removes it. False: errno says why. */
bool publish_draft(const char *path, uint64_t token);
void remove_draft(const char *path, uint64_t token);

/* Writes a whole new text file, like save_filter(). */
bool save_text(const char *path, const char *text, size_t size_bytes, bool force);

#endif

/* formats.h - names of formats, and messages about files that can't be opened. */
#ifndef PETAL_CLI_FORMATS_H
#define PETAL_CLI_FORMATS_H

#include <petal/petal.h>
#include <stdbool.h>

/* Reports a failed call on `path`: prints the library's message, and the tool's advice if there is
 * any. Returns false. */
bool complain_of(const char *path, const petal_error *error);

/* The status of the last failure that complain_of() reported, or PETAL_OK after
 * forget_failure(). */
petal_status last_failure(void);
void forget_failure(void);

/* True if the status means that the file was read and is not intact: damaged, truncated, or
 * dirty. */
bool is_broken(petal_status status);

/* True if this is a regular file with the header of a petal file. */
bool is_petal_file(const char *path);

/* True if a format with this name exists (NULL means petal). Otherwise reports an error that lists
 * the known formats. */
bool check_format(const char *format);

/* True if the format is Petal's own (NULL means petal). */
bool is_petal(const char *format);

#endif

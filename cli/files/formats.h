/* formats.h - names of formats, and messages about files that can't be opened. */
#ifndef PETAL_CLI_FORMATS_H
#define PETAL_CLI_FORMATS_H

#include <petal/petal.h>
#include <stdbool.h>

/* Reports a failed call on `path`: the library's message, and advice from the tool if it has any.
 * Returns false. */
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

/* True if this format exists; NULL means petal. Otherwise reports an error with the existing
 * names. */
bool check_format(const char *format);

/* True if the format is Petal's own. NULL is. */
bool is_petal(const char *format);

#endif

/* formats.h - names of formats, and what to say of a file that is not opened. */
#ifndef PETAL_CLI_FORMATS_H
#define PETAL_CLI_FORMATS_H

#include <petal/petal.h>
#include <stdbool.h>

/* Reports a failed call on `path`: the library's message, and the tool's own way out if there is
 * one. Returns false. */
bool complain_of(const char *path, const petal_error *error);

/* The status of the last failure that complain_of() reported, or PETAL_OK after
 * forget_failure(). */
petal_status last_failure(void);
void forget_failure(void);

/* Whether it says that the file was read and is not whole: damaged, cut off, or dirty. */
bool is_broken(petal_status status);

/* Whether this is a regular file, and a petal file by its header. */
bool is_petal_file(const char *path);

/* Whether there is such a format; NULL is petal. False: reported, with the names there are. */
bool check_format(const char *format);

/* Whether a format is Petal's own; NULL is. */
bool is_petal(const char *format);

#endif

/* stream.h - filters on standard input and output, where a FILE is "-". */
#ifndef PETAL_CLI_STREAM_H
#define PETAL_CLI_STREAM_H

#include <petal/petal.h>
#include <stdbool.h>

/* Whether a name stands for standard input, or where a file is written for standard output. */
bool is_stream(const char *name);

/* The filter on standard input, with the flags, secret, format and limit of `options`, and checked
 * as petal_load() does. Without a format it is a petal file, or the only format that fits. Writes
 * the format to *format, unless it was given. */
petal_status read_stream(petal_open_options options, const char **format, petal_filter **filter,
                         petal_error *error);

/* Whether a filter may go to standard output, which a terminal does not take. False: reported. */
bool may_write_stream(void);

/* Writes the filter to standard output in a format (NULL: petal). False: reported, now or at the
 * end (finish_output()). */
bool write_stream(const petal_filter *filter, const char *format);

#endif

/* stream.h - reads and writes filters on standard input and output, for commands whose FILE is
 * "-". */
#ifndef PETAL_CLI_STREAM_H
#define PETAL_CLI_STREAM_H

#include <petal/petal.h>
#include <stdbool.h>

/* True if this name ("-") means standard input, or standard output if a file is written. */
bool is_stream(const char *name);

/* Reads the filter from standard input, with the flags, secret, format and limit of `options`,
 * checked as petal_load() does. If no format is given, the input must be a petal file or fit
 * exactly one other format. */
petal_status read_stream(petal_open_options options, petal_filter **filter, petal_error *error);

/* True if a filter may be written to standard output, which must not be a terminal. Returns false
 * after reporting an error. */
bool may_write_stream(void);

/* Writes the filter to standard output in a format (NULL means petal). Returns false on failure,
 * which is reported immediately or at the end (finish_output()). */
bool write_stream(const petal_filter *filter, const char *format);

#endif

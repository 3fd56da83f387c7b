/* progress.h - one line on stderr that shows the progress of a long operation. */
#ifndef PETAL_CLI_PROGRESS_H
#define PETAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* mode "auto" or NULL shows the line on a terminal after a second, unless `streaming` data goes to
 * a terminal too; "always" shows it immediately, even if stderr is not a terminal; "lines" is like
 * "always", but prints separate lines, at most one per second; "never" shows nothing. Call it again
 * once you know what is being streamed. */
void progress_start(const char *mode, bool streaming);

/* May be called as often as needed. total_bytes is 0 if unknown. */
void progress_show(const char *name, uint64_t done_bytes, uint64_t total_bytes, uint64_t keys);

/* Until progress_end(), the line shows the current activity ("saving" and a file) and how long it
 * has taken. Use it for calls that take a long time for large filters but don't report progress.
 * The line appears after a second, in every mode. */
void progress_begin(const char *what, const char *name);
void progress_end(void);

/* Removes the line from the terminal. Call it before anything else is written to the terminal, and
 * at the end. */
void progress_hide(void);

#endif

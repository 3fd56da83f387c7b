/* progress.h - one line on stderr that tells how far a long read has come. */
#ifndef PETAL_CLI_PROGRESS_H
#define PETAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* mode: "auto" (NULL too): on a terminal, after two seconds, and not if `streaming` data goes to
 * a terminal as well; "always": immediately, terminal or not; "lines": like always, but whole lines,
 * one per second at most; "never". */
void progress_start(const char *mode, bool streaming);

/* May be called as often as wanted. total_bytes 0: not known. */
void progress_show(const char *name, uint64_t done_bytes, uint64_t total_bytes, uint64_t keys);

/* Takes the line off the terminal, before anything else is written there and at the end. */
void progress_hide(void);

#endif

/* progress.h - one line on stderr that tells how far long work has come. */
#ifndef PETAL_CLI_PROGRESS_H
#define PETAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* mode: "auto" (NULL too): on a terminal, after a second, and not if `streaming` data goes to
 * a terminal as well; "always": immediately, terminal or not; "lines": like always, but whole lines,
 * one per second at most; "never". To be called again when it is known what is streamed. */
void progress_start(const char *mode, bool streaming);

/* May be called as often as wanted. total_bytes 0: not known. */
void progress_show(const char *name, uint64_t done_bytes, uint64_t total_bytes, uint64_t keys);

/* Until progress_end() the line says what is done, "saving" and a file, and for how long: for calls
 * that take long for big filters, and do not tell how far they have come. It comes after a second,
 * at once in no mode. */
void progress_begin(const char *what, const char *name);
void progress_end(void);

/* Takes the line off the terminal, before anything else is written there and at the end. */
void progress_hide(void);

#endif

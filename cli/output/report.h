/* report.h - the tool's output: one-line messages on stderr, and only data on stdout. */
#ifndef PETAL_CLI_REPORT_H
#define PETAL_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses: grep's three, and one for a file that another process is changing. After a
 * deferred signal the exit status is 128 + its number. */
enum { STATUS_OK = 0, STATUS_NO = 1, STATUS_ERROR = 2, STATUS_BUSY = 3, STATUS_SIGNAL = 128 };

/* One line on stderr: "petal: SUBJECT: message". SUBJECT (a file, an option) may be NULL. Bytes in
 * it that would break the line are shown as '?'. complain() reports the reason why the command
 * fails, and returns false. remark() prints all other messages. */
bool complain(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void remark(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens any of the descriptors 0 to 2 that are missing, so that no file of ours ever becomes
 * "standard output" by accident. The replacements fail when used, as a closed descriptor does. */
void guard_standard_files(void);

/* Flushes stdout. Returns false if any output so far could not be written. Such a failure is
 * reported later. */
bool flush_output(void);

/* Flushes stdout, then writes the bytes immediately. Adds the number of bytes that the system
 * accepted to *written; after a failure, that may not be all of them. The result is the same as for
 * flush_output(). */
bool write_output(const void *bytes, size_t size_bytes, uint64_t *written);

/* Returns how many of the bytes written to stdout have not been read yet: 0 if it is not a pipe,
 * UINT64_MAX if unknown. */
uint64_t unread_output(void);

/* True if stdout is a pipe whose readers are all gone. */
bool output_has_no_reader(void);

/* Waits until a pipe's reader has read everything or is gone, or until a stop signal arrives. */
void wait_for_reader(void);

/* If stdout is a file, makes it durable. Returns false if that failed, which finish_output()
 * reports. */
bool sync_output(void);

/* If stdout is a file, removes the last bytes written: a partial line that the next run prints in
 * full. */
void cut_output(uint64_t bytes);

/* Records that nobody is reading stdout any longer, just as a write that fails with EPIPE does. */
void output_is_gone(void);

/* Closes stdout, reports a failure, and returns the exit status. If the reader is gone, that is not
 * an error: the tool ends quietly, as if by SIGPIPE. */
int finish_output(int status);

#endif

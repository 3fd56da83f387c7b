/* report.h - what the tool says: one-line messages on stderr, and the care of stdout, where only
 * data goes. */
#ifndef PETAL_CLI_REPORT_H
#define PETAL_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses: grep's three, and a file that another process is changing. A signal that was
 * waited out gives 128 + its number. */
enum { STATUS_OK = 0, STATUS_NO = 1, STATUS_ERROR = 2, STATUS_BUSY = 3, STATUS_SIGNAL = 128 };

/* One line on stderr: "petal: SUBJECT: message". SUBJECT (a file, an option) may be NULL. Bytes in
 * it that would break the line are shown as '?'. complain() is for what makes the command fail, and
 * returns false; remark() for the rest. */
bool complain(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void remark(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens what is missing of the descriptors 0 to 2, so that no file of ours ever becomes "standard
 * output" by accident. What is opened in their place fails when used, as a closed one does. */
void guard_standard_files(void);

/* Hands to the system what stdout still holds. False once anything could not be written; not yet
 * reported. */
bool flush_output(void);

/* Hands the bytes to the system immediately, after what stdout holds. Adds to *written what the
 * system took, which after a failure may be a part. False as for flush_output(). */
bool write_output(const void *bytes, size_t size_bytes, uint64_t *written);

/* How many of the bytes written to stdout nobody has read: 0 unless it is a pipe; UINT64_MAX if
 * that can't be known. */
uint64_t unread_output(void);

/* Whether stdout is a pipe whose readers have all gone. */
bool output_has_no_reader(void);

/* Waits until the reader of a pipe has taken all, has gone, or a stop signal came. */
void wait_for_reader(void);

/* Makes a file durable. False: it could not, which finish_output() reports. */
bool sync_output(void);

/* Takes back the last bytes that were written to a file: part of a line, which the next run prints
 * whole. */
void cut_output(uint64_t bytes);

/* Notes that nobody reads stdout any more, as a write that fails with EPIPE does. */
void output_is_gone(void);

/* Ends stdout and turns a failure that nobody reported into the exit status. A reader that went
 * away is no error: the tool ends as if by SIGPIPE, quietly. */
int finish_output(int status);

#endif

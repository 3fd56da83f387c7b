/* error.h - fills in the caller's petal_error where a failure is detected. */
#ifndef PETAL_BASE_ERROR_H
#define PETAL_BASE_ERROR_H

#include "petal/petal.h"

#include <stddef.h>

#if defined(__GNUC__)
#define PETAL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PETAL_PRINTF(text, first)
#endif

/* These functions write *error, unless it is NULL, and return `status`, so that callers can `return
 * petal_fail(...)`. A message states on one line what is wrong and what to do. It omits the path,
 * which only the caller knows. */
petal_status petal_fail(petal_error *error, petal_status status, const char *format, ...)
    PETAL_PRINTF(3, 4);

/* Like petal_fail(), but also stores the input offset at which the failure was detected. */
petal_status petal_fail_at(petal_error *error, petal_status status, uint64_t offset,
                           const char *format, ...) PETAL_PRINTF(4, 5);

/* Like petal_fail() with PETAL_ERR_IO, for a system call that just set errno. */
petal_status petal_fail_errno(petal_error *error, int system_errno, const char *what);

/* -DPETAL_READ_ONLY builds a library that opens filters, queries them and writes them unchanged.
 * Code that depends on PETAL_IS_READ_ONLY or UNLESS_READ_ONLY() is compiled but not linked: it
 * plans, creates and changes filters, models rates, and uses stdio's formatting. */
#ifdef PETAL_READ_ONLY
#define PETAL_IS_READ_ONLY 1
#else
#define PETAL_IS_READ_ONLY 0
#endif
#define UNLESS_READ_ONLY(function) (PETAL_IS_READ_ONLY ? NULL : (function))

/* Fails with PETAL_ERR_UNSUPPORTED. For operations that a read-only build does not support. */
petal_status petal_refuse_read_only(petal_error *error);

/* Like snprintf(), but only for the conversions in our messages. A read-only build uses no stdio:
 * it prints floating-point numbers as "?", and pads only hexadecimal numbers. */
int petal_text(char *text, size_t size_bytes, const char *format, ...) PETAL_PRINTF(3, 4);

/* These calls return the status that they are passed. The macros tell this to the static analyzer,
 * which can't see into another file. */
#define petal_fail(error, status, ...) \
    (petal_fail((error), (status), __VA_ARGS__), (petal_status)(status))
#define petal_fail_at(error, status, offset, ...) \
    (petal_fail_at((error), (status), (offset), __VA_ARGS__), (petal_status)(status))
#define petal_fail_errno(error, system_errno, what) \
    (petal_fail_errno((error), (system_errno), (what)), PETAL_ERR_IO)

#endif

/* error.c - see error.h; and the names of the statuses. */
#define _POSIX_C_SOURCE 200112L /* the strerror_r that POSIX describes */

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(petal_error *error, petal_status status, uint64_t offset, int system_errno, const char *format,
                 va_list arguments)
{
    if (!error) return;
    error->status = status;
    error->offset = offset;
    error->system_errno = system_errno;
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

petal_status(petal_fail)(petal_error *error, petal_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, PETAL_NO_OFFSET, 0, format, arguments);
    va_end(arguments);
    return status;
}

petal_status(petal_fail_at)(petal_error *error, petal_status status, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, offset, 0, format, arguments);
    va_end(arguments);
    return status;
}

petal_status(petal_fail_errno)(petal_error *error, int system_errno, const char *what)
{
    char reason[128] = "";
    if (strerror_r(system_errno, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", system_errno);
    (petal_fail)(error, PETAL_ERR_IO, "%s: %s", what, reason);
    if (error) error->system_errno = system_errno;
    return PETAL_ERR_IO;
}

const char *petal_status_name(petal_status status)
{
    switch (status) {
    case PETAL_OK: return "ok";
    case PETAL_SEEN: return "seen";
    case PETAL_ABSENT: return "absent";
    case PETAL_UNCHECKED: return "nothing to check";
    case PETAL_ERR_ARGUMENT: return "bad argument";
    case PETAL_ERR_UNREACHABLE: return "rate out of reach";
    case PETAL_ERR_LIMIT: return "over a limit";
    case PETAL_ERR_MEMORY: return "out of memory";
    case PETAL_ERR_MISMATCH: return "filters differ";
    case PETAL_ERR_READ_ONLY: return "read-only";
    case PETAL_ERR_UNSUPPORTED: return "not supported";
    case PETAL_ERR_IO: return "i/o error";
    case PETAL_ERR_EXISTS: return "exists";
    case PETAL_ERR_BUSY: return "busy";
    case PETAL_ERR_NOT_A_FILTER: return "not a filter";
    case PETAL_ERR_NEWER: return "newer version";
    case PETAL_ERR_TRUNCATED: return "truncated";
    case PETAL_ERR_DAMAGED: return "damaged";
    case PETAL_ERR_DIRTY: return "dirty";
    case PETAL_ERR_SECRET_MISSING: return "secret needed";
    case PETAL_ERR_SECRET_WRONG: return "wrong secret";
    case PETAL_ERR_FULL: return "full";
    case PETAL_ERR_REPLACED: return "replaced";
    }
    return "unknown status";
}

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

const char *petal_version(void)
{
    return STRING(PETAL_VERSION_MAJOR) "." STRING(PETAL_VERSION_MINOR) "." STRING(PETAL_VERSION_PATCH);
}

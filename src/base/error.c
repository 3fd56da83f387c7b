/* error.c - see error.h. Also defines the names of the statuses. */
#define _POSIX_C_SOURCE 200112L /* selects the strerror_r() that POSIX specifies */

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#define strerror_r(number, text, size) strerror_s(text, size, number)
#endif

/* stdio's formatting code would be larger than all the text that a WebAssembly module prints. */
#if defined(PETAL_READ_ONLY) || defined(__wasm__)

struct text {
    char *at, *end; /* there is always room for the terminating zero */
};

static void put(struct text *text, char c)
{
    if (text->at < text->end) *text->at++ = c;
}

static void put_number(struct text *text, unsigned long long number, unsigned base, int digits)
{
    char reversed[64];
    int count = 0;
    for (; number || count < digits || count == 0; number /= base)
        reversed[count++] = "0123456789abcdef"[number % base];
    while (count) put(text, reversed[--count]);
}

static void put_string(struct text *text, const char *string, int max)
{
    for (; max != 0 && *string; string++, max--) put(text, *string);
}

#ifndef PETAL_READ_ONLY
#define MAX_DIGITS 15

/* Stores the digits of a nonnegative number, without trailing zeros. Returns the number of digits
 * and the first digit's power of ten. Each scaling by ten causes a rounding error, but the error is
 * far below the last digit. */
static int digits_of(double value, int precision, char *digits, int *exponent)
{
    unsigned long long unit = 1;
    for (int i = 1; i < precision; i++) unit *= 10;
    for (*exponent = 0; value >= 10; value /= 10) ++*exponent;
    for (; value > 0 && value < 1; value *= 10) --*exponent;
    unsigned long long number = (unsigned long long)(value * (double)unit + 0.5);
    if (number >= 10 * unit) number = unit, ++*exponent;
    for (int i = precision; i > 0; number /= 10) digits[--i] = (char)('0' + number % 10);
    while (precision > 1 && digits[precision - 1] == '0') precision--;
    return precision;
}

/* Formats a number like %g, with up to 15 digits. */
static void put_real(struct text *text, double value, int precision)
{
    char digits[MAX_DIGITS];
    int exponent;
    if (value < 0) put(text, '-'), value = -value;
    if (value - value != 0) {
        put_string(text, value != value ? "nan" : "inf", -1);
        return;
    }
    precision = precision < 0 ? 6 : precision == 0 ? 1 : precision;
    if (precision > MAX_DIGITS) precision = MAX_DIGITS;
    int count = digits_of(value, precision, digits, &exponent);
    bool scientific = exponent < -4 || exponent >= precision;
    int whole = scientific ? 1 : exponent + 1; /* number of digits before the decimal point */
    if (whole <= 0) put_string(text, "0.0000", 2 - whole);
    for (int i = 0; i < count || i < whole; i++) {
        if (i > 0 && i == whole) put(text, '.');
        put(text, i < count ? digits[i] : '0');
    }
    if (!scientific) return;
    put_string(text, exponent < 0 ? "e-" : "e+", -1);
    put_number(text, (unsigned)(exponent < 0 ? -exponent : exponent), 10, 2);
}
#endif

/* Formats one conversion, starting after its '%'. Returns the position after the conversion. */
static const char *convert(struct text *text, const char *format, va_list *arguments)
{
    int digits = 0, precision = -1, longs = 0;
    for (; *format == '#'; format++) put_string(text, "0x", -1);
    for (; *format >= '0' && *format <= '9'; format++) digits = digits % 10 * 10 + (*format - '0');
    if (*format == '.' && *++format == '*') precision = va_arg(*arguments, int), format++;
    for (; *format >= '0' && *format <= '9'; format++)
        precision = (precision < 0 ? 0 : precision) % 1000 * 10 + (*format - '0');
    for (; *format == 'l'; format++) longs++;
    if (*format == 's') {
        put_string(text, va_arg(*arguments, const char *), precision);
    } else if (*format == 'd') {
        long long number = longs == 2   ? va_arg(*arguments, long long)
                           : longs == 1 ? va_arg(*arguments, long)
                                        : va_arg(*arguments, int);
        if (number < 0) put(text, '-');
        put_number(text, number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number,
                   10, 0);
    } else if (*format == 'u' || *format == 'x') {
        unsigned long long number = longs == 2   ? va_arg(*arguments, unsigned long long)
                                    : longs == 1 ? va_arg(*arguments, unsigned long)
                                                 : va_arg(*arguments, unsigned);
        put_number(text, number, *format == 'u' ? 10 : 16, digits);
    } else if (*format == 'g') {
#ifdef PETAL_READ_ONLY
        (void)va_arg(*arguments, double);
        put(text, '?');
#else
        put_real(text, va_arg(*arguments, double), precision);
#endif
    } else {
        put(text, *format);
    }
    return format + 1;
}

static int vtext(char *to, size_t size_bytes, const char *format, va_list given)
{
    struct text text = {to, to + size_bytes - 1};
    va_list arguments;
    va_copy(arguments, given);
    while (*format) {
        if (*format == '%')
            format = convert(&text, format + 1, &arguments);
        else
            put(&text, *format++);
    }
    va_end(arguments);
    *text.at = '\0';
    return (int)(text.at - to);
}

#else
#define vtext vsnprintf
#endif

int petal_text(char *text, size_t size_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vtext(text, size_bytes, format, arguments);
    va_end(arguments);
    return length;
}

petal_status petal_refuse_read_only(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "not in this build, which only reads filters; use a full one");
}

static void fill(petal_error *error, petal_status status, uint64_t offset, int system_errno,
                 const char *format, va_list arguments)
{
    if (!error) return;
    error->status = status;
    error->offset = offset;
    error->system_errno = system_errno;
    vtext(error->message, sizeof error->message, format, arguments);
}

petal_status(petal_fail)(petal_error *error, petal_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, PETAL_NO_OFFSET, 0, format, arguments);
    va_end(arguments);
    return status;
}

petal_status(petal_fail_at)(petal_error *error, petal_status status, uint64_t offset,
                            const char *format, ...)
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
#ifdef __wasm__ /* on WebAssembly, no failing call sets errno, and error texts are long */
    petal_text(reason, sizeof reason, "error %d", system_errno);
#else
    if (strerror_r(system_errno, reason, sizeof reason) != 0)
        petal_text(reason, sizeof reason, "error %d", system_errno);
#endif
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

const char *petal_version(void)
{
    return PETAL_VERSION_STRING;
}

uint32_t petal_version_number(void)
{
    return PETAL_VERSION_NUMBER;
}

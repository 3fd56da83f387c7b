/* numbers.c - see numbers.h. Counts and sizes are parsed as integers, so that 2.5k is 2500 and 1e18
 * is exact. */
#include "output/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool refuse(struct why *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool times(uint64_t *value, uint64_t factor)
{
    return !__builtin_mul_overflow(*value, factor, value);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ') at++;
    return at;
}

/* digits * 10^scale, as written. */
struct decimal {
    uint64_t digits;
    int scale;
    bool overflow;
};

static void push_digit(struct decimal *d, char c)
{
    if (!times(&d->digits, 10) ||
        __builtin_add_overflow(d->digits, (uint64_t)(c - '0'), &d->digits))
        d->overflow = true;
}

/* Commas are allowed where we would print them: between groups of three digits. */
static bool is_group(const char *at)
{
    return *at == ',' && is_digit(at[1]) && is_digit(at[2]) && is_digit(at[3]) && !is_digit(at[4]);
}

/* The digits after the point. Trailing zeros change nothing. */
static const char *read_fraction(const char *at, struct decimal *d)
{
    const char *end = at;
    while (is_digit(*end)) end++;
    const char *last = end;
    while (last > at && last[-1] == '0') last--;
    for (; at < last; at++, d->scale--) push_digit(d, *at);
    return end;
}

/* The exponent of "1e9". An e that no number follows is read as part of the unit. */
static const char *read_exponent(const char *at, struct decimal *d)
{
    int sign = at[0] && at[1] == '-' ? -1 : 1;
    const char *digits = at + 1 + (at[0] && (at[1] == '-' || at[1] == '+'));
    if ((*at != 'e' && *at != 'E') || !is_digit(*digits)) return at;
    int exponent = 0;
    for (; is_digit(*digits); digits++)
        if (exponent < 10000) exponent = exponent * 10 + (*digits - '0');
    d->scale += sign * exponent;
    return digits;
}

/* Returns where the number ends, or `text` if there is none. */
static const char *read_decimal(const char *text, struct decimal *d)
{
    const char *at = text;
    *d = (struct decimal){0, 0, false};
    for (; is_digit(*at) || (at > text && is_group(at)); at++)
        if (*at != ',') push_digit(d, *at);
    if (*at == '.' && (at > text || is_digit(at[1]))) at = read_fraction(at + 1, d);
    return at == text ? text : read_exponent(at, d);
}

/* *value = d * unit. `whole` determines whether a remainder is refused or truncated. */
static bool scale_up(struct decimal d, uint64_t unit, bool whole, uint64_t *value, struct why *why)
{
    bool fits = !d.overflow && (d.digits == 0 || times(&d.digits, unit));
    for (; fits && d.digits && d.scale > 0; d.scale--) fits = times(&d.digits, 10);
    if (!fits) return refuse(why, "too large for 64 bits");
    for (; d.digits && d.scale < 0; d.scale++) {
        if (whole && d.digits % 10) return refuse(why, "not a whole number");
        d.digits /= 10;
    }
    *value = d.digits;
    return *value > 0 || refuse(why, "at least 1 is needed");
}

static uint64_t power(uint64_t base, int exponent)
{
    uint64_t result = 1;
    while (exponent-- > 0) result *= base;
    return result;
}

/* Returns the power of 1000 or 1024 that a letter means, or 0 if it has no meaning. */
static int unit_power(char c)
{
    switch (c) {
    case 'k':
    case 'K': return 1;
    case 'm':
    case 'M': return 2;
    case 'g':
    case 'G': return 3;
    case 't':
    case 'T': return 4;
    case 'P': return 5;
    default: return 0;
    }
}

bool parse_count(const char *text, uint64_t *value, struct why *why)
{
    struct decimal d;
    const char *at = read_decimal(text, &d);
    if (at == text)
        return refuse(why, *text == '-' ? "a count must be above 0"
                                        : "not a count; write 1000000, 1M or 1e6");
    at = skip_blanks(at);
    int exponent = *at == 'B' ? 3 : unit_power(*at);
    at += exponent > 0;
    bool binary = exponent > 0 && *at == 'i';
    at += binary;
    if (*at) return refuse(why, "not a count; write 1000000, 1M or 1e6");
    return scale_up(d, power(binary ? 1024 : 1000, exponent), true, value, why);
}

bool parse_size(const char *text, uint64_t *bytes, struct why *why)
{
    struct decimal d;
    const char *at = read_decimal(text, &d);
    if (at == text)
        return refuse(why, *text == '-' ? "a size must be above 0"
                                        : "not a size; write 64KiB, 1MB or 2GiB");
    at = skip_blanks(at);
    int exponent = unit_power(*at);
    at += exponent > 0;
    bool decimal = exponent > 0 && *at == 'B';
    if (exponent > 0 && *at == 'i') at++;
    if (*at == 'B') at++;
    if (*at) return refuse(why, "not a size; write 64KiB, 1MB or 2GiB");
    return scale_up(d, power(decimal ? 1000 : 1024, exponent), false, bytes, why);
}

/* Returns the text after "1" in "1:1000", "1/1000" and "1 in 1000", or NULL for any other text. */
static const char *after_ratio_sign(const char *at)
{
    if (*at == ':' || *at == '/') return skip_blanks(at + 1);
    return at[0] == 'i' && at[1] == 'n' && at[2] == ' ' ? skip_blanks(at + 2) : NULL;
}

static bool check_rate(double rate, const char *text, bool plain, struct why *why)
{
    if (rate > 0 && rate < 1) return true;
    if (rate <= 0) return refuse(why, "a rate must be above 0");
    if (plain && rate < 100 && strlen(text) < 20)
        return refuse(why, "a rate must be below 1; did you mean %s%%?", text);
    return refuse(why, "a rate must be below 1");
}

bool parse_rate(const char *text, double *rate, struct why *why)
{
    static const char *const example = "not a rate; write 0.01, 1% or 1:1000";
    struct decimal d;
    uint64_t of = 1;
    const char *at = read_decimal(text, &d);
    if (at == text)
        return refuse(why, "%s",
                      *text == '-' && is_digit(text[1]) ? "a rate must be above 0" : example);
    *rate =
        strtod(text, NULL); /* correctly rounded; anything that is not decimal was rejected above */
    at = skip_blanks(at);
    bool plain = *at == '\0';
    if (plain) return check_rate(*rate, text, true, why);
    if (strcmp(at, "%") == 0) {
        *rate /= 100;
        return check_rate(*rate, text, false, why);
    }
    const char *ratio = after_ratio_sign(at);
    if (!ratio || !parse_count(ratio, &of, why)) return refuse(why, "%s", example);
    *rate /= (double)of;
    return check_rate(*rate, text, false, why);
}

bool parse_share(const char *text, double *share, struct why *why)
{
    bool all = strcmp(text, "100%") == 0 || strcmp(text, "1") == 0;
    if (all) *share = 1;
    return all || parse_rate(text, share, why) || refuse(why, "not a share; write 80%% or 0.8");
}

static const struct time_unit {
    const char *name;
    uint64_t ms;
} time_units[] = {{"w", 604800000}, {"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};

enum { TIME_UNITS = sizeof time_units / sizeof *time_units, DAYS = 1 };

bool parse_window(const char *text, uint64_t *keys, uint64_t *ms, struct why *why)
{
    struct decimal d;
    const char *unit = skip_blanks(read_decimal(text, &d));
    *keys = *ms = 0;
    for (size_t i = 0; i < TIME_UNITS; i++)
        if (strcmp(unit, time_units[i].name) == 0 && unit != text)
            return scale_up(d, time_units[i].ms, false, ms, why);
    if (strcmp(unit, "m") == 0) return refuse(why, "minutes or millions? write 10min or 10M");
    return parse_count(text, keys, why) ||
           refuse(why, "not a window; write 10M for keys, or 7d, 12h, 30min, 90s for time");
}

bool parse_u64(const char *text, uint64_t *value, struct why *why)
{
    char *end;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!is_digit(*text) || (hex && !isxdigit((unsigned char)text[2])))
        return refuse(why, "not a whole number");
    errno = 0;
    *value = strtoull(text, &end, hex ? 16 : 10);
    if (errno == ERANGE) return refuse(why, "too large for 64 bits");
    return *end == '\0' || refuse(why, "not a whole number");
}

/* ---- writing --------------------------------------------------------------------------------- */

struct text grouped(uint64_t n)
{
    char digits[24];
    struct text out;
    char *to = out.s;
    int count = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

static const char thousands[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};

struct text compact(uint64_t n)
{
    uint64_t rest = n;
    int exponent = 0;
    struct text out;
    for (; rest >= 1000 && rest % 1000 == 0 && thousands[exponent] != 'T'; rest /= 1000)
        exponent++; /* as it is parsed */
    if (exponent == 0 || rest >= 1000) return grouped(n);
    snprintf(out.s, sizeof out.s, "%" PRIu64 "%c", rest, thousands[exponent]);
    return out;
}

struct text significant(double value, int digits)
{
    struct text out;
    double edge = 10 - 0.5 * pow(10, 1 - digits); /* 10 has one digit more */
    int decimals = digits - 1;
    if (!(value > 0)) return (struct text){"0"};
    for (double v = value; v >= edge; v /= 10) decimals--;
    for (double v = value; v < edge / 10; v *= 10) decimals++;
    snprintf(out.s, sizeof out.s, "%.*f", decimals < 0 ? 0 : decimals > 30 ? 30 : decimals, value);
    return out;
}

/* "2.50" reads better as "2.5" if the number was chosen, not measured. */
static void drop_zeros(char *text)
{
    if (!strchr(text, '.')) return;
    char *end = text + strlen(text);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') end[-1] = '\0';
}

struct text rounded(double n)
{
    int exponent = 0;
    if (n < 9999.5) return grouped((uint64_t)(n + 0.5));
    if (n >= 1e21) return (struct text){"over 1000E"};
    for (; n >= 999.5; n /= 1000) exponent++;
    struct text out = significant(n, 3);
    drop_zeros(out.s);
    size_t length = strlen(out.s);
    out.s[length] = thousands[exponent];
    out.s[length + 1] = '\0';
    return out;
}

struct text size_text(uint64_t bytes, int digits)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct text out;
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1023.5; value /= 1024) unit++;
    struct text number = significant(value, value >= 1000 && digits < 4 ? 4 : digits);
    if (value == floor(value)) drop_zeros(number.s);
    if (unit == 0)
        snprintf(out.s, sizeof out.s, "%.32s byte%s", grouped(bytes).s, plural(bytes));
    else
        snprintf(out.s, sizeof out.s, "%.32s %s", number.s, units[unit]);
    return out;
}

struct text span_text(uint64_t ms)
{
    struct text out = {""};
    size_t used = 0;
    for (size_t i = DAYS, shown = 0; i < TIME_UNITS && shown < 2; i++) {
        uint64_t count = ms / time_units[i].ms;
        ms %= time_units[i].ms;
        if (count == 0 && shown == 0) continue;
        if (count)
            used += (size_t)snprintf(out.s + used, sizeof out.s - used, "%s%" PRIu64 "%s",
                                     used ? " " : "", count, time_units[i].name);
        shown++;
    }
    if (used == 0) snprintf(out.s, sizeof out.s, "%" PRIu64 "ms", ms);
    return out;
}

struct text one_in(double rate)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "1 in %.32s", rounded(1 / rate).s);
    return out;
}

struct text rate_text(double rate, int digits)
{
    struct text out;
    if (isnan(rate)) return (struct text){"unknown"};
    if (rate > 0 && rate < 0.99e-5) return one_in(rate);
    snprintf(out.s, sizeof out.s, "%.32s %%", significant(rate * 100, digits).s);
    return out;
}

struct text asked_rate(double rate)
{
    struct text out;
    if (isnan(rate)) return (struct text){"unknown"};
    if (rate < 0.99e-5) return one_in(rate);
    struct text percent = significant(rate * 100, 3);
    drop_zeros(percent.s);
    snprintf(out.s, sizeof out.s, "%.32s %%", percent.s);
    return out;
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

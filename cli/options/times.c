/* times.c - see times.h.
 *
 *      1706700000        1706700000.25        1706700000250
 *      2024-01-31        2024-01-31T11:20Z    2024-01-31 12:20:00,250 +0100
 *      [31/Jan/2024:12:20:00 +0100]
 *
 * strptime() doesn't support fractions, needs a terminator, and takes month names from the locale.
 * Speed matters too, because logs have a time on each line. */
#define _POSIX_C_SOURCE 200809L

#include "options/times.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MS_PER_DAY INT64_C(86400000)
#define MAX_MS INT64_C(253402300799999) /* the end of 9999 */

struct reading {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char peek(const struct reading *reading)
{
    return reading->at < reading->end ? *reading->at : '\0';
}

static bool take(struct reading *reading, const char *one_of)
{
    char c = peek(reading);
    bool there = c != '\0' && strchr(one_of, c);
    reading->at += there;
    return there;
}

/* Exactly `digits` digits. */
static bool take_digits(struct reading *reading, int digits, int64_t *value)
{
    *value = 0;
    for (; digits > 0; digits--, reading->at++) {
        if (!is_digit(peek(reading))) return false;
        *value = *value * 10 + (*reading->at - '0');
    }
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Milliseconds from a fraction, which may have more digits. */
static int64_t take_fraction(struct reading *reading)
{
    int64_t ms = 0;
    for (int64_t unit = 100; is_digit(peek(reading)); unit /= 10, reading->at++)
        ms += unit * (*reading->at - '0');
    return ms;
}

/* 10^11 is the year 1973 in milliseconds, and the year 5138 in seconds. No log is older than the
 * former or newer than the latter. */
static enum time_form unit_of(int64_t number)
{
    if (number < INT64_C(100000000000)) return TIME_SECONDS;
    if (number < INT64_C(100000000000000)) return TIME_MILLISECONDS;
    return number < INT64_C(100000000000000000) ? TIME_MICROSECONDS : TIME_NANOSECONDS;
}

static bool read_number(struct reading *reading, enum time_form *form, int64_t *ms)
{
    int64_t number = 0;
    for (; is_digit(peek(reading)); reading->at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *reading->at - '0', &number))
            return false;
    int64_t fraction = 0;
    if (reading->end - reading->at > 1 && *reading->at == '.' && is_digit(reading->at[1])) {
        reading->at++;
        fraction = take_fraction(reading);
    }
    if (*form == TIME_UNKNOWN) *form = unit_of(number);
    *ms = *form == TIME_MILLISECONDS   ? number
          : *form == TIME_MICROSECONDS ? number / 1000
                                       : number / 1000000;
    if (*form != TIME_SECONDS) return true;
    if (number > MAX_MS / 1000) return false;
    *ms = number * 1000 + fraction;
    return true;
}

/* ---- dates ----------------------------------------------------------------------------------- */

/* Days since 1970-01-01 in the Gregorian calendar, computed in years that start in March, so that a
 * leap day is the last of its year. */
static int64_t day_number(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_day(int64_t year, int64_t month, int64_t day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1) return false;
    return day <= days[month - 1] + (month == 2 && leap);
}

/* "12:00", "12:00:00", "12:00:00.250": the parts are separated by `colon`, or by nothing. */
static bool take_clock(struct reading *reading, bool colon, int64_t *ms)
{
    int64_t hour, minute, second = 0;
    if (!take_digits(reading, 2, &hour) || (colon && !take(reading, ":")) ||
        !take_digits(reading, 2, &minute))
        return false;
    bool has_seconds = colon ? take(reading, ":") : is_digit(peek(reading));
    if (has_seconds && !take_digits(reading, 2, &second)) return false;
    *ms = ((hour * 60 + minute) * 60 + second) * 1000;
    struct reading after = *reading;
    if (has_seconds && take(&after, ".,") && is_digit(peek(&after))) {
        *reading = after;
        *ms += take_fraction(reading);
    }
    return hour < 24 && minute < 60 && second <= 60; /* a leap second counts as the next second */
}

/* "Z", "UTC", "+01:00", "+0100" or, directly after the time, "+01". Without a zone it is UTC. */
static bool take_zone(struct reading *reading, int64_t *ms)
{
    struct reading after = *reading;
    bool blank = take(&after, " "), minus = peek(&after) == '-';
    int64_t hours, minutes = 0;
    if (take(&after, "Zz")) {
        *reading = after;
        return true;
    }
    if (after.end - after.at >= 3 && memcmp(after.at, "UTC", 3) == 0) {
        reading->at = after.at + 3;
        return true;
    }
    if (!take(&after, "+-")) return true;
    bool whole = take_digits(&after, 2, &hours);
    bool has_minutes = whole && (take(&after, ":") || is_digit(peek(&after)));
    if (has_minutes) whole = take_digits(&after, 2, &minutes);
    if (blank && (!whole || !has_minutes)) return true; /* another field */
    if (!whole || hours > 18 || minutes > 59) return false;
    int64_t offset = (hours * 60 + minutes) * 60000;
    *ms += minus ? offset : -offset;
    *reading = after;
    return true;
}

/* Reads the time of day if one of these characters and a time follow the date. */
static bool take_time_of_day(struct reading *reading, const char *one_of, bool colon, int64_t *ms)
{
    struct reading after = *reading, behind;
    bool blank = peek(&after) == ' ' || peek(&after) == '\t';
    *ms = 0;
    if (!take(&after, one_of)) return true;
    behind = after;
    if (take_clock(&behind, colon, ms) && take_zone(&behind, ms)) {
        *reading = behind;
        return true;
    }
    *ms = 0;
    bool is_clock = after.end - after.at > 2 && is_digit(after.at[0]) && after.at[2] == ':';
    return blank && !is_clock; /* but another field */
}

static bool read_iso(struct reading *reading, int64_t *ms)
{
    int64_t year, month, day, clock;
    if (!take_digits(reading, 4, &year)) return false;
    char joint = peek(reading);
    bool basic = is_digit(joint);
    if (!basic && joint != '-' && joint != '/') return false;
    reading->at += !basic;
    if (!take_digits(reading, 2, &month)) return false;
    if (!basic && peek(reading) != joint) return false;
    reading->at += !basic;
    if (!take_digits(reading, 2, &day) || !is_day(year, month, day)) return false;
    if (!take_time_of_day(reading, basic ? "Tt" : "Tt \t", !basic, &clock)) return false;
    *ms = day_number(year, month, day) * MS_PER_DAY + clock;
    return true;
}

static bool take_month(struct reading *reading, int64_t *month)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (reading->end - reading->at < 3) return false;
    for (*month = 1; *month <= 12; ++*month)
        if (memcmp(reading->at, names + 3 * (*month - 1), 3) == 0) break;
    reading->at += 3;
    return *month <= 12;
}

static bool read_apache(struct reading *reading, int64_t *ms)
{
    int64_t year, month, day, clock;
    if (!take_digits(reading, 2, &day) || !take(reading, "/") || !take_month(reading, &month) ||
        !take(reading, "/") || !take_digits(reading, 4, &year) || !is_day(year, month, day) ||
        !take_time_of_day(reading, ":", true, &clock))
        return false;
    *ms = day_number(year, month, day) * MS_PER_DAY + clock;
    return true;
}

/* ---- any of them ----------------------------------------------------------------------------- */

/* The number of leading digits and the character after them determine the form. */
static enum time_form form_of(const struct reading *reading)
{
    const char *at = reading->at;
    while (at < reading->end && is_digit(*at)) at++;
    char next = at < reading->end ? *at : '\0';
    size_t digits = (size_t)(at - reading->at);
    if (digits == 2 && next == '/') return TIME_APACHE;
    if (digits == 4 && (next == '-' || next == '/')) return TIME_ISO;
    if (digits == 8 && (next == 'T' || next == 't')) return TIME_ISO;
    return digits > 0 ? TIME_SECONDS : TIME_UNKNOWN;
}

const char *time_read(const char *at, const char *end, enum time_form *form, uint64_t *ms)
{
    struct reading reading = {at, end};
    bool bracket = take(&reading, "[");
    enum time_form known = *form, seen = form_of(&reading);
    int64_t value = -1;
    bool is_number = seen == TIME_SECONDS, wanted = known == TIME_UNKNOWN || known == seen ||
                                                    (is_number && known <= TIME_NANOSECONDS);
    if (seen == TIME_UNKNOWN || !wanted) return NULL;
    if (!is_number) known = seen;
    bool good = is_number          ? read_number(&reading, &known, &value)
                : seen == TIME_ISO ? read_iso(&reading, &value)
                                   : read_apache(&reading, &value);
    if (!good || value < 0 || value > MAX_MS || (bracket && !take(&reading, "]"))) return NULL;
    if (is_digit(peek(&reading)) || is_letter(peek(&reading))) return NULL;
    *form = known;
    *ms = (uint64_t)value;
    return reading.at;
}

bool parse_time(const char *text, uint64_t *ms, struct why *why)
{
    const char *end = text + strlen(text);
    enum time_form form = TIME_UNKNOWN;
    if (time_read(text, end, &form, ms) == end && *ms > 0) return true;
    snprintf(why->text, sizeof why->text,
             "not a time; write 2024-01-31, 2024-01-31T12:00:00Z or seconds since 1970");
    return false;
}

uint64_t time_now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

const char *time_form_name(enum time_form form)
{
    static const char *const names[] = {"unknown",     "seconds",  "milliseconds", "microseconds",
                                        "nanoseconds", "ISO 8601", "day/Mon/year"};
    return names[form];
}

/* The inverse of day_number(), with the same years that start in March. */
struct text time_text(uint64_t ms)
{
    struct text out;
    int64_t day = (int64_t)(ms / (uint64_t)MS_PER_DAY) + 719468;
    unsigned second = (unsigned)(ms % (uint64_t)MS_PER_DAY / 1000);
    int64_t era = day / 146097, in_era = day % 146097;
    int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * y + y / 4 - y / 100), m = (5 * in_year + 2) / 153;
    int64_t year = 400 * era + y + (m > 9), month = m < 10 ? m + 3 : m - 9;
    snprintf(out.s, sizeof out.s, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 " %02u:%02u:%02u UTC",
             year, month, in_year - (153 * m + 2) / 5 + 1, second / 3600, second / 60 % 60,
             second % 60);
    return out;
}

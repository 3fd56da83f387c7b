/* times.h - converts times in the forms used by logs to milliseconds since 1970. */
#ifndef PETAL_CLI_TIMES_H
#define PETAL_CLI_TIMES_H

#include "output/numbers.h"

#include <stdbool.h>
#include <stdint.h>

enum time_form {
    TIME_UNKNOWN,
    TIME_SECONDS, /* since 1970, possibly with a fraction; the same for the next three */
    TIME_MILLISECONDS,
    TIME_MICROSECONDS,
    TIME_NANOSECONDS,
    TIME_ISO,   /* 2024-01-31, 2024-01-31T12:00:00.5+01:00, 2024/01/31 12:00:00 */
    TIME_APACHE /* [31/Jan/2024:12:00:00 +0100], with or without brackets */
};

/* Reads the time that starts at `at`, in text that ends before `end`. If *form is TIME_UNKNOWN it
 * becomes the form found (a number's unit depends on its size); otherwise only that form is
 * accepted. Without a zone a time is UTC. Returns the position after the time, or NULL if it isn't
 * a time or is not within the years 1970 to 9999. */
const char *time_read(const char *at, const char *end, enum time_form *form, uint64_t *ms);

/* Parses an option's text, all of which must be a time. The result is at least 1. */
bool parse_time(const char *text, uint64_t *ms, struct why *why);

/* The machine's clock. */
uint64_t time_now(void);

const char *time_form_name(enum time_form form);
struct text time_text(uint64_t ms); /* 2024-01-31 12:00:00 UTC */

#endif

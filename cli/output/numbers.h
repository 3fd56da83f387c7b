/* numbers.h - reads and prints counts, sizes and rates in the forms that people use. All commands
 * use this parser. */
#ifndef PETAL_CLI_NUMBERS_H
#define PETAL_CLI_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* The reason why a number was refused: one line, printed after "petal: -n 5x: ". */
struct why {
    char text[120];
};

/* "10M", "1e9", "2.5k", "29,619". k, M, G (or B) and T are powers of 1000; Ki, Mi, Gi and Ti of
 * 1024. At least 1. */
bool parse_count(const char *text, uint64_t *value, struct why *why);

/* Bytes: "64KiB", "1MB", "2G", "4096". KB is 1000; KiB and plain K are 1024, as in dd and head. At
 * least 1. */
bool parse_size(const char *text, uint64_t *bytes, struct why *why);

/* "0.01", "1%", "1:1000", "1/1000", "1 in 1000". Above 0 and below 1. */
bool parse_rate(const char *text, double *rate, struct why *why);

/* A share: "80%", "0.8". Above 0 and at most 1 (100%). */
bool parse_share(const char *text, double *share, struct why *why);

/* A window. "10M", a count, sets *keys; "7d", "12h", "30min", "90s" or "2w" sets *ms. The other
 * becomes 0. "10m" is ambiguous and refused. */
bool parse_window(const char *text, uint64_t *keys, uint64_t *ms, struct why *why);

/* A 64-bit integer, decimal or 0x hexadecimal; 0 is allowed. */
bool parse_u64(const char *text, uint64_t *value, struct why *why);

/* A piece of output, returned by value for use in a printf(): printf("%s", grouped(n).s). */
struct text {
    char s[48];
};

struct text grouped(uint64_t n);                   /* 29,619 */
struct text compact(uint64_t n);                   /* 100M if that is exact, otherwise 29,619 */
struct text rounded(double n);                     /* 38.1M; exact below 10,000 */
struct text size_text(uint64_t bytes, int digits); /* 118.6 MiB */
struct text rate_text(double rate, int digits);    /* 0.995 %, or 1 in 12.3M if easier to read */
struct text asked_rate(double rate); /* 1 %: a chosen number, without trailing zeros */
struct text significant(double value, int digits); /* 9.95, 12, 0.0012: never an exponent */
struct text span_text(uint64_t ms);                /* 7d, 1d 9h: the two largest units */
struct text one_in(double rate);                   /* 1 in 100 */
const char *plural(uint64_t n);                    /* "" for 1, "s" for others */

#endif

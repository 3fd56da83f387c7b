/* summary.h - code shared by several commands: adds keys to a filter, and prints the summary and
 * the warnings at the end. */
#ifndef PETAL_CLI_SUMMARY_H
#define PETAL_CLI_SUMMARY_H

#include "keys/keys.h"
#include "options/options.h"
#include "output/filter_info.h"

#include <petal/petal.h>

/* True if remarks for human readers should be printed: on a terminal, or with --verbose. */
bool is_verbose(const struct args *args);

/* Warns on stderr if the filter holds more keys than planned, or has saturated counters. */
void warn_if_overfilled(const char *path, const petal_filter *filter);

/* "urls.petal: 29,619 keys added, 36,800 bytes, blocked, k 6, 0.978 % false positives now", if
 * is_verbose(). */
void print_summary(const char *path, const petal_filter *filter, const struct args *args);

/* Reports why keys could not be added, and how that affects the file. Returns false. */
bool complain_of_change(const char *path, const petal_filter *filter, petal_status status,
                        const char *consequence);

/* Like add_some_keys(), for filters that reject the empty key. Skips the empty key, and sets its
 * result to 1. */
petal_status add_but_empty(petal_filter *filter, const struct key_block *block, uint8_t *results,
                           size_t *fresh, uint64_t *skipped);

/* Reports how many empty keys were skipped, if any. */
void say_skipped(const char *path, const petal_filter *filter, uint64_t skipped);

/* Adds every key of `reader` to the filter. Returns false after reporting an error; the keys before
 * the failed one have then been added. */
bool fill_filter(struct key_reader *reader, petal_filter *filter, const char *path);

/* Adds every key like fill_filter(), but stores a failure of the filter in *failure instead of
 * reporting it. */
bool try_to_fill(struct key_reader *reader, petal_filter *filter, const char *path,
                 petal_status *failure);

#endif

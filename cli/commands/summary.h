/* summary.h - what several commands share: filling a filter with keys, and the summary and warnings
 * printed at the end. */
#ifndef PETAL_CLI_SUMMARY_H
#define PETAL_CLI_SUMMARY_H

#include "keys/keys.h"
#include "options/options.h"
#include "output/filter_info.h"

#include <petal/petal.h>

/* True if remarks for people should be printed: on a terminal, or with --verbose. */
bool is_verbose(const struct args *args);

/* Warns on stderr if the filter holds more keys than planned, or has saturated counters. */
void warn_if_overfilled(const char *path, const petal_filter *filter);

/* "urls.petal: 29,619 keys added, 36,800 bytes, blocked, k 6, 0.978 % false positives now", if
 * is_verbose(). */
void print_summary(const char *path, const petal_filter *filter, const struct args *args);

/* Reports why keys could not be added, and what that means for the file. Returns false. */
bool complain_of_change(const char *path, const petal_filter *filter, petal_status status,
                        const char *consequence);

/* add_some_keys() for filters that reject the empty key: it is skipped, and its result is 1. */
petal_status add_but_empty(petal_filter *filter, const struct key_block *block, uint8_t *results,
                           size_t *fresh, uint64_t *skipped);

/* Reports how many empty keys were skipped, if any. */
void say_skipped(const char *path, const petal_filter *filter, uint64_t skipped);

/* Adds every key of `reader` to the filter. Returns false after reporting an error; the keys before
 * it have been added. */
bool fill_filter(struct key_reader *reader, petal_filter *filter, const char *path);

/* The same, but doesn't report a failure of the filter: *failure is its status. */
bool try_to_fill(struct key_reader *reader, petal_filter *filter, const char *path,
                 petal_status *failure);

#endif

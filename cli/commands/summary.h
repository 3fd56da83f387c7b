/* summary.h - the sentences about a filter that several commands end with, and filling one with
 * keys. */
#ifndef PETAL_CLI_SUMMARY_H
#define PETAL_CLI_SUMMARY_H

#include "keys/keys.h"
#include "options/options.h"
#include "output/filter_info.h"

#include <petal/petal.h>

/* Whether to print remarks that a pipe has no use for: on a terminal, or with --verbose. */
bool is_verbose(const struct args *args);

/* Says on stderr that the filter holds more keys than it was planned for, if it does, and that
 * counters are saturated. */
void warn_if_overfilled(const char *path, const petal_filter *filter);

/* "urls.petal: 29,619 keys added, 36,800 bytes, blocked, k 6, 0.978 % false positives now", if
 * is_verbose(). */
void print_summary(const char *path, const petal_filter *filter, const struct args *args);

/* Reports why keys could not be added, and what follows from it. Returns false. */
bool complain_of_change(const char *path, const petal_filter *filter, petal_status status,
                        const char *consequence);

/* add_some_keys() for filters that do not take the empty key: it is skipped, and its
 * result is 1. */
petal_status add_but_empty(petal_filter *filter, const struct key_block *block, uint8_t *results,
                           size_t *fresh, uint64_t *skipped);

/* Says how many empty keys were skipped, if any. */
void say_skipped(const char *path, const petal_filter *filter, uint64_t skipped);

/* Hands every key of `reader` to the filter. False: reported; the keys before are in. */
bool fill_filter(struct key_reader *reader, petal_filter *filter, const char *path);

/* The same, but a failure of the filter is not reported yet: *failure is then its status. */
bool try_to_fill(struct key_reader *reader, petal_filter *filter, const char *path,
                 petal_status *failure);

#endif

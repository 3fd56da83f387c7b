/* layers.h - helper functions for commands whose filters grow or have a time window. */
#ifndef PETAL_CLI_LAYERS_H
#define PETAL_CLI_LAYERS_H

#include "options/options.h"
#include "output/json.h"

#include <petal/petal.h>

/* Sets the clock of a time-window filter: to --now, or the current time. Does nothing for other
 * filters. */
void tell_time(petal_filter *filter, const struct args *args);

/* Prepares the filter opened from `path` for queries at the current time: replaces a time-window
 * filter with a copy without the expired keys, so that the file stays unchanged. Returns NULL if
 * the filter is NULL. Returns NULL after reporting an error. */
petal_filter *make_current(petal_filter *filter, const char *path, const struct args *args);

/* Begins a run of rows with times: sets the filter's clock (*clock) to the first row's time, unless
 * the clock is already later. Returns the number of leading rows whose times are not later than the
 * clock. */
size_t begin_run(petal_filter *filter, const uint64_t *times, size_t count, uint64_t *clock);

/* Adds key hashes, each at its own time, or at the filter's current time if `times` is NULL. */
petal_status add_at_times(petal_filter *filter, const uint64_t *hashes, const uint64_t *times,
                          size_t count, uint64_t *clock);

/* Records how far out of order rows were. Initialize with {0}. */
struct lateness {
    uint64_t rows, most_ms, beyond; /* `beyond`: number of rows late by more than a window */
};
void note_lateness(struct lateness *late, const uint64_t *times, size_t count, uint64_t clock,
                   uint64_t window_ms);

/* Warns if rows were late by more than the window, which happens if files are named in the wrong
 * order. */
void warn_of_lateness(const char *path, const struct lateness *late, uint64_t window_ms);

/* True if a command with these options can use this filter. --time-field needs a time window.
 * Without --time-field, prints a remark that the lines of a file are added at the current time.
 * `file`: an input that is not a stream, or NULL. Returns false after reporting an error. */
bool agrees_with_time(const char *path, const petal_info *info, const struct args *args,
                      const char *file);

/* "grows by layers x 2 ...", "the last 10M keys ...": describes a filter with a policy. */
struct policy_text {
    char s[240];
};
struct policy_text policy_text(const petal_filter *filter);

/* Prints one line per layer, oldest first, below a heading. */
void print_layers(const petal_filter *filter, const petal_info *info);

/* Prints members of the JSON object: the policy, and one entry per layer. Unless `has_stats` is
 * set, omits everything that is estimated from the bits. */
void json_policy(struct json *json, const petal_filter *filter, const petal_info *info,
                 bool has_stats);

#endif

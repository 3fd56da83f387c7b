/* layers.h - what commands do with filters that grow and filters that have a window. */
#ifndef PETAL_CLI_LAYERS_H
#define PETAL_CLI_LAYERS_H

#include "options/options.h"
#include "output/json.h"

#include <petal/petal.h>

/* Tells a filter with a window of time what time it is: that of --now, or of the clock. Others:
 * nothing to do. */
void tell_time(petal_filter *filter, const struct args *args);

/* Rows that bring their times are added in runs: tells the filter the time of the first one, unless
 * it is late, and returns how many of the rows come at the filter's time, *clock, or before it. */
size_t begin_run(petal_filter *filter, const uint64_t *times, size_t count, uint64_t *clock);

/* Adds hashes of keys, each at its time; without times, all at the filter's. */
petal_status add_at_times(petal_filter *filter, const uint64_t *hashes, const uint64_t *times,
                          size_t count, uint64_t *clock);

/* How far behind the rows before them others came. Begins as {0}. */
struct lateness {
    uint64_t rows, most_ms, beyond; /* `beyond`: by more than a window */
};
void note_lateness(struct lateness *late, const uint64_t *times, size_t count, uint64_t clock,
                   uint64_t window_ms);

/* Says so if rows came more than a window late, which a wrong order of files makes. */
void warn_of_lateness(const char *path, const struct lateness *late, uint64_t window_ms);

/* Whether a command that has these options can go on with this filter: --time-field is for a window
 * of time. Without it, that the lines of a file count as of now is worth a remark. `file`: one that
 * is read and is no stream, or NULL. False: reported. */
bool agrees_with_time(const char *path, const petal_info *info, const struct args *args,
                      const char *file);

/* "grows by layers x 2 ...", "the last 10M keys ...": of a filter with a policy. */
struct policy_text {
    char s[240];
};
struct policy_text policy_text(const petal_filter *filter);

/* A line for each layer, oldest first, under a head. */
void print_layers(const petal_filter *filter, const petal_info *info);

/* Members of the object: the policy, and one for each layer; without what only bits tell unless
 * `has_stats`. */
void json_policy(struct json *json, const petal_filter *filter, const petal_info *info,
                 bool has_stats);

#endif

/* layers.h - what commands do with filters that grow and filters that have a window. */
#ifndef PETAL_CLI_LAYERS_H
#define PETAL_CLI_LAYERS_H

#include "json.h"
#include "options.h"

#include <petal/petal.h>

/* Tells a filter with a window of time what time it is: that of --now, or of the clock. Others:
 * nothing to do. */
void tell_time(petal_filter *filter, const struct args *args);

/* "grows by layers x 2 ...", "the last 10M keys ...": of a filter with a policy. */
struct policy_text {
    char s[240];
};
struct policy_text policy_text(const petal_info *info);

/* A line for each layer, oldest first, under a head. */
void print_layers(const petal_filter *filter, const petal_info *info);

/* Members of the object: the policy, and one for each layer; without what only bits tell unless
 * `has_stats`. */
void json_policy(struct json *json, const petal_filter *filter, const petal_info *info,
                 bool has_stats);

#endif

/* combine.h - code shared by merge and intersect: combines the first filter with each of the others
 * and saves the result as a new filter. */
#ifndef PETAL_CLI_COMBINE_H
#define PETAL_CLI_COMBINE_H

#include "options/options.h"

#include <petal/petal.h>

/* petal_merge() or petal_intersect(). */
typedef petal_status operation(petal_filter *filter, const petal_filter *other, petal_error *error);

/* Runs the command named `verb`. If `folds`, the larger of two filters with different sizes is
 * folded before they are combined. Returns the exit status. */
int combine(const struct args *args, const char *verb, operation *operate, bool folds);

#endif

/* combine.h - what merge and intersect share: each of the other filters is applied to the first,
 * and the result is saved as a new filter. */
#ifndef PETAL_CLI_COMBINE_H
#define PETAL_CLI_COMBINE_H

#include "options/options.h"

#include <petal/petal.h>

/* petal_merge() or petal_intersect(). */
typedef petal_status operation(petal_filter *filter, const petal_filter *other, petal_error *error);

/* Runs the whole command; `verb` is its name. If `folds`, the larger of two filters with different
 * sizes is folded first. Returns the exit status. */
int combine(const struct args *args, const char *verb, operation *operate, bool folds);

#endif

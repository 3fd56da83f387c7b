/* combine.h - what merge and intersect have in common: the first filter, changed by each of the
 * others, saved as a new one. */
#ifndef PETAL_CLI_COMBINE_H
#define PETAL_CLI_COMBINE_H

#include "options/options.h"

#include <petal/petal.h>

/* petal_merge() or petal_intersect(). */
typedef petal_status operation(petal_filter *filter, const petal_filter *other, petal_error *error);

/* The whole command, `verb` being its name. If `folds`, of two filters of different sizes the
 * larger one is folded first. Returns the exit status. */
int combine(const struct args *args, const char *verb, operation *operate, bool folds);

#endif

/* plan.h - from what is asked (keys and rate, keys and memory, bits and hashes) to a shape, by inverting the exact models. */
#ifndef PETAL_SCHEME_PLAN_H
#define PETAL_SCHEME_PLAN_H

#include "scheme/scheme.h"

/* The settled shape for the size, scheme and rate fields of `options`. Status as of petal_plan(). */
petal_status petal_plan_shape(const petal_options *options, struct shape *shape, petal_error *error);

#endif

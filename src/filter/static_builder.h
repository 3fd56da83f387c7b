/* static_builder.h - builds a filter that never changes from all its keys. */
#ifndef PETAL_FILTER_STATIC_BUILDER_H
#define PETAL_FILTER_STATIC_BUILDER_H

#include "filter/filter.h"
#include "petal/petal_build.h"

/* Creates a builder that completes `frame`, a static filter of one layer without bits, and owns it.
 * On failure *builder is NULL and the caller still owns the frame. */
petal_status petal_static_builder_new(petal_filter *frame, uint32_t workers,
                                      petal_static_builder **builder, petal_error *error);

#endif

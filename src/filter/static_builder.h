/* static_builder.h - a filter that never changes, built from all its keys at once. */
#ifndef PETAL_FILTER_STATIC_BUILDER_H
#define PETAL_FILTER_STATIC_BUILDER_H

#include "filter/filter.h"

/* A builder of what becomes of `frame`, a static filter of one layer without bits, which it then
 * owns. On failure *builder is NULL and the frame is still the caller's. */
petal_status petal_static_builder_new(petal_filter *frame, uint32_t workers,
                                      petal_static_builder **builder, petal_error *error);

#endif

/* info.h - a filter's description for petal.h, whether it has bits or not. */
#ifndef PETAL_API_INFO_H
#define PETAL_API_INFO_H

#include "filter/filter.h"

/* What petal_get_info() says of a layer, or of the filter (PETAL_ALL_LAYERS). */
void petal_filter_describe(const petal_filter *filter, uint32_t layer, petal_info *info);

/* The same for petal_get_layers_info(). */
void petal_filter_describe_layers(const petal_filter *filter, uint32_t layer,
                                  petal_layers_info *info);

#endif

/* info.h - describes a filter for petal.h, with or without bits. */
#ifndef PETAL_API_INFO_H
#define PETAL_API_INFO_H

#include "filter/filter.h"

/* Fills in what petal_get_info() reports for a layer, or for the filter (PETAL_ALL_LAYERS). */
void petal_filter_describe(const petal_filter *filter, uint32_t layer, petal_info *info);

/* Fills in what petal_get_layers_info() reports for a layer, or for the filter
 * (PETAL_ALL_LAYERS). */
void petal_filter_describe_layers(const petal_filter *filter, uint32_t layer,
                                  petal_layers_info *info);

#endif

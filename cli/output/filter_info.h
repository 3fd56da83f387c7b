/* filter_info.h - the information that petal.h reports about a filter, returned as values. */
#ifndef PETAL_CLI_FILTER_INFO_H
#define PETAL_CLI_FILTER_INFO_H

#include <petal/petal.h>

/* petal_get_info() and petal_get_stats() for the whole filter. They fail only if misused. The
 * latter reads all bits. */
petal_info info_of(const petal_filter *filter);
petal_stats stats_of(const petal_filter *filter);

/* petal_get_layers_info() for a layer or PETAL_ALL_LAYERS, and petal_get_file_info(). */
petal_layers_info layers_info_of(const petal_filter *filter, uint32_t layer);
petal_file_info file_info_of(const petal_filter *filter);

/* The format of the file that the filter was opened from, or NULL if it was created in memory. */
const char *file_format_of(const petal_filter *filter);

/* True if the filter has this ability (PETAL_CAN_). */
bool can(const petal_filter *filter, uint32_t ability);

#endif

/* values.h - wraps the calls in petal.h that describe a filter, and returns their results as
 * values. Tests and fuzz targets use these wrappers where the calls can't fail. */
#ifndef PETAL_TESTS_VALUES_H
#define PETAL_TESTS_VALUES_H

#include "petal/petal.h"

#include <stddef.h>

static inline petal_layers_info layers_info_of(const petal_filter *filter, uint32_t layer)
{
    petal_layers_info info = PETAL_LAYERS_INFO_INIT;
    petal_get_layers_info(filter, layer, &info, NULL);
    return info;
}

static inline petal_file_info file_info_of(const petal_filter *filter)
{
    petal_file_info info = PETAL_FILE_INFO_INIT;
    petal_get_file_info(filter, &info, NULL);
    return info;
}

static inline petal_info info_of(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return info;
}

static inline petal_stats stats_of(const petal_filter *filter)
{
    petal_stats stats = PETAL_STATS_INIT;
    petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, NULL);
    return stats;
}

static inline petal_info layer_of(const petal_filter *filter, uint32_t number)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, number, &info, NULL);
    return info;
}

static inline petal_stats layer_stats(const petal_filter *filter, uint32_t number)
{
    petal_stats stats = PETAL_STATS_INIT;
    petal_get_stats(filter, number, &stats, NULL);
    return stats;
}

/* Returns true if each of the filter's keys can be replaced by its hash. */
static inline bool takes_hashes(const petal_filter *filter)
{
    return info_of(filter).abilities & PETAL_CAN_HASHES;
}

/* Returns 0 if another process is changing the filter's bits. */
static inline uint64_t content_of(const petal_filter *filter)
{
    uint64_t id = 0;
    petal_content_id(filter, &id, NULL);
    return id;
}

/* Returns the name of the format with this index, or NULL after the last format. */
static inline const char *format_name(uint32_t place)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    return petal_format_at(place, &info) ? info.name : NULL;
}

#endif

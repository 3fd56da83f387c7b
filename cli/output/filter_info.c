/* filter_info.c - see filter_info.h. */
#include "output/filter_info.h"

petal_info info_of(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return info;
}

petal_stats stats_of(const petal_filter *filter)
{
    petal_stats stats = PETAL_STATS_INIT;
    petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, NULL);
    return stats;
}

petal_layers_info layers_info_of(const petal_filter *filter, uint32_t layer)
{
    petal_layers_info info = PETAL_LAYERS_INFO_INIT;
    petal_get_layers_info(filter, layer, &info, NULL);
    return info;
}

petal_file_info file_info_of(const petal_filter *filter)
{
    petal_file_info info = PETAL_FILE_INFO_INIT;
    petal_get_file_info(filter, &info, NULL);
    return info;
}

const char *file_format_of(const petal_filter *filter)
{
    return file_info_of(filter).format_name;
}

bool can(const petal_filter *filter, uint32_t ability)
{
    return info_of(filter).abilities & ability;
}

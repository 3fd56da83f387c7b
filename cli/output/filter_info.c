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

bool can(const petal_filter *filter, uint32_t ability)
{
    return info_of(filter).abilities & ability;
}

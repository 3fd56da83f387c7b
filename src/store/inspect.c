/* inspect.c - what a filter is, and what bytes may be. */
#include "base/error.h"
#include "format/format.h"
#include "io/io.h"

const char *petal_format_name(size_t place)
{
    const struct format_def *format = petal_format_at(place);
    return format ? format->name : NULL;
}

petal_status petal_get_info(const petal_filter *filter, petal_info *info, petal_error *error)
{
    if (!info || info->struct_size != sizeof *info)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the info is not set up with PETAL_INFO_INIT");
    petal_filter_examine(filter, info);
    info->format_name = petal_format_origin(filter)->name;
    return PETAL_OK;
}

size_t petal_recognize(const void *bytes, size_t size_bytes, const char **names, size_t name_count)
{
    size_t count = 0;
    const struct format_def *format;
    for (size_t place = 0; (format = petal_format_at(place)) != NULL; place++) {
        enum fit fit = format->fits(bytes, size_bytes);
        if (fit == FIT_CERTAIN) count = 0;
        if (fit == FIT_NO) continue;
        if (count < name_count) names[count] = format->name;
        count++;
        if (fit == FIT_CERTAIN) return count;
    }
    return count;
}

petal_status petal_recognize_file(const char *path, const char **names, size_t name_count, size_t *fit_count,
                                  petal_error *error)
{
    struct mapping map;
    struct file file;
    *fit_count = 0;
    petal_status status = petal_io_open(path, ACCESS_READ, &file, error);
    if (status != PETAL_OK) return status;
    status = petal_io_map(&file, false, 0, &map, error);
    if (status == PETAL_OK) *fit_count = petal_recognize(map.bytes, (size_t)map.size_bytes, names, name_count);
    petal_io_unmap(&map);
    petal_io_close(&file);
    return status;
}

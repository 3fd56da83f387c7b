/* parquet.c - see parquet.h. Maps the file; the library finds the filters in it. */
#define _POSIX_C_SOURCE 200809L

#include "files/parquet.h"

#include "files/formats.h"
#include "output/filter_info.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/report.h"

#include <petal/petal_parquet.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file -------------------------------------------------------------------------------- */

struct parquet {
    const uint8_t *bytes;
    size_t size;
    petal_parquet_filter *filters;
    uint64_t count;
};

static bool map_file(const char *path, struct parquet *file)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return complain(path, "cannot open it: %s", strerror(errno));
    void *bytes = MAP_FAILED;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (bytes == MAP_FAILED) return complain(path, "cannot be mapped");
    file->bytes = bytes;
    file->size = (size_t)about.st_size;
    return true;
}

static void close_parquet(struct parquet *file)
{
    free(file->filters);
    if (file->bytes) munmap((void *)(uintptr_t)file->bytes, file->size);
}

static bool find_filters(const char *path, struct parquet *file)
{
    petal_error error;
    petal_status status =
        petal_parquet_list(file->bytes, file->size, NULL, 0, &file->count, &error);
    if (status != PETAL_OK) return complain_of(path, &error);
    file->filters = calloc(file->count + 1, sizeof *file->filters);
    if (!file->filters) {
        complain(path, "out of memory");
        return false;
    }
    petal_parquet_list(file->bytes, file->size, file->filters, file->count, &file->count, NULL);
    return true;
}

static bool open_parquet(const char *path, struct parquet *file)
{
    *file = (struct parquet){0};
    if (map_file(path, file) && find_filters(path, file)) return true;
    close_parquet(file);
    return false;
}

bool is_parquet_file(const char *path)
{
    char ends[8] = "";
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    off_t size = lseek(descriptor, 0, SEEK_END);
    bool read = size >= 12 && pread(descriptor, ends, 4, 0) == 4 &&
                pread(descriptor, ends + 4, 4, size - 4) == 4;
    close(descriptor);
    return read && (memcmp(ends, "PAR1", 4) == 0 || memcmp(ends, "PARE", 4) == 0) &&
           memcmp(ends, ends + 4, 4) == 0;
}

/* ---- one filter ------------------------------------------------------------------------------ */

static petal_filter *load(const char *path, const struct parquet *file,
                          const petal_parquet_filter *at)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.format = "parquet";
    if (petal_load(file->bytes + at->offset, at->size_bytes, &options, &filter, &error) != PETAL_OK)
        complain(path, "filter of column %s, row group %" PRIu32 ": %s", at->column, at->row_group,
                 error.message);
    return filter;
}

const char *parquet_place(const char *from)
{
    static const char prefix[] = "parquet:";
    return from && strncmp(from, prefix, sizeof prefix - 1) == 0 ? from + sizeof prefix - 1 : NULL;
}

/* Splits COLUMN from the number after the last colon, if there is one. */
static bool matches(const petal_parquet_filter *filter, const char *place)
{
    size_t length = strlen(filter->column);
    char group[16];
    snprintf(group, sizeof group, ":%" PRIu32, filter->row_group);
    if (strncmp(place, filter->column, length) != 0) return false;
    return place[length] == '\0' || strcmp(place + length, group) == 0;
}

/* Returns the only filter at that place. Returns NULL after reporting that there is none or more
 * than one. */
static const petal_parquet_filter *find_place(const char *path, const struct parquet *file,
                                              const char *place)
{
    const petal_parquet_filter *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++) {
        if (!matches(&file->filters[i], place)) continue;
        found = &file->filters[i];
        count++;
    }
    if (count == 0)
        complain(path, "has no filter at %s; petal info %s lists its filters", place, path);
    if (count > 1)
        complain(path, "has a filter at %s in %zu row groups; say which: parquet:%s:0 ...", place,
                 count, place);
    if (count == 1 && found->encrypted)
        complain(path, "column %s is encrypted; its filter cannot be read", found->column);
    return count == 1 && !found->encrypted ? found : NULL;
}

petal_filter *open_parquet_place(const char *path, const char *place)
{
    struct parquet file;
    if (!open_parquet(path, &file)) return NULL;
    const petal_parquet_filter *at = find_place(path, &file, place);
    petal_filter *filter = at ? load(path, &file, at) : NULL;
    close_parquet(&file);
    return filter;
}

/* ---- the list -------------------------------------------------------------------------------- */

static void print_json(const char *path, const petal_parquet_filter *at, const petal_info *info,
                       const petal_stats *stats)
{
    struct json json;
    json_begin(&json, stdout);
    json_text(&json, "file", path);
    json_text(&json, "column", at->column);
    json_count(&json, "row_group", at->row_group);
    json_text(&json, "physical_type", at->physical_type);
    json_bool(&json, "encrypted", at->encrypted);
    json_count(&json, "offset", at->offset);
    json_count(&json, "size_bytes", at->size_bytes);
    json_count(&json, "bits", info->bits);
    json_number(&json, "estimated_items", stats->estimated_items.value);
    json_number(&json, "estimated_rate", stats->estimated_rate);
    json_end(&json);
}

static void print_line(const petal_parquet_filter *at, const petal_info *info,
                       const petal_stats *stats)
{
    printf("%-24s %9" PRIu32 "  %-20s %10s", at->column, at->row_group, at->physical_type,
           at->encrypted ? "encrypted" : grouped(info->bytes).s);
    if (!at->encrypted)
        printf("  %10s  %s", rounded(stats->estimated_items.value).s,
               rate_text(stats->estimated_rate, 2).s);
    putchar('\n');
}

static bool list_one(const char *path, const struct parquet *file, const petal_parquet_filter *at,
                     bool json)
{
    petal_info info = PETAL_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    if (!at->encrypted) {
        petal_filter *filter = load(path, file, at);
        if (!filter) return false;
        info = info_of(filter);
        stats = stats_of(filter);
        petal_free(filter);
    }
    if (json)
        print_json(path, at, &info, &stats);
    else
        print_line(at, &info, &stats);
    return true;
}

bool list_parquet(const char *path, bool json)
{
    struct parquet file;
    bool good = true;
    if (!open_parquet(path, &file)) return false;
    if (!json)
        printf("%s: a Parquet file with %" PRIu64 " Bloom filter%s\n", path, file.count,
               plural(file.count));
    if (!json && file.count)
        printf("%-24s %9s  %-20s %10s  %10s  %s\n", "column", "row group", "type", "bytes", "keys",
               "rate now");
    for (size_t i = 0; i < file.count; i++)
        good = list_one(path, &file, &file.filters[i], json) && good;
    if (!json && file.count)
        printf("to query or extract one: --from parquet:%s:%" PRIu32 "\n", file.filters->column,
               file.filters->row_group);
    close_parquet(&file);
    return good;
}

/* build.c - the aggregates that make filters.
 *
 *   petal_build(key [, rate [, capacity]])
 *       Without a capacity: a static filter, the smallest, which collects 8 bytes per key until the
 *       last row. With one: a blocked filter for this many keys, which can be merged with others of
 *       the same capacity and rate.
 *   petal_merge(filter [, format])
 *       The union of filters.
 *
 * NULL keys and NULL filters are skipped. If nothing is left, the result is NULL. */
#include "glue.h"

/* What SQLite keeps for a group, zeroed at first. SQLite makes the final call after a failure,
 * too. */
struct build {
    petal_filter *filter;
    uint32_t key_type;
    const char *format; /* of the first file that petal_merge() read, and so of the result */
    bool failed;
};

static const double default_rate = 0.01;

/* ---- petal_build ----------------------------------------------------------------------------- */

/* Returns false after an error. NULL in SQL means the default. */
static bool read_rate(sqlite3_context *context, sqlite3_value *value, double *rate)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return true;
    *rate = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
    if (*rate > 0 && *rate < 1) return true;
    fail(context, "a false-positive rate is a number above 0 and below 1, such as 0.01");
    return false;
}

static bool read_capacity(sqlite3_context *context, sqlite3_value *value, uint64_t *capacity)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return true;
    if (type == SQLITE_INTEGER && sqlite3_value_int64(value) > 0) {
        *capacity = (uint64_t)sqlite3_value_int64(value);
        return true;
    }
    fail(context, "a capacity is a number of keys, 1 or more");
    return false;
}

/* The options come from the group's first row. */
static bool begin(sqlite3_context *context, int count, sqlite3_value **values, struct build *build)
{
    petal_error error;
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = default_rate;
    if (count > 1 && !read_rate(context, values[1], &options.rate)) return false;
    if (count > 2 && !read_capacity(context, values[2], &options.capacity)) return false;
    if (!options.capacity) options.scheme = PETAL_SCHEME_STATIC;
    options.refuse_overfull = options.capacity != 0;
    options.key_type = build->key_type = key_type_of(values[0]);
    options.allocator = &sqlite_memory;
    if (petal_create(&options, &build->filter, &error) == PETAL_OK) return true;
    fail_with(context, NULL, &error);
    return false;
}

static bool add(sqlite3_context *context, sqlite3_value *value, const struct build *build)
{
    struct key key;
    petal_error error;
    if (!key_read(context, value, build->key_type, &key)) return false;
    if (petal_add(build->filter, key.data, key.size) >= 0) return true;
    petal_last_error(build->filter, &error);
    fail_with(context, NULL, &error);
    return false;
}

void sql_build_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    struct build *build = sqlite3_aggregate_context(context, sizeof *build);
    if (!build) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (build->failed) return;
    build->failed = (!build->filter && !begin(context, count, values, build)) ||
                    !add(context, values[0], build);
}

void sql_build_final(sqlite3_context *context)
{
    petal_error error;
    struct build *build = sqlite3_aggregate_context(context, 0);
    if (!build || !build->filter) return; /* NULL */
    /* Builds a static filter. */
    if (!build->failed && petal_freeze(build->filter, &error) != PETAL_OK)
        fail_with(context, NULL, &error);
    else if (!build->failed)
        result_filter(context, build->filter, NULL);
    petal_free(build->filter);
}

/* ---- petal_merge ----------------------------------------------------------------------------- */

/* Copies the group's first filter; the others are merged into the copy. */
static bool copy_first(sqlite3_context *context, const struct source *source, struct build *build)
{
    petal_error error;
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_get_file_info(source->filter, &file, NULL);
    build->format = file.format_name;
    build->key_type = source->key_type;
    if (petal_clone(source->filter, &build->filter, &error) == PETAL_OK) return true;
    fail_with(context, source->path, &error);
    return false;
}

static bool take_in(sqlite3_context *context, const struct source *source, struct build *build)
{
    petal_error error;
    if (build->key_type && source->key_type && build->key_type != source->key_type) {
        fail(context, "filters of %s keys and of %s keys can't be merged",
             key_type_name(build->key_type), key_type_name(source->key_type));
        return false;
    }
    if (petal_merge(build->filter, source->filter, &error) == PETAL_OK) return true;
    fail_with(context, source->path, &error);
    return false;
}

void sql_merge_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct source source;
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
    struct build *build = sqlite3_aggregate_context(context, sizeof *build);
    if (!build) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (build->failed) return;
    build->failed = !source_open_once(context, values[0], count > 1 ? values[1] : NULL, &source);
    if (build->failed) return;
    build->failed =
        build->filter ? !take_in(context, &source, build) : !copy_first(context, &source, build);
    source_close(&source);
}

void sql_merge_final(sqlite3_context *context)
{
    struct build *build = sqlite3_aggregate_context(context, 0);
    if (!build || !build->filter) return;
    if (!build->failed) result_filter(context, build->filter, build->format);
    petal_free(build->filter);
}

/* build.c - implements the aggregates that create filters.
 *
 *   petal_build(key [, rate [, capacity]])
 *       Without a capacity, builds a static filter, the smallest kind, which collects 8 bytes per
 *       key until the last row. With a capacity, builds a blocked filter for this number of keys,
 *       which can be merged with other filters of the same capacity and rate.
 *   petal_merge(filter [, format])
 *       Returns the union of the filters.
 *
 * NULL keys and NULL filters are skipped. If every row is skipped, the result is NULL. */
#include "glue.h"

/* The state that SQLite stores for each group, initially zeroed. SQLite makes the final call even
 * after a failure. */
struct build {
    petal_filter *filter;
    uint32_t key_type;
    bool failed;
};

struct merge {
    struct merged merged;
    bool failed;
};

/* ---- petal_build ----------------------------------------------------------------------------- */

/* Returns false after an error. An SQL NULL selects the default. */
static bool read_rate(sqlite3_context *context, sqlite3_value *value, double *rate)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return true;
    *rate = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
    if (*rate > 0 && *rate < 1) return true;
    fail(context, RATE_RULE);
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
    fail(context, CAPACITY_RULE);
    return false;
}

/* The first row of the group determines the options. */
static bool begin(sqlite3_context *context, int count, sqlite3_value **values, struct build *build)
{
    petal_error error;
    double rate = DEFAULT_RATE;
    uint64_t capacity = 0;
    if (count > 1 && !read_rate(context, values[1], &rate)) return false;
    if (count > 2 && !read_capacity(context, values[2], &capacity)) return false;
    build->key_type = key_type_of(values[0]);
    petal_options options = build_options(rate, capacity, build->key_type, &sqlite_memory);
    if (petal_create(&options, &build->filter, &error) == PETAL_OK) return true;
    fail_with(context, NULL, &error);
    return false;
}

static bool add(sqlite3_context *context, sqlite3_value *value, const struct build *build)
{
    struct key key;
    petal_error error;
    if (!key_read(context, value, build->key_type, &key)) return false;
    petal_status added = petal_add(build->filter, key.data, key.size);
    key_free(&key);
    if (added >= 0) return true;
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

void sql_merge_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct source source;
    petal_error error;
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
    struct merge *merge = sqlite3_aggregate_context(context, sizeof *merge);
    if (!merge) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (merge->failed) return;
    merge->failed = !source_open_once(context, values[0], count > 1 ? values[1] : NULL, &source);
    if (merge->failed) return;
    merge->failed = !merged_add(&merge->merged, source.filter, &error);
    if (merge->failed) fail_with(context, source.path, &error);
    source_close(&source);
}

void sql_merge_final(sqlite3_context *context)
{
    struct merge *merge = sqlite3_aggregate_context(context, 0);
    if (!merge || !merge->merged.filter) return;
    if (!merge->failed) result_filter(context, merge->merged.filter, merge->merged.format);
    petal_free(merge->merged.filter);
}

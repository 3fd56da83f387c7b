/* merge.c - the aggregate petal_merge(filter [, format]): the union of filters.
 *
 * NULL filters are skipped. If nothing is left, the result is NULL. */
#include "glue.h"

#include <string.h>

static idx_t merge_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(struct merged);
}

static void merge_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    memset(state, 0, sizeof(struct merged));
}

static void merge_update(duckdb_function_info info, duckdb_data_chunk input,
                         duckdb_aggregate_state *states)
{
    struct call call = aggregate_call(info);
    struct column filter = column_of(input, 0), format = {0};
    bool has_format = call.overload->arguments > 1, done = true;
    if (has_format) format = column_of(input, 1);
    idx_t rows = duckdb_data_chunk_get_size(input);
    for (idx_t row = 0; row < rows && done; row++) {
        struct source source;
        petal_error error;
        if (is_null(&filter, row) || (has_format && is_null(&format, row))) continue;
        done = source_open(&call, &filter, has_format ? &format : NULL, row, row + 1, &source);
        if (!done) return;
        done = merged_add((struct merged *)states[row], source.filter, &error) ||
               fail_with(&call, source.path, &error);
        source_close(&source);
    }
}

static void merge_combine(duckdb_function_info info, duckdb_aggregate_state *source,
                          duckdb_aggregate_state *target, idx_t count)
{
    struct call call = aggregate_call(info);
    bool done = true;
    for (idx_t i = 0; i < count && done; i++) {
        petal_error error;
        const struct merged *from = (const struct merged *)source[i];
        struct merged *to = (struct merged *)target[i];
        if (!from->filter) continue;
        bool is_first = !to->filter;
        done = merged_add(to, from->filter, &error) || fail_with(&call, NULL, &error);
        if (is_first) to->format = from->format; /* which the copy in memory does not have */
    }
}

static void merge_finalize(duckdb_function_info info, duckdb_aggregate_state *states,
                           duckdb_vector result, idx_t count, idx_t offset)
{
    struct call call = aggregate_call(info);
    bool done = true;
    for (idx_t i = 0; i < count && done; i++) {
        const struct merged *merged = (const struct merged *)states[i];
        if (merged->filter)
            done = result_filter(&call, merged->filter, merged->format, result, offset + i);
        else
            set_null(result, offset + i);
    }
}

static void merge_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++) petal_free(((struct merged *)states[i])->filter);
}

const struct aggregate sql_merge = {merge_size,    merge_init,     merge_update,
                                    merge_combine, merge_finalize, merge_destroy};

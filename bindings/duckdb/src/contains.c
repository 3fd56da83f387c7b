/* contains.c - petal_contains(filter, key [, format]): true probably, false certainly not. */
#include "glue.h"

/* Where the answers go: one per row. */
struct answers {
    duckdb_vector vector;
    bool *rows;
};

static void answer_null(struct answers *answers, idx_t from, idx_t to)
{
    for (idx_t row = from; row < to; row++) set_null(answers->vector, row);
}

/* A foreign scheme that does not accept the empty key refuses a batch that has one. */
static bool ask_in_turn(const struct call *call, const petal_filter *filter,
                        const struct keys *keys, uint8_t *results)
{
    petal_error error;
    const petal_key *strings = keys->batch.data;
    for (uint64_t i = 0; i < keys->batch.count; i++)
        results[i] = petal_contains(filter, strings[i].data, strings[i].size_bytes);
    return petal_last_error(filter, &error) != PETAL_ERR_DAMAGED || fail_with(call, NULL, &error);
}

/* Bytes of 0 or 1, in the order of the keys. */
static bool ask(const struct call *call, const struct source *source, const struct keys *keys,
                uint8_t *results)
{
    petal_error error;
    petal_status status = petal_contains_batch(source->filter, &keys->batch, results, NULL, &error);
    if (status == PETAL_ERR_UNSUPPORTED && keys->batch.layout == PETAL_LAYOUT_POINTERS)
        return ask_in_turn(call, source->filter, keys, results);
    if (status == PETAL_OK) return true;
    petal_last_error(source->filter, &error); /* whose offset is that of the damaged block */
    return fail_with(call, source->path, &error);
}

/* Moves the answers, which start at `from`, to the rows of their keys. */
static void spread(const struct keys *keys, idx_t from, idx_t to, struct answers *answers)
{
    uint64_t next = keys->batch.count;
    for (idx_t row = to; row-- > from;) {
        if (next > 0 && keys->rows[next - 1] == row)
            answers->rows[row] = answers->rows[from + --next];
        else
            set_null(answers->vector, row);
    }
}

static bool answer(const struct call *call, const struct source *source, const struct column *key,
                   idx_t from, idx_t to, struct answers *answers)
{
    struct keys keys;
    if (!keys_read(call, key, call->overload->key, source->key_type, from, to, &keys)) return false;
    bool done = ask(call, source, &keys, (uint8_t *)answers->rows + from);
    if (done && keys.rows) spread(&keys, from, to, answers);
    keys_free(&keys);
    return done;
}

void sql_contains(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    struct call call = scalar_call(info);
    struct column filter = column_of(input, 0), key = column_of(input, 1), format = {0};
    bool has_format = call.overload->arguments > 2, done = true;
    if (has_format) format = column_of(input, 2);
    struct answers answers = {output, duckdb_vector_get_data(output)};
    idx_t rows = duckdb_data_chunk_get_size(input);
    for (idx_t from = 0, to; from < rows && done; from = to) {
        struct source source;
        to = same_until(&filter, has_format ? &format : NULL, from, rows);
        if (is_null(&filter, from) || (has_format && is_null(&format, from))) {
            answer_null(&answers, from, to);
            continue;
        }
        done = source_open(&call, &filter, has_format ? &format : NULL, from, to, &source);
        if (!done) return;
        done = answer(&call, &source, &key, from, to, &answers);
        source_close(&source);
    }
}

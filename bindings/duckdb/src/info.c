/* info.c - petal_info(filter [, format]): a JSON object; and petal_formats(): a row per
 * format, with the columns of `petal formats`. */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

/* ---- petal_info ------------------------------------------------------------------------------ */

static bool describe_row(const struct call *call, const struct column *filter,
                         const struct column *format, idx_t row, duckdb_vector output)
{
    struct source source;
    petal_error error;
    char text[DESCRIPTION_ROOM];
    if (!source_open(call, filter, format, row, row + 1, &source)) return false;
    bool done = describe(source.filter, text, &error) || fail_with(call, source.path, &error);
    if (done) duckdb_vector_assign_string_element(output, row, text);
    source_close(&source);
    return done;
}

void sql_info(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    struct call call = scalar_call(info);
    struct column filter = column_of(input, 0), format = {0};
    bool has_format = call.overload->arguments > 1, done = true;
    if (has_format) format = column_of(input, 1);
    idx_t rows = duckdb_data_chunk_get_size(input);
    for (idx_t row = 0; row < rows && done; row++) {
        if (is_null(&filter, row) || (has_format && is_null(&format, row)))
            set_null(output, row);
        else
            done = describe_row(&call, &filter, has_format ? &format : NULL, row, output);
    }
}

/* ---- petal_formats --------------------------------------------------------------------------- */

static const char *const abilities[] = {PETAL_FORMAT_ABILITY_NAMES};

enum { ABILITIES = sizeof abilities / sizeof abilities[0] };

static void add_column(duckdb_bind_info info, const char *name, duckdb_type type)
{
    duckdb_logical_type logical = duckdb_create_logical_type(type);
    duckdb_bind_add_result_column(info, name, logical);
    duckdb_destroy_logical_type(&logical);
}

void formats_bind(duckdb_bind_info info)
{
    add_column(info, "format", DUCKDB_TYPE_VARCHAR);
    for (size_t i = 0; i < ABILITIES; i++) add_column(info, abilities[i], DUCKDB_TYPE_BOOLEAN);
    add_column(info, "keys", DUCKDB_TYPE_VARCHAR);
}

/* The index of the next format. */
void formats_init(duckdb_init_info info)
{
    uint32_t *place = calloc(1, sizeof *place);
    if (place)
        duckdb_init_set_init_data(info, place, free);
    else
        duckdb_init_set_error(info, "petal: out of memory");
}

static void put_format(duckdb_data_chunk output, idx_t row, const petal_format_info *format)
{
    duckdb_vector_assign_string_element(duckdb_data_chunk_get_vector(output, 0), row, format->name);
    for (size_t i = 0; i < ABILITIES; i++) {
        bool *column = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, i + 1));
        column[row] = format->abilities >> i & 1;
    }
    duckdb_vector_assign_string_element(duckdb_data_chunk_get_vector(output, ABILITIES + 1), row,
                                        format->keys);
}

void formats_rows(duckdb_function_info info, duckdb_data_chunk output)
{
    uint32_t *place = duckdb_function_get_init_data(info);
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    idx_t row = 0, room = duckdb_vector_size();
    while (row < room && petal_format_at(*place, &format)) {
        put_format(output, row++, &format);
        ++*place;
    }
    duckdb_data_chunk_set_size(output, row);
}

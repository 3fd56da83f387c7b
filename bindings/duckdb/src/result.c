/* result.c - returns failures and filters as results of SQL functions. */
#include "glue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct call scalar_call(duckdb_function_info info)
{
    return (struct call){info, duckdb_scalar_function_set_error,
                         duckdb_scalar_function_get_extra_info(info)};
}

struct call aggregate_call(duckdb_function_info info)
{
    return (struct call){info, duckdb_aggregate_function_set_error,
                         duckdb_aggregate_function_get_extra_info(info)};
}

/* ---- failures -------------------------------------------------------------------------------- */

bool fail(const struct call *call, const char *format, ...)
{
    char said[MESSAGE_ROOM], message[MESSAGE_ROOM + 16];
    va_list values;
    va_start(values, format);
    vsnprintf(said, sizeof said, format, values);
    va_end(values);
    snprintf(message, sizeof message, "petal: %s", said);
    call->set_error(call->info, message);
    return false;
}

bool fail_with(const struct call *call, const char *file, const petal_error *error)
{
    char text[MESSAGE_ROOM];
    return fail(call, "%s", failure_text(file, error, text));
}

bool fail_memory(const struct call *call)
{
    return fail(call, "out of memory");
}

/* ---- values ---------------------------------------------------------------------------------- */

void set_null(duckdb_vector vector, idx_t row)
{
    duckdb_vector_ensure_validity_writable(vector);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
}

bool fits_in_a_blob(const struct call *call, uint64_t size)
{
    return size <= UINT32_MAX || fail(call, "the filter has %llu bytes; a blob has at most %llu",
                                      (unsigned long long)size, (unsigned long long)UINT32_MAX);
}

bool result_filter(const struct call *call, const petal_filter *filter, const char *format,
                   duckdb_vector output, idx_t row)
{
    petal_error error;
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    uint64_t size = petal_serialized_bytes(filter, &options);
    if (!fits_in_a_blob(call, size)) return false;
    char *bytes = malloc(size > 0 ? (size_t)size : 1);
    if (!bytes) return fail_memory(call);
    bool done = petal_serialize(filter, &options, bytes, size, &error) == PETAL_OK;
    if (done)
        duckdb_vector_assign_string_element_len(output, row, bytes, size);
    else
        fail_with(call, NULL, &error);
    free(bytes);
    return done;
}

/* type.c - the type petal, with text and binary input and output, conversion to and from bytea,
 * files, the union of two filters, and petal_info().
 *
 * Every conversion to this type verifies the bytes, so a value is always an intact petal file. */
#include "glue.h"

#include "catalog/pg_authid.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

/* Returns the format that an argument names, or "auto" if there is no such argument. */
static const char *format_argument(FunctionCallInfo fcinfo, int argument)
{
    return PG_NARGS() > argument ? text_to_cstring(PG_GETARG_TEXT_PP(argument)) : "auto";
}

/* A petal file is stored unchanged. A file in another format is converted to a petal file, which
 * has the same bits and records the original format. */
static bytea *value_from(const petal_filter *filter, const void *bytes, size_t size)
{
    petal_file_info info = PETAL_FILE_INFO_INIT;
    petal_get_file_info(filter, &info, NULL);
    if (!bytes || strcmp(info.format_name, "petal") != 0) return value_of(filter, NULL);
    check_size(size);
    bytea *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    memcpy(VARDATA(value), bytes, size);
    return value;
}

static bytea *value_from_bytes(const void *bytes, size_t size, const char *format)
{
    petal_error error;
    petal_filter *filter;
    petal_allocator memory = memory_of(CurrentMemoryContext);
    petal_open_options options = open_options(&memory, format, PETAL_OPEN_VERIFY);
    if (petal_view(bytes, size, &options, &filter, &error) != PETAL_OK) fail_with(NULL, &error);
    bytea *value = value_from(filter, bytes, size);
    petal_free(filter);
    return value;
}

/* ---- text and binary ------------------------------------------------------------------------- */

SQL_FUNCTION(pg_petal_in)
{
    bytea *bytes = DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
    PG_RETURN_BYTEA_P(value_from_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), "auto"));
}

/* The output is hex digits, like bytea's default. The bytea_output setting has no effect. */
SQL_FUNCTION(pg_petal_out)
{
    bytea *value = PG_GETARG_BYTEA_PP(0);
    size_t size = VARSIZE_ANY_EXHDR(value);
    if (size > (MaxAllocSize - 3) / 2)
        fail(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
             "the filter has %llu bytes, too many for text; use the binary format",
             (unsigned long long)size);
    char *text = palloc(2 * size + 3);
    memcpy(text, "\\x", 2);
    text[2 + hex_encode(VARDATA_ANY(value), size, text + 2)] = '\0';
    PG_RETURN_CSTRING(text);
}

SQL_FUNCTION(pg_petal_recv)
{
    StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
    int size = message->len - message->cursor;
    PG_RETURN_BYTEA_P(value_from_bytes(pq_getmsgbytes(message, size), (size_t)size, "auto"));
}

/* ---- bytea and files ------------------------------------------------------------------------- */

/* petal_from_bytea(bytes [, format]) */
SQL_FUNCTION(pg_petal_from_bytea)
{
    bytea *bytes = PG_GETARG_BYTEA_PP(0);
    PG_RETURN_BYTEA_P(
        value_from_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), format_argument(fcinfo, 1)));
}

/* petal_to_bytea(filter, format) */
SQL_FUNCTION(pg_petal_to_bytea)
{
    bytea *value = PG_GETARG_BYTEA_PP(0);
    const char *format = format_argument(fcinfo, 1);
    petal_allocator memory = memory_of(CurrentMemoryContext);
    petal_filter *filter = value_view(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &memory);
    bytea *bytes = value_of(filter, format);
    petal_free(filter);
    PG_RETURN_BYTEA_P(bytes);
}

/* petal_from_file(path [, format]) */
SQL_FUNCTION(pg_petal_from_file)
{
    petal_error error;
    struct stat about;
    if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("petal: only roles with privileges of pg_read_server_files may read "
                               "files of the server")));
    char *path = text_to_cstring(PG_GETARG_TEXT_PP(0));
    petal_allocator memory = memory_of(CurrentMemoryContext);
    petal_open_options options = open_options(&memory, format_argument(fcinfo, 1), PETAL_OPEN_LOAD);
    options.memory_limit = 2 * (uint64_t)VALUE_LIMIT; /* for the file and the filter */
    petal_filter *filter = read_filter(path, &options, &about, &error);
    if (!filter) fail_with(path, &error);
    bytea *value = value_from(filter, NULL, 0);
    petal_free(filter);
    PG_RETURN_BYTEA_P(value);
}

/* ---- whole filters --------------------------------------------------------------------------- */

SQL_FUNCTION(pg_petal_union)
{
    bytea *left = PG_GETARG_BYTEA_PP(0), *right = PG_GETARG_BYTEA_PP(1);
    petal_allocator memory = memory_of(CurrentMemoryContext);
    petal_filter *filter = value_load(VARDATA_ANY(left), VARSIZE_ANY_EXHDR(left), &memory);
    petal_filter *other = value_view(VARDATA_ANY(right), VARSIZE_ANY_EXHDR(right), &memory);
    value_merge(filter, other);
    bytea *value = value_of(filter, NULL);
    petal_free(other);
    petal_free(filter);
    PG_RETURN_BYTEA_P(value);
}

SQL_FUNCTION(pg_petal_info)
{
    petal_error error;
    char text[DESCRIPTION_ROOM];
    bytea *value = PG_GETARG_BYTEA_PP(0);
    petal_allocator memory = memory_of(CurrentMemoryContext);
    petal_filter *filter = value_view(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &memory);
    if (!describe(filter, text, &error)) fail_damaged(&error);
    petal_free(filter);
    PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

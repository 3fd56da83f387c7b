/* value.c - opens values of type petal as filters, converts filters to values, raises the core's
 * failures as PostgreSQL's errors, and allocates memory from PostgreSQL's contexts. */
#include "glue.h"

#include <errno.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* PostgreSQL aligns memory to 8 bytes. The core requires malloc's alignment, and is fastest if
 * memory is aligned to cache lines. The word before the aligned memory contains the address to
 * release. */
enum { ALIGNMENT = 64, ROOM = ALIGNMENT + sizeof(void *) };

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    if (size_bytes > MaxAllocHugeSize - ROOM)
        return NULL; /* a larger size would raise an error in spite of NO_OOM */
    char *whole = MemoryContextAllocExtended(context, size_bytes + ROOM,
                                             MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
    if (!whole) return NULL;
    void **aligned = (void **)TYPEALIGN(ALIGNMENT, whole + sizeof(void *));
    aligned[-1] = whole;
    return aligned;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context, (void)size_bytes;
    if (memory) pfree(((void **)memory)[-1]);
}

petal_allocator memory_of(MemoryContext context)
{
    return (petal_allocator){alloc_zeroed, release, context};
}

/* ---- failures -------------------------------------------------------------------------------- */

void fail(int code, const char *format, ...)
{
    va_list values;
    char text[MESSAGE_ROOM];
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    ereport(ERROR, (errcode(code), errmsg("petal: %s", text)));
}

static int code_of(const petal_error *error)
{
    switch (error->status) {
    case PETAL_ERR_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    case PETAL_ERR_LIMIT:
    case PETAL_ERR_FULL: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case PETAL_ERR_ARGUMENT:
    case PETAL_ERR_UNREACHABLE:
    case PETAL_ERR_MISMATCH: return ERRCODE_INVALID_PARAMETER_VALUE;
    case PETAL_ERR_UNSUPPORTED:
    case PETAL_ERR_SECRET_MISSING: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case PETAL_ERR_BUSY: return ERRCODE_OBJECT_IN_USE;
    case PETAL_ERR_IO: return ERRCODE_IO_ERROR;
    default: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    }
}

void fail_with(const char *file, const petal_error *error)
{
    char text[MESSAGE_ROOM];
    failure_text(file, error, text);
    if (error->status != PETAL_ERR_IO) fail(code_of(error), "%s", text);
    errno = error->system_errno;
    ereport(ERROR, (errcode_for_file_access(), errmsg("petal: %s", text)));
}

void fail_damaged(const petal_error *error)
{
    char text[MESSAGE_ROOM];
    fail(ERRCODE_DATA_CORRUPTED, "%s", failure_text(NULL, error, text));
}

/* ---- values ---------------------------------------------------------------------------------- */

petal_open_options open_options(const petal_allocator *memory, const char *format, uint32_t flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.allocator = memory;
    options.format = format;
    options.max_bytes = options.memory_limit = VALUE_LIMIT;
    return options;
}

petal_filter *value_view(const void *bytes, size_t size, const petal_allocator *memory)
{
    petal_error error;
    petal_filter *filter;
    petal_open_options options = open_options(memory, NULL, PETAL_OPEN_VERIFY_ON_USE);
    if (petal_view(bytes, size, &options, &filter, &error) != PETAL_OK) fail_damaged(&error);
    return filter;
}

petal_filter *value_load(const void *bytes, size_t size, const petal_allocator *memory)
{
    petal_error error;
    petal_filter *filter;
    petal_open_options options = open_options(memory, NULL, PETAL_OPEN_LOAD);
    if (petal_load(bytes, size, &options, &filter, &error) == PETAL_OK) return filter;
    if (error.status == PETAL_ERR_MEMORY) fail_with(NULL, &error);
    fail_damaged(&error);
}

void value_merge(petal_filter *filter, const petal_filter *other)
{
    petal_error error;
    if (!key_types_agree(filter, other, &error))
        fail(ERRCODE_DATATYPE_MISMATCH, "%s", error.message);
    if (petal_merge(filter, other, &error) != PETAL_OK) fail_with(NULL, &error);
}

void check_size(uint64_t bytes)
{
    if (bytes > VALUE_LIMIT)
        fail(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
             "the filter has %llu bytes, and PostgreSQL's limit for a value is %llu",
             (unsigned long long)bytes, (unsigned long long)VALUE_LIMIT);
}

bytea *value_of(const petal_filter *filter, const char *format)
{
    petal_error error;
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    uint64_t size = petal_serialized_bytes(filter, &options);
    check_size(size);
    bytea *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    if (petal_serialize(filter, &options, VARDATA(value), size, &error) != PETAL_OK)
        fail_with(NULL, &error);
    return value;
}

/* contains.c - petal_contains(filter, key): false means certainly not.
 *
 * A query usually passes the same filter for every row. So each call to petal_contains() in a query
 * keeps its latest filter and the filter's bytes in the query's memory context (fn_mcxt), and
 * compares the next value with them:
 *   - A value in a TOAST table is identified by its pointer. TOAST values never change.
 *   - Any other value is compared byte by byte, up to the end of its checksums. They precede the
 *     bits, so if a value of the same size has different bits, its checksums differ.
 * This also helps if PostgreSQL doesn't know that a value is constant, for example if it is the
 * result of a scalar subquery or a filter joined to many rows. */
#include "glue.h"

#include "access/detoast.h"

/* The most recently opened filter. */
struct memo {
    struct key_source source;
    MemoryContext context; /* memory for the bytes and the filter */
    petal_allocator memory;
    petal_filter *filter; /* NULL if no filter is open */
    uint32_t key_type;
    bool is_toasted;
    struct varatt_external toast;
    const char *bytes;
    size_t size, identity; /* bytes in the value, and in the prefix that identifies it */
};

static struct memo *memo_of(FunctionCallInfo call)
{
    struct memo *memo = call->flinfo->fn_extra;
    if (memo) return memo;
    struct key_source source = key_source_of(call, 1);
    memo = MemoryContextAllocZero(call->flinfo->fn_mcxt, sizeof *memo);
    memo->source = source;
    memo->context =
        AllocSetContextCreate(call->flinfo->fn_mcxt, "petal_contains", ALLOCSET_DEFAULT_SIZES);
    memo->memory = memory_of(memo->context);
    call->flinfo->fn_extra = memo;
    return memo;
}

static bool is_same(const struct memo *memo, struct varlena *value)
{
    if (!memo->filter) return false;
    if (VARATT_IS_EXTERNAL_ONDISK(value)) {
        struct varatt_external toast;
        VARATT_EXTERNAL_GET_POINTER(toast, value);
        return memo->is_toasted && memcmp(&toast, &memo->toast, sizeof toast) == 0;
    }
    return !VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value) &&
           VARSIZE_ANY_EXHDR(value) == memo->size &&
           memcmp(VARDATA_ANY(value), memo->bytes, memo->identity) == 0;
}

/* Returns the offset in the value at which its checksums end. In the petal format, checksums are in
 * the same order as their blocks, and the last byte of a value belongs to the last block. */
static size_t end_of_checksums(const struct memo *memo)
{
    petal_range block, sum;
    if (petal_block_ranges(memo->filter, memo->size - 1, &block, &sum, NULL) != PETAL_OK)
        return memo->size;
    return (size_t)(sum.offset + sum.size_bytes);
}

static void open_value(struct memo *memo, struct varlena *value)
{
    petal_info info = PETAL_INFO_INIT;
    memo->filter = NULL;
    MemoryContextReset(memo->context);
    MemoryContext caller = MemoryContextSwitchTo(memo->context);
    memo->is_toasted = VARATT_IS_EXTERNAL_ONDISK(value);
    if (memo->is_toasted) VARATT_EXTERNAL_GET_POINTER(memo->toast, value);
    struct varlena *copy = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
    MemoryContextSwitchTo(caller);
    memo->bytes = VARDATA(copy);
    memo->size = VARSIZE(copy) - VARHDRSZ;
    petal_filter *filter = value_view(memo->bytes, memo->size, &memo->memory);
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    memo->key_type = info.key_type;
    memo->filter = filter;
    memo->identity = end_of_checksums(memo);
}

/* Raises an error if the filter has recorded damage. For a key in a damaged block, the answer is
 * always "probably". */
static void check_damage(const petal_filter *filter)
{
    petal_error error;
    if (petal_last_error(filter, &error) == PETAL_ERR_DAMAGED) fail_damaged(&error);
}

SQL_FUNCTION(pg_petal_contains)
{
    struct key key;
    struct memo *memo = memo_of(fcinfo);
    struct varlena *value = (struct varlena *)PG_GETARG_POINTER(0);
    if (!is_same(memo, value)) open_value(memo, value);
    key_read(&memo->source, PG_GETARG_DATUM(1), memo->key_type, &key);
    bool found = petal_contains(memo->filter, key.data, key.size);
    if (found) check_damage(memo->filter);
    PG_RETURN_BOOL(found);
}

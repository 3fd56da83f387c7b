/* keys.c - turns a column of keys into a batch, with the same bytes as in every language:
 *
 *   integers  8 bytes, little-endian (in a filter of i32 keys: 4; out of range is an error)
 *   DOUBLE    the 8 bytes of a double, -0.0 as 0.0
 *   VARCHAR   UTF-8 (in a filter of UTF-16LE keys: UTF-16LE)
 *   BLOB      these bytes
 *
 * DuckDB casts smaller integers to BIGINT and FLOAT to DOUBLE. A filter whose file records a key
 * type accepts only that type and blobs. */
#include "glue.h"

#include <stdlib.h>

uint32_t key_kind(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_DOUBLE: return PETAL_KEY_TYPE_F64;
    case DUCKDB_TYPE_VARCHAR: return PETAL_KEY_TYPE_TEXT;
    case DUCKDB_TYPE_BLOB: return PETAL_KEY_TYPE_HEX;
    default: return PETAL_KEY_TYPE_I64;
    }
}

static bool refuse(const struct call *call, uint32_t kind, uint32_t key_type)
{
    const char *name = kind == PETAL_KEY_TYPE_I64   ? "integer"
                       : kind == PETAL_KEY_TYPE_F64 ? "double"
                                                    : "text";
    return fail(call, "the filter has %s keys, not %s; use CAST", key_type_name(key_type), name);
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Returns false if the integer in this row does not fit in 64 bits. */
static bool integer_at(const struct column *column, duckdb_type type, idx_t row, int64_t *value)
{
    switch (type) {
    case DUCKDB_TYPE_UBIGINT: {
        uint64_t wide = ((const uint64_t *)column->data)[row];
        *value = (int64_t)wide;
        return wide <= INT64_MAX;
    }
    case DUCKDB_TYPE_HUGEINT: {
        duckdb_hugeint wide = ((const duckdb_hugeint *)column->data)[row];
        *value = (int64_t)wide.lower;
        return wide.upper == (*value < 0 ? -1 : 0);
    }
    case DUCKDB_TYPE_UHUGEINT: {
        duckdb_uhugeint wide = ((const duckdb_uhugeint *)column->data)[row];
        *value = (int64_t)wide.lower;
        return wide.upper == 0 && wide.lower <= INT64_MAX;
    }
    default: *value = ((const int64_t *)column->data)[row]; return true;
    }
}

static void fixed(struct keys *keys, uint64_t size)
{
    keys->batch.layout = PETAL_LAYOUT_FIXED;
    keys->batch.key_bytes = size;
    keys->batch.stride = sizeof(uint64_t);
}

static bool read_integers(const struct call *call, const struct column *column, duckdb_type type,
                          uint32_t key_type, uint8_t *to, struct keys *keys)
{
    int64_t value;
    for (uint64_t i = 0; i < keys->batch.count; i++, to += sizeof value) {
        if (!integer_at(column, type, keys->rows[i], &value))
            return fail(call, "integer keys are i64; this value does not fit in 64 bits");
        if (key_from_integer(value, key_type, to) == 0)
            return fail(call, "the filter has i32 keys; %lld does not fit in 32 bits",
                        (long long)value);
    }
    fixed(keys, key_type == PETAL_KEY_TYPE_I32 ? 4 : 8);
    return true;
}

static void read_doubles(const struct column *column, uint8_t *to, struct keys *keys)
{
    const double *values = column->data;
    for (uint64_t i = 0; i < keys->batch.count; i++, to += sizeof *values)
        petal_encode_f64(values[keys->rows[i]], to);
    fixed(keys, 8);
}

/* ---- texts and bytes ------------------------------------------------------------------------- */

static void read_strings(const struct column *column, petal_key *to, struct keys *keys)
{
    keys->batch.layout = PETAL_LAYOUT_POINTERS;
    for (uint64_t i = 0; i < keys->batch.count; i++) {
        const duckdb_string_t *string = string_at(column, keys->rows[i]);
        to[i] = (petal_key){bytes_of(string), size_of(string)};
    }
}

/* Replaces the UTF-8 that the keys point to with UTF-16. */
static bool convert(const struct call *call, petal_key *texts, struct keys *keys)
{
    size_t room = 1;
    for (uint64_t i = 0; i < keys->batch.count; i++) room += 2 * texts[i].size_bytes;
    uint8_t *to = keys->text = malloc(room);
    if (!to) return fail_memory(call);
    for (uint64_t i = 0; i < keys->batch.count; i++, to += texts[i - 1].size_bytes)
        texts[i] = (petal_key){to, key_from_text(texts[i].data, texts[i].size_bytes, to)};
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool has_null(const struct column *column, idx_t from, idx_t to)
{
    while (column->valid && from < to && !is_null(column, from)) from++;
    return column->valid && from < to;
}

/* Makes room for each key's row and its bytes (a number or a pointer). */
static bool begin(const struct call *call, const struct column *column, idx_t from, idx_t to,
                  struct keys *keys)
{
    idx_t *rows = malloc((to - from) * (sizeof *rows + sizeof(petal_key)));
    if (!rows) return fail_memory(call);
    keys->rows = rows;
    keys->batch.data = rows + (to - from);
    for (idx_t row = from; row < to; row++)
        if (!is_null(column, row)) rows[keys->batch.count++] = row;
    return true;
}

bool keys_read(const struct call *call, const struct column *column, duckdb_type type,
               uint32_t key_type, idx_t from, idx_t to, struct keys *keys)
{
    uint32_t kind = key_kind(type);
    *keys = (struct keys){.batch = PETAL_BATCH_INIT};
    if (!key_type_accepts(key_type, kind)) return refuse(call, kind, key_type);
    if (type == DUCKDB_TYPE_BIGINT && key_type != PETAL_KEY_TYPE_I32 &&
        !has_null(column, from, to)) {
        keys->batch.layout = PETAL_LAYOUT_I64;
        keys->batch.data = (const int64_t *)column->data + from;
        keys->batch.count = to - from;
        return true;
    }
    if (!begin(call, column, from, to, keys)) return false;
    void *room = (void *)(keys->rows + (to - from));
    bool done = true;
    switch (kind) {
    case PETAL_KEY_TYPE_I64: done = read_integers(call, column, type, key_type, room, keys); break;
    case PETAL_KEY_TYPE_F64: read_doubles(column, room, keys); break;
    default: read_strings(column, room, keys);
    }
    if (kind == PETAL_KEY_TYPE_TEXT && key_type == PETAL_KEY_TYPE_UTF16LE)
        done = convert(call, room, keys);
    if (!done) keys_free(keys);
    return done;
}

void keys_free(struct keys *keys)
{
    free(keys->rows);
    free(keys->text);
}

/* key.c - converts an SQL value to key bytes, which are the same in every language (see
 * petal_encode_*):
 *
 *   INTEGER  8 bytes, little-endian (4 for i32 keys; a value that doesn't fit is an error)
 *   REAL     the 8 bytes of a double, with -0.0 encoded as 0.0
 *   TEXT     UTF-8, whatever the database encoding (UTF-16LE if that is the filter's key type)
 *   BLOB     the bytes themselves
 *
 * If the file records a key type, the filter accepts only values of that type and blobs. A value of
 * any other type is an error rather than "not found", because SQL treats 1 and 1.0 as equal. */
#include "glue.h"

uint32_t key_type_of(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return PETAL_KEY_TYPE_I64;
    case SQLITE_FLOAT: return PETAL_KEY_TYPE_F64;
    case SQLITE_TEXT: return PETAL_KEY_TYPE_TEXT;
    default: return PETAL_KEY_TYPE_HEX; /* raw bytes, which the tool displays in hex */
    }
}

static bool refuse(sqlite3_context *context, uint32_t kind, uint32_t key_type)
{
    const char *name = kind == PETAL_KEY_TYPE_I64   ? "integer"
                       : kind == PETAL_KEY_TYPE_F64 ? "real"
                                                    : "text";
    fail(context, "the filter has %s keys, not %s; use CAST", key_type_name(key_type), name);
    return false;
}

static bool read_integer(sqlite3_context *context, int64_t value, uint32_t key_type,
                         struct key *key)
{
    key->data = key->number;
    key->size = key_from_integer(value, key_type, key->number);
    if (key->size == 0)
        fail(context, "the filter has i32 keys; %lld does not fit in 32 bits", (long long)value);
    return key->size > 0;
}

/* `bytes` is NULL if the value is empty or if memory ran out during the conversion. */
static bool read_bytes(sqlite3_context *context, const void *bytes, int size, struct key *key)
{
    if (!bytes && size > 0) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    key->data = bytes ? bytes : "";
    key->size = (size_t)size;
    return true;
}

/* SQLite's own conversion to UTF-16 replaces U+FFFE and U+FFFF, so these keys would be missing. */
static bool convert(sqlite3_context *context, struct key *key)
{
    uint8_t *units = sqlite3_malloc64(2 * (sqlite3_uint64)key->size + 1);
    if (!units) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    key->size = key_from_text(key->data, key->size, units);
    key->data = key->owned = units;
    return true;
}

static bool read_text(sqlite3_context *context, sqlite3_value *value, bool wide, struct key *key)
{
    /* Get the bytes before the size, because getting the bytes may convert the text and so change
     * its size. */
    const void *bytes = sqlite3_value_text(value);
    if (!bytes) { /* not NULL even for an empty string */
        sqlite3_result_error_nomem(context);
        return false;
    }
    return read_bytes(context, bytes, sqlite3_value_bytes(value), key) &&
           (!wide || convert(context, key));
}

bool key_read(sqlite3_context *context, sqlite3_value *value, uint32_t key_type, struct key *key)
{
    uint32_t kind = key_type_of(value);
    key->owned = NULL;
    if (!key_type_accepts(key_type, kind)) return refuse(context, kind, key_type);
    switch (kind) {
    case PETAL_KEY_TYPE_I64:
        return read_integer(context, sqlite3_value_int64(value), key_type, key);
    case PETAL_KEY_TYPE_F64:
        petal_encode_f64(sqlite3_value_double(value), key->number);
        key->data = key->number;
        key->size = sizeof key->number;
        return true;
    case PETAL_KEY_TYPE_TEXT:
        return read_text(context, value, key_type == PETAL_KEY_TYPE_UTF16LE, key);
    default: {
        const void *bytes = sqlite3_value_blob(value);
        return read_bytes(context, bytes, sqlite3_value_bytes(value), key);
    }
    }
}

void key_free(struct key *key)
{
    sqlite3_free(key->owned);
}

/* key.c - turns one SQL value into key bytes, the same as in every language (petal_encode_*):
 *
 *   INTEGER  8 bytes, little-endian (of a filter of i32 keys: 4; outside that range an error)
 *   REAL     the 8 bytes of a double, -0.0 as 0.0
 *   TEXT     UTF-8, whatever the encoding of the database (of a filter of UTF-16LE keys: that)
 *   BLOB     these bytes
 *
 * A filter whose file records a key type accepts only that type and blobs: a key of another type
 * was certainly never added, and to SQL, 1 and 1.0 are equal. */
#include "glue.h"

static const char *const type_names[] = {
    [PETAL_KEY_TYPE_TEXT] = "text",     [PETAL_KEY_TYPE_UTF16LE] = "utf16le",
    [PETAL_KEY_TYPE_I32] = "i32",       [PETAL_KEY_TYPE_I64] = "i64",
    [PETAL_KEY_TYPE_F64] = "f64",       [PETAL_KEY_TYPE_HEX] = "hex",
    [PETAL_KEY_TYPE_BASE64] = "base64",
};

const char *key_type_name(uint32_t key_type)
{
    return key_type < sizeof type_names / sizeof type_names[0] ? type_names[key_type] : NULL;
}

uint32_t key_type_of(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return PETAL_KEY_TYPE_I64;
    case SQLITE_FLOAT: return PETAL_KEY_TYPE_F64;
    case SQLITE_TEXT: return PETAL_KEY_TYPE_TEXT;
    default: return PETAL_KEY_TYPE_HEX; /* bytes, which tools show as hex digits */
    }
}

static bool fits(uint32_t kind, uint32_t key_type)
{
    if (key_type == PETAL_KEY_TYPE_NONE || kind == PETAL_KEY_TYPE_HEX) return true;
    if (kind == PETAL_KEY_TYPE_TEXT && key_type == PETAL_KEY_TYPE_UTF16LE) return true;
    if (kind == PETAL_KEY_TYPE_I64 && key_type == PETAL_KEY_TYPE_I32) return true;
    return kind == key_type;
}

static bool refuse(sqlite3_context *context, uint32_t kind, uint32_t key_type)
{
    const char *name = kind == PETAL_KEY_TYPE_I64   ? "integer"
                       : kind == PETAL_KEY_TYPE_F64 ? "real"
                                                    : "text";
    fail(context, "the filter has %s keys, not %s; use CAST", type_names[key_type], name);
    return false;
}

static bool read_integer(sqlite3_context *context, int64_t value, bool narrow, struct key *key)
{
    if (narrow && (value < INT32_MIN || value > INT32_MAX)) {
        fail(context, "the filter has i32 keys; %lld does not fit in 32 bits", (long long)value);
        return false;
    }
    if (narrow)
        petal_encode_i32((int32_t)value, key->number);
    else
        petal_encode_i64(value, key->number);
    key->data = key->number;
    key->size = narrow ? 4 : 8;
    return true;
}

/* `bytes` is NULL for an empty value, and if memory runs out while converting it. */
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

static bool read_text(sqlite3_context *context, sqlite3_value *value, bool wide, struct key *key)
{
    /* Get the bytes first: that may convert the text, which changes its size. */
    const void *bytes = wide ? sqlite3_value_text16le(value) : sqlite3_value_text(value);
    if (!bytes) { /* even an empty string has an address */
        sqlite3_result_error_nomem(context);
        return false;
    }
    return read_bytes(context, bytes,
                      wide ? sqlite3_value_bytes16(value) : sqlite3_value_bytes(value), key);
}

bool key_read(sqlite3_context *context, sqlite3_value *value, uint32_t key_type, struct key *key)
{
    uint32_t kind = key_type_of(value);
    if (!fits(kind, key_type)) return refuse(context, kind, key_type);
    switch (kind) {
    case PETAL_KEY_TYPE_I64:
        return read_integer(context, sqlite3_value_int64(value), key_type == PETAL_KEY_TYPE_I32,
                            key);
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

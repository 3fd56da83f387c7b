/* key.c - converts an SQL value to key bytes, which are the same in every language
 * (petal_encode_*):
 *
 *   smallint, integer, bigint      8 bytes, little-endian (4 for a filter of i32 keys; outside
 *                                  that range, an error)
 *   real, double precision         the 8 bytes of a double, -0.0 as 0.0
 *   text, varchar, char, name      UTF-8, whatever the encoding of the database (UTF-16LE for a
 *                                  filter of UTF-16LE keys); char without its padding
 *   bytea                          these bytes
 *
 * If a filter's file records a key type, the filter accepts only this type and bytea, because keys
 * of other types were certainly never added. */
#include "glue.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static uint32_t key_type_of(Oid type)
{
    switch (type) {
    case INT2OID:
    case INT4OID:
    case INT8OID: return PETAL_KEY_TYPE_I64;
    case FLOAT4OID:
    case FLOAT8OID: return PETAL_KEY_TYPE_F64;
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case NAMEOID: return PETAL_KEY_TYPE_TEXT;
    case BYTEAOID: return PETAL_KEY_TYPE_HEX; /* bytes, which petal shows as hex digits */
    default: return PETAL_KEY_TYPE_NONE;
    }
}

struct key_source key_source_of(FunctionCallInfo call, int argument)
{
    struct key_source source;
    Oid type = get_fn_expr_argtype(call->flinfo, argument);
    source.type = getBaseType(type); /* of a domain */
    source.key_type = key_type_of(source.type);
    if (source.key_type == PETAL_KEY_TYPE_NONE)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("petal: %s can't be a key", format_type_be(type)),
                        errhint("Cast it to bigint, double precision, text or bytea.")));
    return source;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int64_t integer_of(const struct key_source *source, Datum value)
{
    switch (source->type) {
    case INT2OID: return DatumGetInt16(value);
    case INT4OID: return DatumGetInt32(value);
    default: return DatumGetInt64(value);
    }
}

static void read_integer(int64_t value, uint32_t key_type, struct key *key)
{
    key->data = key->number;
    key->size = key_from_integer(value, key_type, key->number);
    if (!key->size)
        fail(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
             "the filter has i32 keys; %lld does not fit in 32 bits", (long long)value);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void read_bytes(Datum value, struct key *key)
{
    struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
    key->data = VARDATA_ANY(bytes);
    key->size = VARSIZE_ANY_EXHDR(bytes);
}

/* Reads a text value's bytes, which are in the server's encoding. */
static void read_text(const struct key_source *source, Datum value, struct key *key)
{
    switch (source->type) {
    case NAMEOID:
        key->data = NameStr(*DatumGetName(value));
        key->size = strlen(key->data);
        break;
    case BPCHAROID:
        read_bytes(value, key);
        key->size = (size_t)bpchartruelen((char *)key->data, (int)key->size);
        break;
    default: read_bytes(value, key);
    }
}

static void to_utf8(struct key *key)
{
    char *converted = pg_server_to_any(key->data, (int)key->size, PG_UTF8);
    if (converted == key->data) return;
    key->data = converted;
    key->size = strlen(converted);
}

static void to_utf16(struct key *key)
{
    uint8_t *units = palloc(2 * key->size + 1);
    key->size = key_from_text(key->data, key->size, units);
    key->data = units;
}

/* ---- any ------------------------------------------------------------------------------------- */

static void refuse(const struct key_source *source, uint32_t key_type)
{
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("petal: the filter has %s keys, not %s", key_type_name(key_type),
                           format_type_be(source->type)),
                    errhint("Cast the key.")));
}

void key_read(const struct key_source *source, Datum value, uint32_t key_type, struct key *key)
{
    if (!key_type_accepts(key_type, source->key_type)) refuse(source, key_type);
    switch (source->key_type) {
    case PETAL_KEY_TYPE_I64: read_integer(integer_of(source, value), key_type, key); break;
    case PETAL_KEY_TYPE_F64:
        petal_encode_f64(source->type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value),
                         key->number);
        key->data = key->number;
        key->size = sizeof key->number;
        break;
    case PETAL_KEY_TYPE_TEXT:
        read_text(source, value, key);
        to_utf8(key);
        if (key_type == PETAL_KEY_TYPE_UTF16LE) to_utf16(key);
        break;
    default: read_bytes(value, key);
    }
}

/* keys.c - names the key types, decides which SQL values a filter accepts, and converts those
 * values to key bytes. */
#include "sql.h"

static const char *const names[] = {
    [PETAL_KEY_TYPE_TEXT] = "text",     [PETAL_KEY_TYPE_UTF16LE] = "utf16le",
    [PETAL_KEY_TYPE_I32] = "i32",       [PETAL_KEY_TYPE_I64] = "i64",
    [PETAL_KEY_TYPE_F64] = "f64",       [PETAL_KEY_TYPE_HEX] = "hex",
    [PETAL_KEY_TYPE_BASE64] = "base64",
};

const char *key_type_name(uint32_t key_type)
{
    return key_type < sizeof names / sizeof names[0] ? names[key_type] : NULL;
}

bool key_type_accepts(uint32_t key_type, uint32_t kind)
{
    if (key_type == PETAL_KEY_TYPE_NONE || kind == PETAL_KEY_TYPE_HEX) return true;
    if (kind == PETAL_KEY_TYPE_TEXT && key_type == PETAL_KEY_TYPE_UTF16LE) return true;
    if (kind == PETAL_KEY_TYPE_I64 && key_type == PETAL_KEY_TYPE_I32) return true;
    return kind == key_type;
}

size_t key_from_integer(int64_t value, uint32_t key_type, uint8_t key[8])
{
    if (key_type != PETAL_KEY_TYPE_I32) {
        petal_encode_i64(value, key);
        return 8;
    }
    if (value < INT32_MIN || value > INT32_MAX) return 0;
    petal_encode_i32((int32_t)value, key);
    return 4;
}

static uint8_t *put_unit(uint8_t *to, uint32_t unit)
{
    *to++ = (uint8_t)unit;
    *to++ = (uint8_t)(unit >> 8);
    return to;
}

size_t key_from_text(const char *text, size_t size, uint8_t *key)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + size;
    uint8_t *to = key;
    while (at < end) {
        uint32_t point = *at++;
        int follow = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        if (follow > 0) point &= 0x3fu >> follow;
        for (; follow > 0 && at < end; follow--) point = point << 6 | (*at++ & 0x3fu);
        if (point > 0xffff) to = put_unit(to, 0xd800 + ((point - 0x10000) >> 10 & 0x3ff));
        to = put_unit(to, point > 0xffff ? 0xdc00 + (point & 0x3ff) : point);
    }
    return (size_t)(to - key);
}

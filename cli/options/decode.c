/* decode.c - see decode.h. Numbers become the bytes that petal_encode_*() defines for every
 * language. */
#include "options/decode.h"

#include "output/utf8.h"

#include <errno.h>
#include <petal/petal.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

enum {
    LONGEST_NUMBER = 400
}; /* a double written in full has at most 309 digits before the point */

/* strto*() need a terminator, and accept what nobody would write as a number: blanks, signs and,
 * for doubles, words such as "inf". */
static bool copy_number(const char *line, size_t size, char copy[LONGEST_NUMBER + 1])
{
    if (size == 0 || size > LONGEST_NUMBER || memchr(line, '\0', size)) return false;
    if (line[0] == ' ' || (line[0] >= '\t' && line[0] <= '\r')) return false;
    memcpy(copy, line, size);
    copy[size] = '\0';
    return true;
}

static bool read_integer(const char *line, size_t size, int64_t min, int64_t max, int64_t *value,
                         const char **why)
{
    char copy[LONGEST_NUMBER + 1], *end;
    *why = "not a whole number";
    if (!copy_number(line, size, copy)) return false;
    errno = 0;
    *value = strtoll(copy, &end, 10);
    if (end == copy || *end) return false;
    *why = "out of range";
    return errno != ERANGE && *value >= min && *value <= max;
}

static bool decode_i32(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                       const char **why)
{
    int64_t value;
    if (!read_integer(line, size, INT32_MIN, INT32_MAX, &value, why)) return false;
    petal_encode_i32((int32_t)value, out);
    *key_bytes = 4;
    return true;
}

static bool decode_i64(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                       const char **why)
{
    int64_t value;
    if (!read_integer(line, size, INT64_MIN, INT64_MAX, &value, why)) return false;
    petal_encode_i64(value, out);
    *key_bytes = 8;
    return true;
}

static bool decode_f64(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                       const char **why)
{
    char copy[LONGEST_NUMBER + 1], *end;
    *why = "not a number";
    if (!copy_number(line, size, copy)) return false;
    errno = 0;
    double value = strtod(copy, &end);
    if (end == copy || *end) return false;
    *why = "out of range";
    if (errno == ERANGE && (value > 1 || value < -1))
        return false; /* too small a value becomes 0 or subnormal, as everywhere else */
    petal_encode_f64(value, out);
    *key_bytes = 8;
    return true;
}

/* ---- text and bytes -------------------------------------------------------------------------- */

static uint8_t *put_unit(uint8_t *to, uint32_t unit)
{
    *to++ = (uint8_t)unit;
    *to++ = (uint8_t)(unit >> 8);
    return to;
}

static bool decode_utf16le(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                           const char **why)
{
    const uint8_t *at = (const uint8_t *)line;
    uint8_t *to = out;
    *why = "not valid UTF-8";
    for (size_t length; size > 0; at += length, size -= length) {
        uint32_t point = utf8_next(at, size, &length);
        if (point == UTF8_INVALID) return false;
        if (point > 0xffff) to = put_unit(to, 0xd800 + ((point - 0x10000) >> 10));
        to = put_unit(to, point > 0xffff ? 0xdc00 + (point & 0x3ff) : point);
    }
    *key_bytes = (size_t)(to - out);
    return true;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool decode_hex(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                       const char **why)
{
    *why = "not hex digits";
    for (size_t i = 0; i < size; i++) {
        int digit = hex_digit(line[i]);
        if (digit < 0) return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] << 4 | digit : digit);
    }
    *why = "an odd number of hex digits";
    if (size % 2) return false;
    *key_bytes = size / 2;
    return true;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* RFC 4648 with padding. Unused bits must be zero, so that no two lines give the same key. */
static bool decode_base64(const char *line, size_t size, uint8_t *out, size_t *key_bytes,
                          const char **why)
{
    uint32_t bits = 0;
    size_t written = 0, padding = 0;
    *why = "not base64";
    if (size % 4) return false;
    while (size > 0 && padding < 2 && line[size - 1] == '=') size--, padding++;
    for (size_t i = 0; i < size; i++) {
        int digit = base64_digit(line[i]);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4) out[written++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    *key_bytes = written;
    return padding == 0 || (bits & (padding == 2 ? 0xf : 0x3)) == 0;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    decoder *decode;
} types[] = {
    [PETAL_KEY_TYPE_NONE] = {NULL, NULL},
    [PETAL_KEY_TYPE_TEXT] = {"text", NULL},
    [PETAL_KEY_TYPE_UTF16LE] = {"utf16le", decode_utf16le},
    [PETAL_KEY_TYPE_I32] = {"i32", decode_i32},
    [PETAL_KEY_TYPE_I64] = {"i64", decode_i64},
    [PETAL_KEY_TYPE_F64] = {"f64", decode_f64},
    [PETAL_KEY_TYPE_HEX] = {"hex", decode_hex},
    [PETAL_KEY_TYPE_BASE64] = {"base64", decode_base64},
};

enum { TYPES = sizeof types / sizeof types[0] };

uint32_t find_key_type(const char *name)
{
    for (int type = TYPES - 1; name && type > PETAL_KEY_TYPE_NONE; type--)
        if (strcmp(types[type].name, name) == 0) return (uint32_t)type;
    return PETAL_KEY_TYPE_NONE;
}

const char *key_type_name(uint32_t type)
{
    return (unsigned)type < TYPES ? types[type].name : NULL;
}

static bool is_bytes(uint32_t type)
{
    return type == PETAL_KEY_TYPE_HEX || type == PETAL_KEY_TYPE_BASE64;
}

bool key_types_agree(uint32_t a, uint32_t b)
{
    return a == b || a == PETAL_KEY_TYPE_NONE || b == PETAL_KEY_TYPE_NONE ||
           (is_bytes(a) && is_bytes(b));
}

decoder *find_decoder(uint32_t type)
{
    return (unsigned)type < TYPES ? types[type].decode : NULL;
}

/* json.c - see json.h. */
#include "output/json.h"

#include "output/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* JSON text is UTF-8: an invalid byte becomes U+FFFD, the replacement character. */
static void put_character(FILE *out, const uint8_t *at, size_t size, size_t *length)
{
    uint32_t point = utf8_next(at, size, length);
    if (point == UTF8_INVALID)
        fputs("\\ufffd", out);
    else if (point == '"' || point == '\\')
        fprintf(out, "\\%c", (char)point);
    else if (point == '\n')
        fputs("\\n", out);
    else if (point == '\t')
        fputs("\\t", out);
    else if (point < 0x20 || point == 0x7f)
        fprintf(out, "\\u%04x", (unsigned)point);
    else
        fwrite(at, 1, *length, out);
}

static void put_string(FILE *out, const void *value, size_t size)
{
    const uint8_t *at = value;
    size_t length;
    putc('"', out);
    for (; size > 0; at += length, size -= length) put_character(out, at, size, &length);
    putc('"', out);
}

static void put_name(struct json *json, const char *name)
{
    if (json->begun) putc(',', json->out);
    json->begun = true;
    put_string(json->out, name, strlen(name));
    putc(':', json->out);
}

void json_begin(struct json *json, FILE *out)
{
    *json = (struct json){out, false};
    putc('{', out);
}

void json_null(struct json *json, const char *name)
{
    put_name(json, name);
    fputs("null", json->out);
}

void json_bytes(struct json *json, const char *name, const void *value, size_t size_bytes)
{
    put_name(json, name);
    put_string(json->out, value, size_bytes);
}

void json_text(struct json *json, const char *name, const char *value)
{
    if (value)
        json_bytes(json, name, value, strlen(value));
    else
        json_null(json, name);
}

void json_count(struct json *json, const char *name, uint64_t value)
{
    put_name(json, name);
    fprintf(json->out, "%" PRIu64, value);
}

/* The shortest form that reads back as the same double. */
void json_number(struct json *json, const char *name, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_null(json, name);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    put_name(json, name);
    fputs(text, json->out);
}

void json_bool(struct json *json, const char *name, bool value)
{
    put_name(json, name);
    fputs(value ? "true" : "false", json->out);
}

void json_list(struct json *json, const char *name)
{
    put_name(json, name);
    putc('[', json->out);
    json->begun = false;
}

void json_item(struct json *json, const char *value)
{
    if (json->begun) putc(',', json->out);
    json->begun = true;
    put_string(json->out, value, strlen(value));
}

void json_open(struct json *json)
{
    if (json->begun) putc(',', json->out);
    putc('{', json->out);
    json->begun = false;
}

void json_close(struct json *json)
{
    putc('}', json->out);
    json->begun = true;
}

void json_list_end(struct json *json)
{
    putc(']', json->out);
    json->begun = true;
}

void json_end(struct json *json)
{
    fputs("}\n", json->out);
}

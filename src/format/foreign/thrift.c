/* thrift.c - see thrift.h. */
#include "format/foreign/thrift.h"

#include <stddef.h>

#define MAX_DEPTH 64u
#define LONG_COUNT 15u /* the list's count doesn't fit in 4 bits; it follows */

static bool end(struct thrift *in)
{
    in->ended = true;
    return false;
}

static bool take_byte(struct thrift *in, uint8_t *byte)
{
    if (in->at == in->end) return end(in);
    *byte = in->bytes[in->at++];
    return true;
}

static bool advance(struct thrift *in, uint64_t size_bytes)
{
    if (size_bytes > in->end - in->at) return end(in);
    in->at += size_bytes;
    return true;
}

static bool take_varint(struct thrift *in, uint64_t *value)
{
    uint8_t byte;
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!take_byte(in, &byte)) return false;
        if (shift == 63 && byte > 1) break; /* the varint exceeds 64 bits */
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static bool take_zigzag(struct thrift *in, int64_t *value)
{
    uint64_t raw;
    if (!take_varint(in, &raw)) return false;
    *value = (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
    return true;
}

/* Reads the header of the next field. Type 0 marks the end of the struct. `last_id` is the id of
 * the previous field. */
static bool take_field(struct thrift *in, int32_t last_id, struct thrift_field *field)
{
    uint8_t head;
    int64_t id = last_id;
    if (!take_byte(in, &head)) return false;
    field->type = head & 15;
    if (field->type == 0) return head == 0;
    if (head >> 4)
        id += head >> 4;
    else if (!take_zigzag(in, &id))
        return false;
    if (id < INT16_MIN || id > INT16_MAX) return false;
    field->id = (int32_t)id;
    return true;
}

bool petal_thrift_struct(struct thrift *in, thrift_take *take, void *context)
{
    struct thrift_field field = {0, 0};
    while (take_field(in, field.id, &field)) {
        if (field.type == 0) return true;
        if (!take(in, &field, context)) return false;
    }
    return false;
}

/* Reads the header of a list or set. As element types, "true" and "false" both mean a bool, which
 * takes one byte. */
static bool take_list_head(struct thrift *in, uint32_t *type, uint64_t *count)
{
    uint8_t head;
    if (!take_byte(in, &head)) return false;
    *type = head & 15;
    *count = head >> 4;
    return *count < LONG_COUNT || take_varint(in, count);
}

bool petal_thrift_list(struct thrift *in, thrift_take *take, void *context)
{
    struct thrift_field element = {0, 0};
    uint64_t count;
    if (!take_list_head(in, &element.type, &count)) return false;
    if (count > INT32_MAX) return false;
    for (; (uint64_t)element.id < count; element.id++)
        if (!take(in, &element, context)) return false;
    return true;
}

bool petal_thrift_is(const struct thrift_field *field, enum thrift_type type)
{
    return field->type == (uint32_t)type;
}

bool petal_thrift_integer(struct thrift *in, const struct thrift_field *field,
                          enum thrift_type type, int64_t *value)
{
    if (!petal_thrift_is(field, type) || !take_zigzag(in, value)) return false;
    return type == THRIFT_I64 || (*value >= INT32_MIN && *value <= INT32_MAX);
}

bool petal_thrift_binary(struct thrift *in, const struct thrift_field *field, const uint8_t **data,
                         uint64_t *size_bytes)
{
    if (!petal_thrift_is(field, THRIFT_BINARY) || !take_varint(in, size_bytes)) return false;
    *data = in->bytes + in->at;
    return advance(in, *size_bytes);
}

/* ---- skipping -------------------------------------------------------------------------------- */

static bool skip(struct thrift *in, uint32_t type, bool in_list, unsigned depth);

static bool skip_struct(struct thrift *in, unsigned depth)
{
    struct thrift_field field = {0, 0};
    while (take_field(in, field.id, &field)) {
        if (field.type == 0) return true;
        if (!skip(in, field.type, false, depth)) return false;
    }
    return false;
}

/* Each element takes at least one byte. So if the count is wrong, skipping stops at the end of the
 * input. */
static bool skip_list(struct thrift *in, unsigned depth)
{
    uint32_t type;
    uint64_t count;
    if (!take_list_head(in, &type, &count)) return false;
    for (; count; count--)
        if (!skip(in, type, true, depth)) return false;
    return true;
}

static bool skip_map(struct thrift *in, unsigned depth)
{
    uint64_t count;
    uint8_t types;
    if (!take_varint(in, &count)) return false;
    if (count == 0) return true;
    if (!take_byte(in, &types)) return false;
    for (; count; count--)
        if (!skip(in, types >> 4, true, depth) || !skip(in, types & 15, true, depth)) return false;
    return true;
}

static bool skip(struct thrift *in, uint32_t type, bool in_list, unsigned depth)
{
    uint64_t size;
    if (depth > MAX_DEPTH) return false;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE: return advance(in, in_list);
    case THRIFT_BYTE: return advance(in, 1);
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64: return take_varint(in, &size);
    case THRIFT_DOUBLE: return advance(in, 8);
    case THRIFT_UUID: return advance(in, 16);
    case THRIFT_BINARY: return take_varint(in, &size) && advance(in, size);
    case THRIFT_LIST:
    case THRIFT_SET: return skip_list(in, depth + 1);
    case THRIFT_MAP: return skip_map(in, depth + 1);
    case THRIFT_STRUCT: return skip_struct(in, depth + 1);
    default: return false;
    }
}

bool petal_thrift_skip(struct thrift *in, const struct thrift_field *field)
{
    return skip(in, field->type, false, 0);
}

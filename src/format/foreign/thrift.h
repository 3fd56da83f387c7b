/* thrift.h - reads Thrift's compact protocol, in which Parquet writes headers and footers. All
 * input is considered hostile: the cursor never leaves its bytes, nothing is allocated, and each
 * byte is read once.
 *
 *     struct:  fields, then 00
 *     field:   delta of the id << 4 | type (delta 0: the id follows, zigzag varint), then the value
 *              integers are zigzag varints; true and false are types, without a value
 *     list:    count << 4 | type (15: the count follows, varint), then the elements */
#ifndef PETAL_FORMAT_THRIFT_H
#define PETAL_FORMAT_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12,
    THRIFT_UUID = 13
};

/* The reader's position: `at` advances to `end`. After a failure it is at or just after the invalid
 * byte. */
struct thrift {
    const uint8_t *bytes;
    uint64_t at, end;
    bool ended; /* failed because the input ended */
};

struct thrift_field {
    int32_t id;
    uint32_t type; /* one of enum thrift_type, or unknown */
};

/* Handles a field: reads its value, or skips it. Returns false if the value is wrong, which stops
 * reading. */
typedef bool thrift_take(struct thrift *in, const struct thrift_field *field, void *context);

/* Calls take() for each field of a struct. */
bool petal_thrift_struct(struct thrift *in, thrift_take *take, void *context);

/* The same for the elements of a list, which all have the same type; their ids are 0, 1, ... take()
 * must read each one. */
bool petal_thrift_list(struct thrift *in, thrift_take *take, void *context);

/* The value of an integer field of exactly this type. */
bool petal_thrift_integer(struct thrift *in, const struct thrift_field *field,
                          enum thrift_type type, int64_t *value);

/* A binary field's value: its bytes in place. */
bool petal_thrift_binary(struct thrift *in, const struct thrift_field *field, const uint8_t **data,
                         uint64_t *size_bytes);

/* Does the field have this type? */
bool petal_thrift_is(const struct thrift_field *field, enum thrift_type type);

/* Skips any value, nested up to 64 levels. */
bool petal_thrift_skip(struct thrift *in, const struct thrift_field *field);

#endif

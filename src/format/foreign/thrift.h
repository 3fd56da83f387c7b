/* thrift.h - reading Thrift's compact protocol, in which Parquet writes its headers and its footer.
 * Every byte is hostile: the cursor never leaves its bytes, nothing is allocated, and the time is
 * that of looking at each byte once.
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

/* Where the reader is: `at` runs up to `end`. After a failure it stands at or just after what is
 * wrong. */
struct thrift {
    const uint8_t *bytes;
    uint64_t at, end;
    bool ended; /* it failed because the bytes end */
};

struct thrift_field {
    int32_t id;
    uint32_t type; /* of enum thrift_type, or unknown */
};

/* What to do with a field: read its value, or skip it. False ends the reading, and is for what is
 * wrong with the value. */
typedef bool thrift_take(struct thrift *in, const struct thrift_field *field, void *context);

/* Hands each field of a struct to take(). */
bool petal_thrift_struct(struct thrift *in, thrift_take *take, void *context);

/* The same for the elements of a list, all of one type; the ids are 0, 1, ... They cannot be
 * skipped. */
bool petal_thrift_list(struct thrift *in, thrift_take *take, void *context);

/* The value of an integer field of just this type. */
bool petal_thrift_integer(struct thrift *in, const struct thrift_field *field,
                          enum thrift_type type, int64_t *value);

/* The value of a binary field: bytes where they are. */
bool petal_thrift_binary(struct thrift *in, const struct thrift_field *field, const uint8_t **data,
                         uint64_t *size_bytes);

/* Is the field of this type? */
bool petal_thrift_is(const struct thrift_field *field, enum thrift_type type);

/* Any value, however deep: up to 64 levels. */
bool petal_thrift_skip(struct thrift *in, const struct thrift_field *field);

#endif

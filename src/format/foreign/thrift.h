/* thrift.h - reads Thrift's compact protocol, which Parquet uses for headers and footers. The input
 * may be hostile: the reader stays within the given bytes, allocates nothing, and reads each byte
 * once.
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

/* The reader's position. `at` advances to `end`. After a failure, `at` is the offset of the invalid
 * byte or of the byte after it. */
struct thrift {
    const uint8_t *bytes;
    uint64_t at, end;
    bool ended; /* the input ended too early */
};

struct thrift_field {
    int32_t id;
    uint32_t type; /* an enum thrift_type, or an unknown type */
};

/* Handles a field by reading or skipping its value. Returns false if the value is invalid, in which
 * case reading stops. */
typedef bool thrift_take(struct thrift *in, const struct thrift_field *field, void *context);

/* Calls take() for each field of a struct. */
bool petal_thrift_struct(struct thrift *in, thrift_take *take, void *context);

/* Calls take() for each element of a list. All elements have the same type, and their ids are 0, 1,
 * ... Each call to take() must read its element. */
bool petal_thrift_list(struct thrift *in, thrift_take *take, void *context);

/* Reads the value of an integer field, which must have exactly the given type. */
bool petal_thrift_integer(struct thrift *in, const struct thrift_field *field,
                          enum thrift_type type, int64_t *value);

/* Returns a pointer to the bytes of a binary field, without copying them. */
bool petal_thrift_binary(struct thrift *in, const struct thrift_field *field, const uint8_t **data,
                         uint64_t *size_bytes);

/* Returns true if the field has the given type. */
bool petal_thrift_is(const struct thrift_field *field, enum thrift_type type);

/* Skips a value of any type. Values may be nested up to 64 levels deep. */
bool petal_thrift_skip(struct thrift *in, const struct thrift_field *field);

#endif

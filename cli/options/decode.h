/* decode.h - converts a line of text to the bytes of a key, for --key-type. */
#ifndef PETAL_CLI_DECODE_H
#define PETAL_CLI_DECODE_H

#include <petal/petal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the key to `out` and its size to *key_bytes, or returns the reason why the line is not
 * such a value. */
typedef bool decoder(const char *line, size_t line_bytes, uint8_t *out, size_t *key_bytes,
                     const char **why);

/* Enough room for any decoder and a line of `line_bytes` bytes. */
#define DECODED_ROOM(line_bytes) (2 * (line_bytes) + 8)

/* Returns the key type for a word of --key-type, or NONE if there is none. */
uint32_t find_key_type(const char *name);

/* The word for a key type: NULL for NONE. */
const char *key_type_name(uint32_t type);

/* True if lines of one type can make keys of the other: hex and base64 are two ways to write bytes.
 * A type that is not recorded is compatible with all others. */
bool key_types_agree(uint32_t a, uint32_t b);

/* Returns the decoder of a key type, or NULL for text and NONE, where the line is the key. */
decoder *find_decoder(uint32_t type);

/* One hexadecimal digit, or -1. */
int hex_digit(char c);

#endif

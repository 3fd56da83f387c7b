/* decode.h - from a line of text to the bytes of a key, for --key-type. */
#ifndef PETAL_CLI_DECODE_H
#define PETAL_CLI_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the key to `out` and its size to *key_bytes, or says why the line is no such value. */
typedef bool decoder(const char *line, size_t line_bytes, uint8_t *out, size_t *key_bytes, const char **why);

/* Room that any decoder needs for a line of so many bytes. */
#define DECODED_ROOM(line_bytes) (2 * (line_bytes) + 8)

/* The decoder of a key type, NULL for text (and for no type given): there the line is the key. */
decoder *find_decoder(const char *key_type);

/* One hexadecimal digit, or -1. */
int hex_digit(char c);

#endif

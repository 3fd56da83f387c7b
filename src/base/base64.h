/* base64.h - base64 (RFC 4648), both alphabets, padded, and strict: there is one text for each run
 * of bytes. */
#ifndef PETAL_BASE_BASE64_H
#define PETAL_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last two characters of the alphabet: + and /, or - and _. */
enum base64_alphabet { BASE64_STANDARD = 1, BASE64_URL = 2 };

/* How many bytes a text of that many characters holds, by its padding; false if no base64
 * is so long. */
bool petal_base64_bytes(const char *text, uint64_t chars, uint64_t *size_bytes);

/* Decodes the text to petal_base64_bytes() bytes. Returns `chars`, or where the first character
 * stands that cannot be: a foreign one, padding elsewhere, bits after the last byte that are not
 * zero. *seen: the alphabets that the text needs, an `or` of base64_alphabet; a text that needs
 * both is stopped at the second. */
uint64_t petal_base64_decode(const char *text, uint64_t chars, uint8_t *bytes, unsigned *seen);

/* Encodes the bytes; (size_bytes + 2) / 3 * 4 characters, without a terminator. */
void petal_base64_encode(const uint8_t *bytes, size_t size_bytes, enum base64_alphabet alphabet,
                         char *text);

#endif

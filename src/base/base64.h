/* base64.h - base64 (RFC 4648) in both alphabets, padded and strict: each byte string has exactly
 * one encoding. */
#ifndef PETAL_BASE_BASE64_H
#define PETAL_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The alphabets differ in their last two characters: + and /, or - and _. */
enum base64_alphabet { BASE64_STANDARD = 1, BASE64_URL = 2 };

/* Computes the number of bytes that `chars` characters of base64 encode, from the length and the
 * padding. Returns false if no base64 text has that length. */
bool petal_base64_bytes(const char *text, uint64_t chars, uint64_t *size_bytes);

/* Decodes the text into petal_base64_bytes() bytes. Returns `chars`, or the index of the first
 * invalid character: one outside the alphabets, misplaced padding, or nonzero bits after the last
 * byte. *seen receives the alphabets that the text uses, as base64_alphabet values ORed together.
 * If the text uses both, decoding stops at the first character of the second alphabet. */
uint64_t petal_base64_decode(const char *text, uint64_t chars, uint8_t *bytes, unsigned *seen);

/* Encodes the bytes as (size_bytes + 2) / 3 * 4 characters, without a terminator. */
void petal_base64_encode(const uint8_t *bytes, size_t size_bytes, enum base64_alphabet alphabet,
                         char *text);

#endif

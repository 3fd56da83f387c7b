/* utf8.h - reads UTF-8 that may be invalid. */
#ifndef PETAL_CLI_UTF8_H
#define PETAL_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/* Returns the code point at `at`, where `size` bytes (at least 1) are available, and its length.
 * Overlong forms, surrogates, code points above 10FFFF and stray or missing bytes give UTF8_INVALID
 * and 1. */
uint32_t utf8_next(const uint8_t *at, size_t size, size_t *length);

#endif

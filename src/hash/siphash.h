/* siphash.h - SipHash-2-4 with a 64-bit result (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012). A keyed pseudorandom function: without the 128-bit secret nobody can
 * predict or choose a key's bits. */
#ifndef PETAL_HASH_SIPHASH_H
#define PETAL_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t petal_siphash24(const void *data, size_t size_bytes, const uint8_t secret[16]);

#endif

/* lzf.h - LZF, the compression that Redis uses for strings (format and method by Marc Lehmann).
 * Petal has its own implementation, because liblzf doesn't promise to produce the same bytes twice,
 * and detects no invalid input except overruns.
 *
 *     000nnnnn                              the next n + 1 bytes, as they are
 *     nnnddddd dddddddd                     n + 2 bytes (n from 1 to 6) from d + 1 bytes back
 *     111ddddd nnnnnnnn dddddddd            n + 9 bytes from d + 1 bytes back
 */
#ifndef PETAL_BASE_LZF_H
#define PETAL_BASE_LZF_H

#include <stdbool.h>
#include <stdint.h>

/* The maximum number of bytes to which one byte of LZF can expand: three bytes encode a copy of up
 * to 264 bytes. */
#define PETAL_LZF_MAX_EXPANSION 88u

/* Decompresses `packed` to `bytes`. Returns true if `packed` was the compressed form of exactly
 * `size_bytes` bytes. Never writes outside `bytes`, whatever the input. */
bool petal_lzf_expand(const uint8_t *packed, uint64_t packed_bytes, uint8_t *bytes,
                      uint64_t size_bytes);

#define PETAL_LZF_SLOTS 65536u

/* Compresses like liblzf 3.6 and Redis, starting with an empty table: `slots` must point to
 * PETAL_LZF_SLOTS zeros, which are overwritten. Returns the number of bytes written to `packed`, or
 * 0 if `room_bytes` is too small. */
uint64_t petal_lzf_compress(const uint8_t *bytes, uint32_t size_bytes, uint8_t *packed,
                            uint64_t room_bytes, uint32_t *slots);

#endif

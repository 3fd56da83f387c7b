/* lzf.h - LZF, the compression that Redis uses for strings (format and method by Marc Lehmann).
 * Written here from the format, because liblzf doesn't promise to give the same bytes twice, and
 * rejects nothing but overruns.
 *
 *     000nnnnn                              the next n + 1 bytes, as they are
 *     nnnddddd dddddddd                     n + 2 bytes (n from 1 to 6) from d + 1 bytes back
 *     111ddddd nnnnnnnn dddddddd            n + 9 bytes from d + 1 bytes back
 */
#ifndef PETAL_BASE_LZF_H
#define PETAL_BASE_LZF_H

#include <stdbool.h>
#include <stdint.h>

/* One byte of LZF expands to at most this many: the longest copy gives 264 bytes from three. */
#define PETAL_LZF_MAX_EXPANSION 88u

/* Is `packed` the compressed form of exactly `size_bytes` bytes? Decompresses it to `bytes`, and
 * writes nowhere else, whatever the input. */
bool petal_lzf_expand(const uint8_t *packed, uint64_t packed_bytes, uint8_t *bytes,
                      uint64_t size_bytes);

#define PETAL_LZF_SLOTS 65536u

/* Compresses as liblzf 3.6 and Redis do, from an empty table: `slots` must be PETAL_LZF_SLOTS
 * zeros, and are overwritten. Returns the number of bytes written to `packed`, or 0 if `room_bytes`
 * is too small. */
uint64_t petal_lzf_compress(const uint8_t *bytes, uint32_t size_bytes, uint8_t *packed,
                            uint64_t room_bytes, uint32_t *slots);

#endif

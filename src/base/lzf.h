/* lzf.h - LZF, the compression of strings in Redis (format and method by Marc Lehmann). Written
 * here, from the format, because liblzf does not promise to give the same bytes twice, and refuses
 * nothing but overruns.
 *
 *     000nnnnn                              the next n + 1 bytes, as they are
 *     nnnddddd dddddddd                     n + 2 bytes (n from 1 to 6) from d + 1 bytes back
 *     111ddddd nnnnnnnn dddddddd            n + 9 bytes from d + 1 bytes back
 */
#ifndef PETAL_BASE_LZF_H
#define PETAL_BASE_LZF_H

#include <stdbool.h>
#include <stdint.h>

/* A byte of LZF stands for no more than that many: 264 in the three of the longest copy. */
#define PETAL_LZF_MAX_EXPANSION 88u

/* Is `packed` just `size_bytes` bytes, compressed? They are then in `bytes`. Writes nowhere else,
 * whatever comes in. */
bool petal_lzf_expand(const uint8_t *packed, uint64_t packed_bytes, uint8_t *bytes,
                      uint64_t size_bytes);

#define PETAL_LZF_SLOTS 65536u

/* Compresses as liblzf 3.6 and Redis do, from an empty table: `slots` are PETAL_LZF_SLOTS zeros,
 * and are used up. Returns the number of bytes written to `packed`, or 0 if `room_bytes` are too
 * few. */
uint64_t petal_lzf_compress(const uint8_t *bytes, uint32_t size_bytes, uint8_t *packed,
                            uint64_t room_bytes, uint32_t *slots);

#endif

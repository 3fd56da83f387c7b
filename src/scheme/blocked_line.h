/* blocked_line.h - what every kernel of the scheme `blocked` shares: where the line is, which words, which bits. The rule itself
 * is at the top of blocked.c. */
#ifndef PETAL_SCHEME_BLOCKED_LINE_H
#define PETAL_SCHEME_BLOCKED_LINE_H

#include "base/bytes.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "scheme/scheme.h"

#define WORDS 16u
#define WORD_BITS 32u
#define GOLDEN 0x9E3779B1u /* 2^32 / golden ratio, odd: spreads x over the fields of y */

/* One for each word. The first eight are those of Parquet's split-block filter, the others odd constants of known hashes. */
static const uint32_t salts[WORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff,
};

/* The words of a key as a mask of 16 bits: petal_blocked_patterns[k][y >> 25], whose seven bits are start and stride. */
extern const uint16_t petal_blocked_patterns[WORDS + 1][128];

static inline uint32_t pattern_of(uint32_t x, uint32_t hashes)
{
    return petal_blocked_patterns[hashes][x * GOLDEN >> 25];
}

static inline uint8_t *line_of(const struct bit_array *array, uint64_t hash)
{
    return array->bytes + mulhi64(hash, array->shape.bits / PETAL_LINE_BITS) * PETAL_LINE_BYTES;
}

/* A key's hashes are shared out: all to its one line, or ceil(k/2) to the first and the rest to the second. */
static inline uint32_t hashes_of_first(const struct shape *shape)
{
    return shape->lines_per_key == 2 ? (shape->hashes + 1) / 2 : shape->hashes;
}

static inline uint32_t hashes_of_second(const struct shape *shape)
{
    return shape->hashes - hashes_of_first(shape);
}

extern const struct kernel petal_blocked_avx512, petal_blocked_avx2, petal_blocked_neon;

#endif

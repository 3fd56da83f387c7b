/* blocked_line.h - finds the line and the words of a key, for all kernels of the `blocked` scheme.
 * The comment at the top of blocked.c explains the rule. petal_inline.h defines the operations on a
 * line for each CPU. */
#ifndef PETAL_SCHEME_BLOCKED_LINE_H
#define PETAL_SCHEME_BLOCKED_LINE_H

#include "base/bytes.h"
#include "base/checked.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "hash/xxh3.h"
#include "petal/petal_inline.h"
#include "scheme/scheme.h"

#define WORDS 16u
#define WORD_BITS 32u

/* Tables of the words of a key, in the two forms that petal_inline.h uses.
 * petal_blocked_patterns[k][y >> 25] contains one bit per word; the seven bits of y are start and
 * stride. petal_blocked_masks[k][y >> 25] contains one byte for each of the first eight words. The
 * bytes of the other eight words are 64 rows further on, because start + 8 selects the same words,
 * shifted by eight. */
#ifdef __wasm__
extern uint8_t petal_blocked_masks[WORDS + 1][192][8];
extern uint16_t petal_blocked_patterns[WORDS + 1][128];
#else
extern const uint8_t petal_blocked_masks[WORDS + 1][192][8];
extern const uint16_t petal_blocked_patterns[WORDS + 1][128];
#endif

/* Returns the table row for k hashes, in the form that this file's target needs. */
static inline const petal_inline_row *row_of(uint32_t hashes)
{
#ifdef PETAL_INLINE_MASKS
    return petal_blocked_masks[hashes][0];
#else
    return petal_blocked_patterns[hashes];
#endif
}

static inline petal_inline_words words_of(uint32_t x, uint32_t hashes)
{
    return petal_inline_row_words(row_of(hashes), x);
}

static inline uint8_t *line_of(const struct bit_array *array, uint64_t hash)
{
    uint64_t lines = array->shape.bits / PETAL_LINE_BITS;
    return array->bytes + mulhi64(hash, lines) * PETAL_LINE_BYTES;
}

/* Returns the line of a key that has only one line. */
static inline uint8_t *one_line(const struct direct *way, uint64_t hash)
{
    return way->lines + mulhi64(hash, way->line_count) * PETAL_LINE_BYTES;
}

/* Returns the number of a key's bits in its first line: all k bits with one line per key, and
 * ceil(k/2) with two. */
static inline uint32_t hashes_of_first(const struct shape *shape)
{
    return shape->lines_per_key == 2 ? (shape->hashes + 1) / 2 : shape->hashes;
}

static inline uint32_t hashes_of_second(const struct shape *shape)
{
    return shape->hashes - hashes_of_first(shape);
}

extern const struct kernel petal_blocked_avx512, petal_blocked_avx2, petal_blocked_sse4,
    petal_blocked_neon, petal_blocked_simd128;

#endif

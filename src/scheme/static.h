/* static.h - the `static` scheme: the geometry of its pages, and how they are solved. static.c has
 * the rule. */
#ifndef PETAL_SCHEME_STATIC_H
#define PETAL_SCHEME_STATIC_H

#include "base/bytes.h"
#include "petal/petal_inline.h"
#include "scheme/scheme.h"

#define STATIC_BUCKET_STARTS 128u
#define STATIC_BLOCK_ROWS 64u
#define STATIC_BLOCKS_PER_BUCKET (STATIC_BUCKET_STARTS / STATIC_BLOCK_ROWS)
#define STATIC_MAX_COLUMNS 30u
#define PETAL_STATIC_LOWEST_RATE (1.0 / ((uint64_t)1 << STATIC_MAX_COLUMNS))
#define STATIC_MAX_STARTS ((uint64_t)1 << 46)

/* The number of keys per bucket that a builder aims for: 4.7 % more than there are starts, so that
 * few rows stay free. Then 4.5 % of the keys go to the next layer. */
#define STATIC_KEYS_PER_BUCKET 134u

/* After this many layers, the next one is a list of hashes, no matter how many are left. Only keys
 * that were chosen to cause it get that far. */
#define STATIC_MAX_LAYERS 12u

#define STATIC_THRESHOLDS 0x80301400u

/* The code of a bucket selects one of these: keys whose start, counted from the bucket's first, is
 * lower are bumped. */
static inline uint32_t static_threshold(uint32_t code)
{
    return STATIC_THRESHOLDS >> 8 * code & 0xff;
}
#define STATIC_ALL_BUMPED 3u

#define STATIC_GOLDEN 0x9E3779B97F4A7C15u
#define STATIC_MIX 0xD6E8FEB86659FD93u

/* The hash for layer number `level`, computed from the previous layer's hash. */
static inline uint64_t static_next_hash(uint64_t hash, uint32_t level)
{
    return fmix64(hash + level * STATIC_GOLDEN);
}

/* What a key requires of the 64 rows that begin at its start: which of them it sums (the lowest bit
 * is for the start, and is set), and the sum for each column. */
struct static_equation {
    uint64_t rows;
    uint32_t sums;
};

static inline struct static_equation static_equation_of(uint64_t hash)
{
    uint64_t mixed = (hash ^ hash >> 32) * STATIC_MIX;
    mixed ^= mixed >> 29;
    return (struct static_equation){mixed | 1, (uint32_t)(mixed * STATIC_GOLDEN >> 32)};
}

/* The offset of a block of rows in its page, in bytes. */
static inline uint32_t static_block_at(const struct static_page *page, uint32_t columns,
                                       uint32_t block)
{
    uint32_t wide = page->wide_blocks;
    return page->code_bytes + 8 * (block * columns + (block < wide ? block : wide));
}

static inline uint32_t static_page_rows(const struct static_page *page)
{
    return page->buckets * STATIC_BUCKET_STARTS + STATIC_BLOCK_ROWS;
}

static inline const struct static_page *static_page_of(const struct bit_array *array, uint64_t page)
{
    return page == array->pages.last_number ? &array->pages.last : &array->pages.full;
}

/* The blocks that the starts of a full page are in. */
static inline uint64_t static_full_blocks(const struct bit_array *array)
{
    return (uint64_t)STATIC_BLOCKS_PER_BUCKET * array->pages.full.buckets;
}

/* The sum of the bits of a word, modulo 2. */
static inline unsigned static_parity(uint64_t x)
{
    return (unsigned)__builtin_parityll(x);
}

/* static.c, and static_avx2.c and static_avx512.c. */
extern const struct kernel petal_static_generic, petal_static_avx2, petal_static_avx512;

/* Chooses the columns for a rate, and the wide buckets of a full page: the fewest that keep it.
 * Returns false if there are not enough columns. */
bool petal_static_shape_for(double rate, struct shape *shape);

/* The number of starts in a layer with this many keys. */
uint64_t petal_static_starts(uint64_t keys);

/* The layer for this many keys, with the columns and wide buckets of `shape`. Returns how many of
 * the keys it is expected to bump. */
uint64_t petal_static_expected_layer(const struct shape *shape, uint64_t keys, struct shape *layer);

/* Is a list of hashes shorter than a layer of this shape for this many keys? */
bool petal_static_prefers_list(const struct shape *shape, uint64_t keys);

/* The share of hashes that a layer's codes pass on. */
double petal_static_bumped(const struct bit_array *array);

/* Room for solving a page, with one entry per row. */
struct static_room {
    uint64_t *rows; /* 0 if the row is free; otherwise its lowest bit, which is its own, is set */
    uint32_t *sums;
    uint32_t count;
};

/* Fills a zeroed page with the keys that have these hashes, which are ascending and all different.
 * Moves the bumped hashes to the front of `hashes`, and returns how many there are. */
uint64_t petal_static_solve(const struct bit_array *array, uint64_t page, uint64_t *hashes,
                            uint64_t count, const struct static_room *room);

/* The index of the first of the ascending hashes that belongs to this page, or to a later one. */
uint64_t petal_static_page_begin(const struct bit_array *array, uint64_t page,
                                 const uint64_t *hashes, uint64_t count);

#endif

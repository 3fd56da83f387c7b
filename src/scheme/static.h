/* static.h - defines the page layout of the `static` scheme, and declares the solver. The comment
 * at the top of static.c explains the scheme. */
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

/* The average number of keys per bucket, which is 4.7 % more than the number of starts, so that few
 * rows stay free. As a result, 4.5 % of the keys are bumped to the next layer. */
#define STATIC_KEYS_PER_BUCKET 134u

/* The maximum number of layers before a list of hashes, no matter how many keys remain. Only
 * maliciously chosen keys can require this many layers. */
#define STATIC_MAX_LAYERS 12u

#define STATIC_THRESHOLDS 0x80301400u

/* Returns the threshold that a bucket's code selects. A key is bumped if its start, counted from
 * the bucket's first start, is below the threshold. */
static inline uint32_t static_threshold(uint32_t code)
{
    return STATIC_THRESHOLDS >> 8 * code & 0xff;
}
#define STATIC_ALL_BUMPED 3u

#define STATIC_GOLDEN 0x9E3779B97F4A7C15u
#define STATIC_MIX 0xD6E8FEB86659FD93u

/* Returns a key's hash in layer number `level`, computed from its hash in the previous layer. */
static inline uint64_t static_next_hash(uint64_t hash, uint32_t level)
{
    return fmix64(hash + level * STATIC_GOLDEN);
}

/* A key's equation over the 64 rows that begin at its start: a mask of the rows that are summed,
 * and the required sum for each column. The mask's lowest bit, which is always set, is for the
 * start. */
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

/* Returns the byte offset of a block of rows in its page. */
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

/* Returns the number of blocks that contain the starts of a full page. */
static inline uint64_t static_full_blocks(const struct bit_array *array)
{
    return (uint64_t)STATIC_BLOCKS_PER_BUCKET * array->pages.full.buckets;
}

/* Returns the sum of a word's bits, modulo 2. */
static inline unsigned static_parity(uint64_t x)
{
    return (unsigned)__builtin_parityll(x);
}

/* The kernels defined in static.c, static_avx2.c and static_avx512.c. */
extern const struct kernel petal_static_generic, petal_static_avx2, petal_static_avx512;

/* Chooses the minimum number of columns, and of wide buckets in a full page, that keep a rate.
 * Returns false if the rate needs more than the maximum number of columns. */
bool petal_static_shape_for(double rate, struct shape *shape);

/* Returns the number of starts in a layer with this number of keys. */
uint64_t petal_static_starts(uint64_t keys);

/* Computes the shape of a layer for this number of keys, with the columns and wide buckets of
 * `shape`. Returns the number of keys that the layer is expected to bump. */
uint64_t petal_static_expected_layer(const struct shape *shape, uint64_t keys, struct shape *layer);

/* Returns true if a list of hashes takes fewer bytes than a layer of this shape. */
bool petal_static_prefers_list(const struct shape *shape, uint64_t keys);

/* Returns the share of hashes that a layer bumps, according to its codes. */
double petal_static_bumped(const struct bit_array *array);

/* The buffers for solving a page, with one entry per row. */
struct static_room {
    uint64_t *rows; /* the row's equation, with the lowest bit set for the row itself; 0 if the row
                     * is free */
    uint32_t *sums;
    uint32_t count;
};

/* Fills a zeroed page for keys with these hashes, which must be ascending and all different. Moves
 * the bumped hashes to the front of `hashes`, and returns their number. */
uint64_t petal_static_solve(const struct bit_array *array, uint64_t page, uint64_t *hashes,
                            uint64_t count, const struct static_room *room);

/* Returns the index of the first hash, in ascending order, that belongs to this page or to a later
 * one. */
uint64_t petal_static_page_begin(const struct bit_array *array, uint64_t page,
                                 const uint64_t *hashes, uint64_t count);

#endif

/* static.c - the `static` scheme, which stores a set that never changes in barely more bits than
 * its false-positive rate requires.
 *
 * The scheme uses bumped ribbon retrieval (Dillinger, Huebschle-Schneider, Sanders, Walzer: "Fast
 * Succinct Retrieval and Approximate Membership using Ribbon", 2022), divided into pages that are
 * read, checked and solved separately. A table of rows contains one bit per column in each row. A
 * key selects some of 64 consecutive rows. The key is present if in each column, the sum modulo 2
 * of the selected rows' bits equals the bit that the key's hash requires:
 *
 *                start      start + 63
 *     rows    ...|0110100...1|...               column 0:  0 ^ 1 ^ ... = sums bit 0 ?
 *     the key's  |1 011 ... 1|                  column 1:      ...     = sums bit 1 ?
 *
 * static_build.c computes the rows' bits by solving the equations of all keys. With r columns, the
 * false-positive rate is 2^-r. For rates between these powers, some rows have an additional column.
 *
 * Starts are grouped into buckets of 128. If a bucket's equations can't all be solved, the keys
 * with the lowest starts are bumped: they are added to the next layer, which is built in the same
 * way with another hash. A two-bit code per bucket records which starts are bumped. So a query
 * visits one layer after another until it finds the layer that has not bumped the key; that layer
 * has the answer. If few keys remain, or if they were chosen to obstruct each other, the last layer
 * is a list of their hashes.
 *
 * A layer of r columns and m starts, a multiple of 128:
 *
 *     page 0                      page 1                      last page
 *     +-------+----------+-------+-------+----------+-------+-------+------+-------+
 *     | codes | blocks   | zeros | codes | blocks   | zeros | codes | ...  | zeros |
 *     +-------+----------+-------+-------+----------+-------+-------+------+-------+
 *     <------ 65,536 bytes ------>                            in whole lines of 64
 *
 *     codes   of bucket b: bits 2 (b mod 4) and above of byte b / 4; in whole 8-byte words
 *     block   64 rows: an 8-byte word for each column, row i its bit i
 *
 * A page of K buckets has 2 K + 1 blocks, since the rows of the last start extend 63 rows further.
 * If a page has w wide buckets, they come first, and the first 2 w + 1 blocks have an additional
 * column. docs/format.md contains the complete rule for ports. */
#include "scheme/static.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "scheme/model.h"

/* ---- geometry -------------------------------------------------------------------------------- */

static struct static_page page_of(uint32_t columns, uint32_t buckets, uint32_t wide_buckets)
{
    struct static_page page = {.buckets = buckets, .wide_buckets = wide_buckets};
    uint32_t blocks = STATIC_BLOCKS_PER_BUCKET * buckets + 1;
    page.wide_blocks = wide_buckets ? STATIC_BLOCKS_PER_BUCKET * wide_buckets + 1 : 0;
    page.code_bytes = (buckets + 31) / 32 * 8;
    page.used_bytes = static_block_at(&page, columns, blocks);
    return page;
}

/* Returns the page with the maximum number of buckets, of which `wide_buckets` are wide. A bucket
 * takes 16 bytes per column, and a quarter of a byte for its code. */
static struct static_page full_page(uint32_t columns, uint32_t wide_buckets)
{
    uint32_t buckets = PETAL_BLOCK_BYTES / (16 * columns);
    while (page_of(columns, buckets, wide_buckets).used_bytes > PETAL_BLOCK_BYTES) buckets--;
    return page_of(columns, buckets, wide_buckets);
}

static bool is_list(const struct shape *shape)
{
    return shape->hashes == 0;
}

static struct static_pages pages_of(const struct shape *shape)
{
    struct static_pages pages = {.full = full_page(shape->hashes, shape->lines_per_key)};
    uint64_t buckets = shape->bits / STATIC_BUCKET_STARTS, per_page = pages.full.buckets;
    uint64_t left = (buckets - 1) % per_page + 1, wide = pages.full.wide_buckets;
    pages.last_number = (buckets - 1) / per_page;
    pages.inverse = UINT64_MAX / per_page + 1;
    pages.last =
        page_of(shape->hashes, (uint32_t)left, (uint32_t)((wide * left + per_page - 1) / per_page));
    return pages;
}

static uint64_t used_bytes(const struct shape *shape)
{
    if (is_list(shape)) return shape->bits / 8;
    struct static_pages pages = pages_of(shape);
    return pages.last_number * PETAL_BLOCK_BYTES + pages.last.used_bytes;
}

static void prepare(struct bit_array *array)
{
    if (!is_list(&array->shape)) array->pages = pages_of(&array->shape);
}

static petal_status normalize(const struct scheme_def *self, struct shape *shape,
                              petal_error *error)
{
    uint32_t columns = shape->hashes, unit = columns ? STATIC_BUCKET_STARTS : 64;
    if (columns > STATIC_MAX_COLUMNS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes up to %u columns, not %u",
                          self->name, STATIC_MAX_COLUMNS, columns);
    if (shape->bits == 0 || shape->bits % unit != 0 || shape->bits > STATIC_MAX_STARTS)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a layer of a %s filter takes a multiple of %u up to 2^46, not %llu",
                          self->name, unit, (unsigned long long)shape->bits);
    if (shape->lines_per_key > (columns ? PETAL_BLOCK_BYTES / (16 * columns) : 0) ||
        (columns && shape->lines_per_key >= full_page(columns, shape->lines_per_key).buckets))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a page of %u columns has no %u wide buckets beside others", columns,
                          shape->lines_per_key);
    return PETAL_OK;
}

/* ---- the generic kernel: it defines the scheme ----------------------------------------------- */

#define KERNEL_NAME "generic"
#define KERNEL_SYMBOL petal_static_generic
#define USABLE NULL
#define TARGET
#include "scheme/static_kernel.inc"

static inline bool all_agree(const struct bit_array *array, const struct question *question)
{
    return agree_one_by_one(array, question, 0);
}

static const struct kernel *const kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    &petal_static_avx512,
    &petal_static_avx2,
#endif
    &petal_static_generic,
    NULL,
};

/* A query reads one page, which is one checksummed block. */
static uint32_t places(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes)
{
    uint64_t own = level_hash(array, *hash);
    if (is_list(&array->shape)) return list_places(array, own, bytes);
    *bytes = mulhi64(own, array->shape.bits) / STATIC_BUCKET_STARTS / array->pages.full.buckets *
             PETAL_BLOCK_BYTES;
    return 1;
}

/* ---- a query by stretches of the array ------------------------------------------------------- */

/* In a page, the stretches are the code and the words that a query reads. A list is read
 * completely, block by block. */
static bool stretch_of(const struct bit_array *array, uint64_t hash, uint64_t number,
                       struct stretch *stretch)
{
    if (is_list(&array->shape)) {
        uint64_t used = used_bytes(&array->shape), at = number * PETAL_BLOCK_BYTES;
        if (at >= used) return false;
        *stretch =
            (struct stretch){at, used - at < PETAL_BLOCK_BYTES ? used - at : PETAL_BLOCK_BYTES};
        return true;
    }
    struct question question = question_of(array, level_hash(array, hash));
    uint64_t end = question.second + 8 * (uint64_t)question.columns;
    *stretch = number == 0 ? (struct stretch){question.code, 1}
                           : (struct stretch){question.first, end - question.first};
    return number < 2;
}

static uint8_t turn_of_stretches(const struct bit_array *array, uint64_t hash, const uint8_t *bytes)
{
    struct bit_array own = *array;
    uint64_t level = level_hash(array, hash);
    own.bytes = (uint8_t *)(uintptr_t)bytes; /* only read from */
    if (is_list(&array->shape)) return (uint8_t)find_in_list(&own, level);
    struct question question = question_of(array, level);
    question.second = 1 + question.second - question.first;
    question.first = 1;
    question.code = 0;
    return (uint8_t)answer(&own, &question);
}

/* ---- planning and models --------------------------------------------------------------------- */

static double rate_of(uint32_t columns)
{
    return 1 / (double)((uint64_t)1 << columns);
}

/* Returns the probability that an absent key has the same hash as one of the keys in a list. */
static double rate_of_list(const struct shape *shape)
{
    return (double)shape->bits / 64 * 0x1p-64;
}

/* Returns the false-positive rate for the hashes that this layer handles. */
static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    (void)self, (void)keys;
    if (is_list(shape)) return rate_of_list(shape);
    struct static_pages pages = pages_of(shape);
    double wide = (double)pages.last_number * pages.full.wide_buckets + pages.last.wide_buckets;
    double part = wide * STATIC_BUCKET_STARTS / (double)shape->bits;
    return rate_of(shape->hashes) * (1 - part / 2);
}

bool petal_static_shape_for(double rate, struct shape *shape)
{
    uint32_t columns = 1;
    *shape = (struct shape){.scheme = PETAL_SCHEME_STATIC};
    while (columns <= STATIC_MAX_COLUMNS && rate_of(columns + 1) >= rate) columns++;
    if (columns > STATIC_MAX_COLUMNS) return false;
    shape->hashes = columns;
    double part = 2 * (1 - rate / rate_of(columns));
    if (!(part > 0)) return true;
    while (shape->lines_per_key < part * full_page(columns, shape->lines_per_key).buckets)
        shape->lines_per_key++;
    if (shape->lines_per_key < full_page(columns, shape->lines_per_key).buckets) return true;
    *shape = (struct shape){.scheme = PETAL_SCHEME_STATIC, .hashes = columns + 1};
    return columns < STATIC_MAX_COLUMNS;
}

uint64_t petal_static_starts(uint64_t keys)
{
    uint64_t buckets = keys / STATIC_KEYS_PER_BUCKET + (keys % STATIC_KEYS_PER_BUCKET != 0);
    return (buckets ? buckets : 1) * STATIC_BUCKET_STARTS;
}

bool petal_static_prefers_list(const struct shape *shape, uint64_t keys)
{
    struct shape layer = *shape;
    layer.bits = petal_static_starts(keys);
    return keys > 0 && keys * 8 <= used_bytes(&layer);
}

/* The expected share of keys that a layer bumps: 4.5 % if it has many keys (tests/stat/static.c),
 * and less if its buckets are less full. */
#define EXPECTED_BUMPED 0.0452

uint64_t petal_static_expected_layer(const struct shape *shape, uint64_t keys, struct shape *layer)
{
    *layer = *shape;
    layer->bits = petal_static_starts(keys);
    if (!petal_static_prefers_list(shape, keys))
        return (uint64_t)((double)keys * EXPECTED_BUMPED + 0.5);
    *layer = (struct shape){.scheme = PETAL_SCHEME_STATIC, .bits = 64 * keys};
    return 0;
}

/* ---- what the codes tell --------------------------------------------------------------------- */

/* The number of bumped starts, and the numbers of unbumped starts in wide and in narrow buckets. */
struct share {
    uint64_t bumped, wide, narrow;
};

static struct share share_of(const struct bit_array *array)
{
    struct share share = {0, 0, 0};
    for (uint64_t number = 0; number <= array->pages.last_number; number++) {
        const struct static_page *page = static_page_of(array, number);
        const uint8_t *codes = array->bytes + number * PETAL_BLOCK_BYTES;
        for (uint32_t i = 0; i < page->buckets; i++) {
            uint32_t bumped = static_threshold(codes[i / 4] >> 2 * (i % 4) & 3);
            share.bumped += bumped;
            *(i < page->wide_buckets ? &share.wide : &share.narrow) +=
                STATIC_BUCKET_STARTS - bumped;
        }
    }
    return share;
}

double petal_static_bumped(const struct bit_array *array)
{
    if (is_list(&array->shape)) return 0;
    return (double)share_of(array).bumped / (double)array->shape.bits;
}

/* Returns the layer's false-positive rate over all hashes, where bumped hashes count as absent. */
static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    (void)self, (void)bits_set, (void)layers;
    if (is_list(&array->shape)) return rate_of_list(&array->shape);
    struct share share = share_of(array);
    double passed = (double)share.wide / 2 + (double)share.narrow;
    return rate_of(array->shape.hashes) * passed / (double)array->shape.bits;
}

const struct scheme_def petal_scheme_static = {
    .id = PETAL_SCHEME_STATIC,
    .name = "static",
    .kernels = kernels,
    .normalize = normalize,
    .used_bytes = used_bytes,
    .prepare = prepare,
    .is_in_turn = true,
    .unit_bytes = PETAL_LINE_BYTES,
    .hash_words = 1,
    .places = places,
    .stretch = stretch_of,
    .turn_of_stretches = turn_of_stretches,
    .max_hashes = STATIC_MAX_COLUMNS,
    .step_bits = STATIC_BUCKET_STARTS,
    .max_bits = STATIC_MAX_STARTS,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
};

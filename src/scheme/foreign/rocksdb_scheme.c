/* rocksdb_scheme.c - the scheme of RocksDB's FastLocalBloom, for tables with format_version 5 and
 * later. All k bits of a key are in one 64-byte line. The line is (low 32 bits of the hash) * lines
 * >> 32. h starts as the high 32 bits of the hash. Then, k times: the bit is h >> 23, then h = h *
 * 9e3779b9 mod 2^32. Two bits can coincide. See docs/formats/rocksdb.md. */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/popcount.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

#define STEP 0x9e3779b9u

struct walk {
    uint64_t line; /* number of the line's first bit */
    uint32_t h;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    uint64_t lines = array->shape.bits / PETAL_LINE_BITS;
    return (struct walk){((*hash & UINT32_MAX) * lines >> 32) * PETAL_LINE_BITS,
                         (uint32_t)(*hash >> 32)};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = at->line + (at->h >> 23);
    at->h *= STEP;
    return position;
}

#define WALK rocksdb
#include "scheme/walk.inc"

static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    (void)self;
    return petal_model_lines_rate(shape->bits / PETAL_LINE_BITS, shape->hashes, keys);
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_lines_sd(shape->bits / PETAL_LINE_BITS, shape->hashes, keys);
}

/* In this model, a key throws k balls into the 512 bins of a line. */
static double bits_per_key(const struct shape *shape)
{
    double clear = 1;
    for (uint32_t i = 0; i < shape->hashes; i++) clear *= 1 - 1.0 / PETAL_LINE_BITS;
    return PETAL_LINE_BITS * (1 - clear);
}

/* Returns the mean of fill^k over all lines. */
static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    uint64_t lines = array->shape.bits / PETAL_LINE_BITS;
    double sum = 0;
    (void)self, (void)bits_set, (void)layers;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t ones = petal_popcount(array->bytes + i * PETAL_LINE_BYTES, PETAL_LINE_BYTES);
        double fill = (double)ones / PETAL_LINE_BITS, product = 1;
        for (uint32_t k = 0; k < array->shape.hashes; k++) product *= fill;
        sum += product;
    }
    return sum / (double)lines;
}

const struct scheme_def petal_scheme_rocksdb = {
    .id = PETAL_SCHEME_ROCKSDB,
    .name = "rocksdb",
    WALKED(rocksdb),
    .hash_words = 1,
    .max_hashes = 30, /* k takes 5 bits in a file, and the values 0 and 31 are reserved */
    .step_bits = PETAL_LINE_BITS,
    .fold_bits = PETAL_LINE_BITS,
    .max_bits = (uint64_t)0xffffffc0 * 8, /* RocksDB stores the size in bytes as a 32-bit number */
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
    .bits_per_key = bits_per_key,
};

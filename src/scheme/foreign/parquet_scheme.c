/* parquet_scheme.c - the scheme of Apache Parquet's split-block Bloom filter, in which a key sets 8
 * bits in one 32-byte block. See docs/formats/parquet.md.
 *
 * m is a multiple of 256 bits. The array consists of z blocks of 8 little-endian 32-bit words. A
 * key sets one bit in each word of one block:
 *
 *     block      = ((h >> 32) * z) >> 32              the high half of the hash
 *     x          = low 32 bits of h
 *     bit of w   = (x * salt[w]) >> 27                w = 0 .. 7, products mod 2^32
 *
 *     XXH64("hello") = 26c7827d889f6da3, z = 2:  block 0, bits 20 9 10 7 9 31 28 27 */
#include "scheme/foreign/parquet_block.h"

#include "base/bytes.h"
#include "base/error.h"
#include "scheme/model.h"

static inline uint32_t load_word(const uint8_t *block, uint32_t word)
{
    return load32le(block + (size_t)word * (WORD_BITS / 8));
}

static inline uint32_t bit_of(uint64_t hash, uint32_t word)
{
    return (uint32_t)1 << ((uint32_t)hash * salts[word] >> 27);
}

static inline bool add_hash(const struct bit_array *array, uint64_t hash)
{
    uint8_t *block = block_of(array, hash);
    uint32_t changed = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t old = load_word(block, w), bit = bit_of(hash, w);
        changed |= ~old & bit;
        store32le(block + (size_t)w * (WORD_BITS / 8), old | bit);
    }
    return changed != 0;
}

static inline bool has_hash(const struct bit_array *array, uint64_t hash)
{
    const uint8_t *block = block_of(array, hash);
    uint32_t missing = 0;
    for (uint32_t w = 0; w < WORDS; w++) missing |= ~load_word(block, w) & bit_of(hash, w);
    return missing == 0;
}

#define TARGET
#define USABLE NULL
#define KERNEL_NAME "generic"
#define KERNEL_SYMBOL petal_parquet_generic
extern const struct kernel petal_parquet_generic;
#include "scheme/foreign/parquet_kernel.inc"

static const struct kernel *const kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    &petal_parquet_avx2,
#endif
    &petal_parquet_generic,
    NULL,
};

static uint32_t places(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes)
{
    bytes[0] = (uint64_t)(block_of(array, *hash) - array->bytes);
    return 1;
}

static petal_status normalize(const struct scheme_def *self, struct shape *shape,
                              petal_error *error)
{
    if (shape->hashes != WORDS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "parquet has %u hashes per key, not %u", WORDS,
                          shape->hashes);
    return petal_normalize_foreign(self, shape, error);
}

static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    (void)self;
    return petal_model_split_block_rate(shape->bits / BLOCK_BITS, keys);
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_split_block_sd(shape->bits / BLOCK_BITS, keys);
}

/* A key's bits in the words of a block are nearly independent, so the rate is the product of the
 * fills of the words. */
static double rate_of_block(const uint8_t *block)
{
    double product = 1;
    for (uint32_t w = 0; w < WORDS; w++)
        product *= popcount32(load_word(block, w)) / (double)WORD_BITS;
    return product;
}

static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    uint64_t blocks = array->shape.bits / BLOCK_BITS;
    double sum = 0;
    (void)self, (void)bits_set, (void)layers;
    for (uint64_t i = 0; i < blocks; i++) sum += rate_of_block(array->bytes + i * BLOCK_BYTES);
    return sum / (double)blocks;
}

const struct scheme_def petal_scheme_parquet = {
    .id = PETAL_SCHEME_PARQUET,
    .name = "parquet",
    .kernels = kernels,
    .normalize = normalize,
    .unit_bytes = 8,
    .hash_words = 1,
    .places = places,
    .max_hashes = WORDS,
    .step_bits = BLOCK_BITS,
    .fold_bits = BLOCK_BITS,
    /* The number of bytes must fit into 31 bits. */
    .max_bits = (uint64_t)(INT32_MAX / BLOCK_BYTES) * BLOCK_BITS,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

/* parquet.c - the split-block Bloom filter of Apache Parquet: 8 bits of a key in one block of 32 bytes. docs/formats/parquet.md.
 *
 * m is a multiple of 256 bits: z blocks of 8 little-endian words of 32 bits. A key sets one bit in each word of one block:
 *
 *     block      = ((h >> 32) * z) >> 32              the high half of the hash
 *     x          = low 32 bits of h
 *     bit of w   = (x * salt[w]) >> 27                w = 0 .. 7, products mod 2^32
 *
 *     XXH64("hello") = 26c7827d889f6da3, z = 2:  block 0, bits 20 9 10 7 9 31 28 27 */
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

#define WORDS 8u
#define WORD_BITS 32u
#define BLOCK_BYTES 32u
#define BLOCK_BITS 256u

static const uint32_t salts[WORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

static inline uint8_t *block_of(const struct bit_array *array, uint64_t hash)
{
    return array->bytes + ((hash >> 32) * (array->shape.bits / BLOCK_BITS) >> 32) * BLOCK_BYTES;
}

static inline uint32_t load_word(const uint8_t *block, uint32_t word)
{
    return load32le(block + (size_t)word * (WORD_BITS / 8));
}

static inline uint32_t bit_of(uint64_t hash, uint32_t word)
{
    return (uint32_t)1 << ((uint32_t)hash * salts[word] >> 27);
}

static bool always(void)
{
    return true;
}

static bool add(const struct bit_array *array, const uint64_t *hash)
{
    uint8_t *block = block_of(array, *hash);
    uint32_t changed = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t old = load_word(block, w), bit = bit_of(*hash, w);
        changed |= ~old & bit;
        store32le(block + (size_t)w * (WORD_BITS / 8), old | bit);
    }
    return changed != 0;
}

static bool contains(const struct bit_array *array, const uint64_t *hash)
{
    const uint8_t *block = block_of(array, *hash);
    uint32_t missing = 0;
    for (uint32_t w = 0; w < WORDS; w++) missing |= ~load_word(block, w) & bit_of(*hash, w);
    return missing == 0;
}

/* In a batch the blocks of a group of keys are asked for before the first is needed, so that the misses overlap. */
#define GROUP 32u

static inline size_t many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results,
                          bool (*each)(const struct bit_array *, const uint64_t *))
{
    size_t sum = 0;
    for (size_t from = 0; from < count; from += GROUP) {
        size_t to = count - from < GROUP ? count : from + GROUP;
        for (size_t i = from; i < to; i++) __builtin_prefetch(block_of(array, hashes[i]));
        for (size_t i = from; i < to; i++) sum += results[i] = each(array, &hashes[i]);
    }
    return sum;
}

static size_t add_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    return many(array, hashes, count, results, add);
}

static size_t contains_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    return many(array, hashes, count, results, contains);
}

static void touch(const struct bit_array *array, const uint64_t *hash, uint8_t *touched)
{
    note_change(touched, (uint64_t)(block_of(array, *hash) - array->bytes));
}

static petal_status settle(struct shape *shape, petal_error *error)
{
    if (shape->hashes != WORDS)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "parquet has %u hashes a key, not %u", WORDS, shape->hashes);
    return petal_settle_foreign(shape, BLOCK_BITS, error);
}

static double rate(const struct shape *shape, double keys)
{
    return petal_model_split_block_rate(shape->bits / BLOCK_BITS, keys);
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_split_block_sd(shape->bits / BLOCK_BITS, keys);
}

/* A key's bits in the words of a block are as good as independent: the product of the words' fills. */
static double rate_of_block(const uint8_t *block)
{
    double product = 1;
    for (uint32_t w = 0; w < WORDS; w++) product *= popcount32(load_word(block, w)) / (double)WORD_BITS;
    return product;
}

/* Above this many blocks (16 MiB) an even sample of them is taken: its error is below 1 % of the rate. */
#define SAMPLE_BLOCKS ((uint64_t)1 << 19)

static double rate_of_bits(const struct bit_array *array, uint64_t bits_set)
{
    uint64_t blocks = array->shape.bits / BLOCK_BITS, sample = blocks < SAMPLE_BLOCKS ? blocks : SAMPLE_BLOCKS;
    double sum = 0;
    if (bits_set == 0) return 0;
    for (uint64_t i = 0; i < sample; i++) {
        uint64_t number =
            sample == blocks ? i : i * (blocks / sample) + i % (blocks / sample); /* one of each stretch */
        sum += rate_of_block(array->bytes + number * BLOCK_BYTES);
    }
    return sum / (double)sample;
}

/* A key has one part, its hash: half a line. */
static uint32_t one(const struct shape *shape)
{
    (void)shape;
    return 1;
}

static void split(const struct bit_array *array, uint32_t kind, const uint64_t *hashes, size_t count, uint64_t *words,
                  uint64_t *lines)
{
    (void)kind;
    for (size_t i = 0; i < count; i++) {
        words[i] = hashes[i];
        lines[i] = (uint64_t)(block_of(array, hashes[i]) - array->bytes) / PETAL_LINE_BYTES;
    }
}

static void add_words(const struct bit_array *array, uint32_t kind, const uint64_t *words, size_t count)
{
    (void)kind;
    for (size_t i = 0; i < count; i++) add(array, &words[i]);
}

static const struct parts parts = {one, one, split, add_words};

static const struct kernel generic = {"generic", always, add, contains, add_many, contains_many, NULL, NULL, &parts};
static const struct kernel *const kernels[] = {&generic, NULL};

const struct scheme_def petal_parquet = {
    .id = PETAL_SCHEME_PARQUET,
    .name = "parquet",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_words,
    .hash_words = 1,
    .touch = touch,
    .max_hashes = WORDS,
    .step_bits = BLOCK_BITS,
    .max_bits = (uint64_t)(INT32_MAX / BLOCK_BYTES) * BLOCK_BITS, /* the header has 31 bits for the bytes */
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

/* blocked.c - the scheme `blocked`: all k bits of a key in one cache line, or in two.
 *
 * m is a multiple of 512 bits: lines of 16 little-endian words of 32 bits. A key sets one bit in each of k distinct words:
 *
 *     line   = mulhi64(h, lines)                      the high bits of the hash
 *     x      = low 32 bits of h;  y = x * 0x9E3779B1
 *     word i = ((y >> 28) + i * (2 * ((y >> 25) & 7) + 1)) mod 16        i < k: a start and an odd stride
 *     bit    = (x * salt[word]) >> 27                                    all products mod 2^32
 *
 *      line   word 0    1    2    3   ...  15           one line, k = 3, start 1, stride 5:
 *     +-----+---------+----+----+----+---+----+
 *     | ... |         |  * |    |    |   |    |         words 1, 6 and 11 get one bit each
 *
 * One bit a word keeps the bits of a key apart, so a whole line is one vector operation. With two lines a key, (h, ceil(k/2))
 * and (fmix64(h), floor(k/2)) are two such patterns; they may fall into the same line. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

#define WORDS 16u
#define WORD_BITS 32u
#define GOLDEN 0x9E3779B1u /* 2^32 / golden ratio, odd: spreads x over the fields of y */

/* The first eight are those of Parquet's split-block filter, the others odd constants of well-known hashes. */
static const uint32_t salts[WORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff,
};

static inline uint8_t *line_of(const struct bit_array *array, uint64_t hash)
{
    return array->bytes + mulhi64(hash, array->shape.bits / PETAL_LINE_BITS) * PETAL_LINE_BYTES;
}

static inline size_t word_at(uint32_t word)
{
    return (size_t)word * (WORD_BITS / 8);
}

/* The words of a hash, one after the other. */
struct walk {
    uint32_t x, word, stride;
};

static inline struct walk first_word(uint64_t hash)
{
    uint32_t x = (uint32_t)hash, y = x * GOLDEN;
    return (struct walk){x, y >> 28, 2 * (y >> 25 & 7) + 1};
}

static inline uint32_t bit_of(const struct walk *at)
{
    return (uint32_t)1 << (at->x * salts[at->word] >> 27);
}

static inline void next_word(struct walk *at)
{
    at->word = (at->word + at->stride) % WORDS;
}

static inline bool add_to_line(const struct bit_array *array, uint64_t hash, uint32_t hashes)
{
    uint8_t *line = line_of(array, hash);
    struct walk at = first_word(hash);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < hashes; i++, next_word(&at)) {
        uint32_t old = load32le(line + word_at(at.word)), bit = bit_of(&at);
        changed |= ~old & bit;
        store32le(line + word_at(at.word), old | bit);
    }
    return changed != 0;
}

static inline bool line_contains(const struct bit_array *array, uint64_t hash, uint32_t hashes)
{
    const uint8_t *line = line_of(array, hash);
    struct walk at = first_word(hash);
    for (uint32_t i = 0; i < hashes; i++, next_word(&at))
        if (!(load32le(line + word_at(at.word)) & bit_of(&at))) return false;
    return true;
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

static bool always(void)
{
    return true;
}

static bool add(const struct bit_array *array, const uint64_t *hash)
{
    bool changed = add_to_line(array, *hash, hashes_of_first(&array->shape));
    if (array->shape.lines_per_key == 2) changed |= add_to_line(array, fmix64(*hash), hashes_of_second(&array->shape));
    return changed;
}

static bool contains(const struct bit_array *array, const uint64_t *hash)
{
    return line_contains(array, *hash, hashes_of_first(&array->shape)) &&
           (array->shape.lines_per_key == 1 || line_contains(array, fmix64(*hash), hashes_of_second(&array->shape)));
}

/* In a batch the lines of a group of keys are asked for before the first is needed, so that the misses overlap. */
#define GROUP 32u

static void fetch(const struct bit_array *array, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(line_of(array, hashes[i]));
        if (array->shape.lines_per_key == 2) __builtin_prefetch(line_of(array, fmix64(hashes[i])));
    }
}

static size_t add_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    size_t sum = 0;
    for (size_t from = 0; from < count; from += GROUP) {
        size_t group = count - from < GROUP ? count - from : GROUP;
        fetch(array, hashes + from, group);
        for (size_t i = from; i < from + group; i++) sum += results[i] = add(array, &hashes[i]);
    }
    return sum;
}

static size_t contains_many(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results)
{
    size_t sum = 0;
    for (size_t from = 0; from < count; from += GROUP) {
        size_t group = count - from < GROUP ? count - from : GROUP;
        fetch(array, hashes + from, group);
        for (size_t i = from; i < from + group; i++) sum += results[i] = contains(array, &hashes[i]);
    }
    return sum;
}

static inline void touch_line(const struct bit_array *array, uint64_t hash, uint8_t *touched)
{
    touched[(uint64_t)(line_of(array, hash) - array->bytes) / PETAL_BLOCK_BYTES] = 1;
}

static void touch(const struct bit_array *array, const uint64_t *hash, uint8_t *touched)
{
    touch_line(array, *hash, touched);
    if (array->shape.lines_per_key == 2) touch_line(array, fmix64(*hash), touched);
}

static petal_status settle(struct shape *shape, petal_error *error)
{
    if (shape->lines_per_key == 0) shape->lines_per_key = shape->hashes > WORDS ? 2 : 1;
    if (shape->lines_per_key > 2)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "blocked takes 1 or 2 lines a key, not %u", shape->lines_per_key);
    if (shape->hashes < shape->lines_per_key || shape->hashes > WORDS * shape->lines_per_key)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "blocked with %u line%s a key takes %u to %u hashes, not %u",
                          shape->lines_per_key, shape->lines_per_key == 2 ? "s" : "", shape->lines_per_key,
                          WORDS * shape->lines_per_key, shape->hashes);
    if (shape->bits < 1) return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    if (!checked_round_up(shape->bits, PETAL_LINE_BITS, &shape->bits) || shape->bits > petal_blocked.max_bits)
        return petal_fail(error, PETAL_ERR_LIMIT, "more than 2^48 bits (32 TiB); use several filters");
    return PETAL_OK;
}

static double rate(const struct shape *shape, double keys)
{
    return petal_model_blocked_rate(shape->bits / PETAL_LINE_BITS, shape->hashes, shape->lines_per_key, keys);
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_blocked_sd(shape->bits / PETAL_LINE_BITS, shape->hashes, shape->lines_per_key, keys);
}

/* Mean over the word patterns of the product of the words' fills. Strides s and 16 - s make the same sets, so the strides
 * 1, 3, 5, 7 stand for all eight. */
static double rate_of_line(const uint8_t *line, uint32_t hashes)
{
    double fill[WORDS], sum = 0;
    for (uint32_t w = 0; w < WORDS; w++) fill[w] = popcount32(load32le(line + word_at(w))) / (double)WORD_BITS;
    for (uint32_t stride = 1; stride < 8; stride += 2)
        for (uint32_t start = 0; start < WORDS; start++) {
            double product = 1;
            for (uint32_t i = 0; i < hashes; i++) product *= fill[(start + i * stride) % WORDS];
            sum += product;
        }
    return sum / (4 * WORDS);
}

/* Above this many lines (16 MiB) an even sample of them is taken: its error is below 1 % of the rate. */
#define SAMPLE_LINES ((uint64_t)1 << 18)

static double rate_of_bits(const struct bit_array *array, uint64_t bits_set)
{
    uint64_t lines = array->shape.bits / PETAL_LINE_BITS, sample = lines < SAMPLE_LINES ? lines : SAMPLE_LINES;
    double first = 0, second = 0;
    if (bits_set == 0) return 0;
    for (uint64_t i = 0; i < sample; i++) {
        uint64_t number = sample == lines ? i : i * (lines / sample) + i % (lines / sample); /* one of each stretch */
        const uint8_t *line = array->bytes + number * PETAL_LINE_BYTES;
        first += rate_of_line(line, hashes_of_first(&array->shape));
        if (array->shape.lines_per_key == 2) second += rate_of_line(line, hashes_of_second(&array->shape));
    }
    double rate = first / (double)sample;
    return array->shape.lines_per_key == 2 ? rate * second / (double)sample : rate;
}

static const struct kernel generic = {"generic", always, add, contains, add_many, contains_many};
static const struct kernel *const kernels[] = {&generic, NULL};

const struct scheme_def petal_blocked = {
    .id = PETAL_SCHEME_BLOCKED,
    .name = "blocked",
    .kernels = kernels,
    .settle = settle,
    .array_bytes = petal_bytes_of_lines,
    .touch = touch,
    .max_hashes = WORDS,
    .step_bits = PETAL_LINE_BITS,
    .max_bits = (uint64_t)1 << 48,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

/* blocked.c - the `blocked` scheme, in which all k bits of a key are in one or two cache lines.
 *
 * m is a multiple of 512 bits. The array consists of 512-bit lines of 16 little-endian 32-bit
 * words. A key sets one bit in each of k distinct words:
 *
 *     line   = mulhi64(h, lines)                                    the high bits of the hash
 *     x      = low 32 bits of h;  y = x * 0x9E3779B1
 *     word i = ((y >> 28) + i * (2 * ((y >> 25) & 7) + 1)) mod 16   i < k: a start, an odd stride
 *     bit    = (x * salt[word]) >> 27                               all products mod 2^32
 *
 *      line   word 0    1    2    3   ...  15           one line, k = 3, start 1, stride 5:
 *     +-----+---------+----+----+----+---+----+
 *     | ... |         |  * |    |    |   |    |         words 1, 6 and 11 get one bit each
 *
 * Each bit is in a different word, so the bits of a key are distinct, and a vector operation
 * processes the whole line. With two lines per key, a key has two such patterns, computed from (h,
 * ceil(k/2)) and from (fmix64(h), floor(k/2)). Both patterns may be in the same line. */
#include "scheme/blocked_line.h"

#include "base/checked.h"
#include "base/error.h"
#include "scheme/model.h"

/* ---- the tables of words: see blocked_line.h ------------------------------------------------- */

#ifdef __wasm__ /* the tables are computed when the module starts, because this code is smaller than
                 * the tables */
uint8_t petal_blocked_masks[WORDS + 1][192][8];
uint16_t petal_blocked_patterns[WORDS + 1][128];

__attribute__((constructor)) static void make_tables(void)
{
    for (uint32_t k = 1; k <= WORDS; k++)
        for (uint32_t y = 0; y < 192; y++) {
            uint32_t last = (y >> 3) + (k - 1) * (2 * (y & 7) + 1);
            uint32_t words = petal_blocked_patterns[k - 1][y % 128] | 1u << last % WORDS;
            petal_blocked_patterns[k][y % 128] = (uint16_t)words;
            for (uint32_t word = 0; word < 8; word++)
                petal_blocked_masks[k][y][word] = words >> word & 1;
        }
}

#else /* the preprocessor computes the tables */

/* True if the word is one of the k words that begin at `start` and are `stride` apart. The word's
 * index among them is (word - start) / stride mod 16. For odd strides, 1 / stride is stride^3 mod
 * 16. */
#define IN(k, start, stride, word) \
    (((word) + WORDS - (start)) * (stride) * (stride) * (stride) % WORDS < (k))
#define TWO(k, start, stride, word) \
    (IN(k, start, stride, word) << (word) | IN(k, start, stride, (word) + 1) << ((word) + 1))
#define PATTERN(k, start, stride) \
    (TWO(k, start, stride, 0) | TWO(k, start, stride, 2) | TWO(k, start, stride, 4) | \
     TWO(k, start, stride, 6) | TWO(k, start, stride, 8) | TWO(k, start, stride, 10) | \
     TWO(k, start, stride, 12) | TWO(k, start, stride, 14))
#define MASK(k, start, stride) \
    { \
        IN(k, start, stride, 0), IN(k, start, stride, 1), IN(k, start, stride, 2), \
            IN(k, start, stride, 3), IN(k, start, stride, 4), IN(k, start, stride, 5), \
            IN(k, start, stride, 6), IN(k, start, stride, 7) \
    }

#define STRIDES(FORM, k, start) \
    FORM(k, start, 1u), FORM(k, start, 3u), FORM(k, start, 5u), FORM(k, start, 7u), \
        FORM(k, start, 9u), FORM(k, start, 11u), FORM(k, start, 13u), FORM(k, start, 15u)
#define EIGHT_STARTS(FORM, k, start) \
    STRIDES(FORM, k, start), STRIDES(FORM, k, (start) + 1u), STRIDES(FORM, k, (start) + 2u), \
        STRIDES(FORM, k, (start) + 3u), STRIDES(FORM, k, (start) + 4u), \
        STRIDES(FORM, k, (start) + 5u), STRIDES(FORM, k, (start) + 6u), \
        STRIDES(FORM, k, (start) + 7u)
#define PATTERNS(k) \
    { \
        EIGHT_STARTS(PATTERN, k, 0u), EIGHT_STARTS(PATTERN, k, 8u) \
    }
#define MASKS(k) \
    { \
        EIGHT_STARTS(MASK, k, 0u), EIGHT_STARTS(MASK, k, 8u), EIGHT_STARTS(MASK, k, 0u) \
    }
#define ROWS(FORM) \
    { \
        FORM(0u), FORM(1u), FORM(2u), FORM(3u), FORM(4u), FORM(5u), FORM(6u), FORM(7u), FORM(8u), \
            FORM(9u), FORM(10u), FORM(11u), FORM(12u), FORM(13u), FORM(14u), FORM(15u), FORM(16u) \
    }

const uint8_t petal_blocked_masks[WORDS + 1][192][8] = ROWS(MASKS);
const uint16_t petal_blocked_patterns[WORDS + 1][128] = ROWS(PATTERNS);
#endif

/* ---- the generic kernel: it defines the scheme, word by word --------------------------------- */

/* Walks over the words of a hash, in order. */
struct walk {
    uint32_t x, word, stride;
};

static inline struct walk first_word(uint32_t x)
{
    uint32_t y = x * PETAL_INLINE_GOLDEN;
    return (struct walk){x, y >> 28, 2 * (y >> 25 & 7) + 1};
}

static inline void next_word(struct walk *at)
{
    at->word = (at->word + at->stride) % WORDS;
}

/* Returns the position of the word's bit in the line, counted from the lowest bit of the first
 * byte. (Words are little-endian.) */
static inline uint32_t place_of(const struct walk *at)
{
    return at->word * WORD_BITS + (at->x * petal_inline_salts[at->word] >> 27);
}

/* Other threads may be querying the array, or adding to other lines. So bytes are read and written
 * atomically, which costs nothing. The atomic builtin stores through `line`.
 * NOLINTNEXTLINE(readability-non-const-parameter) */
static inline bool line_add(unsigned char *line, uint32_t x, uint32_t hashes)
{
    struct walk at = first_word(x);
    bool changed = false;
    for (uint32_t i = 0; i < hashes; i++, next_word(&at)) {
        uint32_t place = place_of(&at), old = __atomic_load_n(line + place / 8, __ATOMIC_RELAXED);
        __atomic_store_n(line + place / 8, (unsigned char)(old | 1u << place % 8),
                         __ATOMIC_RELAXED);
        changed |= !(old >> place % 8 & 1);
    }
    return changed;
}

static inline bool line_has(const unsigned char *line, uint32_t x, uint32_t hashes)
{
    struct walk at = first_word(x);
    for (uint32_t i = 0; i < hashes; i++, next_word(&at)) {
        uint32_t place = place_of(&at);
        if (!(__atomic_load_n(line + place / 8, __ATOMIC_RELAXED) >> place % 8 & 1)) return false;
    }
    return true;
}

#define OWN_LINE
#define USABLE NULL
#define KERNEL_NAME "generic"
#define KERNEL_SYMBOL petal_blocked_generic
extern const struct kernel petal_blocked_generic;
#include "scheme/blocked_kernel.inc"

/* The fastest kernel comes first. All kernels set and test exactly the same bits, as
 * tests/unit/kernels.c checks. */
static const struct kernel *const kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    &petal_blocked_avx512,
    &petal_blocked_avx2,
    &petal_blocked_sse4,
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    &petal_blocked_neon,
#endif
#ifdef __wasm_simd128__ /* only engines that support SIMD load a module with SIMD */
    &petal_blocked_simd128,
#else
    &petal_blocked_generic,
#endif
    NULL,
};

/* ---- the rest of the scheme's row ------------------------------------------------------------ */

static uint32_t places(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes)
{
    uint32_t lines = array->shape.lines_per_key;
    bytes[0] = (uint64_t)(line_of(array, *hash) - array->bytes);
    if (lines == 2) bytes[1] = (uint64_t)(line_of(array, fmix64(*hash)) - array->bytes);
    return lines;
}

static void find_places(uint64_t hash, uint32_t hashes, uint16_t *places)
{
    struct walk at = first_word((uint32_t)hash);
    for (uint32_t i = 0; i < hashes; i++, next_word(&at)) places[i] = (uint16_t)place_of(&at);
}

static uint32_t split_hash(const struct shape *shape, uint64_t hash, uint64_t words[2],
                           uint16_t *places)
{
    uint32_t first = hashes_of_first(shape);
    words[0] = hash;
    words[1] = fmix64(hash);
    find_places(words[0], first, places);
    find_places(words[1], hashes_of_second(shape), places + first);
    return first;
}

static uint32_t positions_of(const struct shape *shape, uint64_t hash, uint64_t *positions)
{
    uint64_t words[2], lines = shape->bits / PETAL_LINE_BITS;
    uint16_t places[2 * WORDS];
    uint32_t first = split_hash(shape, hash, words, places);
    for (uint32_t i = 0; i < shape->hashes; i++)
        positions[i] = mulhi64(words[i >= first], lines) * PETAL_LINE_BITS + places[i];
    return shape->hashes;
}

static petal_status normalize(const struct scheme_def *self, struct shape *shape,
                              petal_error *error)
{
    if (shape->lines_per_key == 0) shape->lines_per_key = shape->hashes > WORDS ? 2 : 1;
    if (shape->lines_per_key > 2)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "blocked takes 1 or 2 lines per key, not %u",
                          shape->lines_per_key);
    if (shape->hashes < shape->lines_per_key || shape->hashes > WORDS * shape->lines_per_key)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "blocked with %u line%s per key takes %u to %u hashes, not %u",
                          shape->lines_per_key, shape->lines_per_key == 2 ? "s" : "",
                          shape->lines_per_key, WORDS * shape->lines_per_key, shape->hashes);
    if (shape->bits < 1)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 1 bit");
    if (!checked_round_up(shape->bits, PETAL_LINE_BITS, &shape->bits) ||
        shape->bits > self->max_bits)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "more than 2^48 bits (32 TiB); use several filters");
    return PETAL_OK;
}

static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    (void)self;
    return petal_model_blocked_rate(shape->bits / PETAL_LINE_BITS, shape->hashes,
                                    shape->lines_per_key, keys);
}

static double bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_blocked_sd(shape->bits / PETAL_LINE_BITS, shape->hashes,
                                  shape->lines_per_key, keys);
}

/* If the array has more lines than this (16 MiB), the rate is computed from a sample of this many
 * lines, one chosen from each stretch of the array. The sampling error is below 1 % of the rate.
 * Evaluating all lines would take minutes for the largest filters. The choice of lines depends on
 * all bytes, so an attacker can't choose keys that affect only lines outside the sample. */
#define SAMPLE_LINES ((uint64_t)1 << 18)

static uint64_t sampled_line(uint64_t i, uint64_t lines, uint64_t seed)
{
    uint64_t first = i * lines / SAMPLE_LINES, next = (i + 1) * lines / SAMPLE_LINES;
    return first + fmix64(seed + i) % (next - first);
}

/* The lines from which the rate is computed: all lines, or a sample. */
struct sample {
    const uint8_t *bytes;
    uint64_t lines, count, seed;
};

/* Sets pointers to the next lines, or to a line of zeros after the last line, and prefetches the
 * lines. */
static void point_to(const struct sample *in, uint64_t from, const uint8_t **lines)
{
    static const uint8_t no_bits[PETAL_LINE_BYTES];
    for (uint64_t i = 0; i < PETAL_RATE_LINES; i++) {
        uint64_t line =
            in->count < in->lines ? sampled_line(from + i, in->lines, in->seed) : from + i;
        lines[i] = from + i < in->count ? in->bytes + line * PETAL_LINE_BYTES : no_bits;
        __builtin_prefetch(lines[i]);
    }
}

static double mean_rate(const struct sample *of, uint32_t hashes)
{
    const struct kernel *kernel = petal_scheme_kernel(&petal_scheme_blocked);
    const uint8_t *lines[2][PETAL_RATE_LINES];
    double sums[PETAL_RATE_LINES] = {0}, sum = 0;
    uint32_t now = 0;
    point_to(of, 0, lines[now]);
    for (uint64_t i = 0; i < of->count; i += PETAL_RATE_LINES, now ^= 1) {
        point_to(of, i + PETAL_RATE_LINES, lines[now ^ 1]);
        kernel->add_rates(lines[now], hashes, sums);
    }
    for (uint32_t i = 0; i < PETAL_RATE_LINES; i++) sum += sums[i];
    return sum / PETAL_RATE_PATTERNS / (double)of->count;
}

static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    uint64_t lines = array->shape.bits / PETAL_LINE_BITS;
    uint32_t first = hashes_of_first(&array->shape), second = hashes_of_second(&array->shape);
    struct sample sample = {array->bytes, lines, lines, 0};
    (void)self, (void)bits_set, (void)layers;
    if (lines > SAMPLE_LINES) {
        sample.count = SAMPLE_LINES;
        sample.seed = petal_xxh3(array->bytes, (size_t)array->size_bytes, 0);
    }
    double rate = mean_rate(&sample, first);
    if (second == 0) return rate;
    return rate * (second == first ? rate : mean_rate(&sample, second));
}

const struct scheme_def petal_scheme_blocked = {
    .id = PETAL_SCHEME_BLOCKED,
    .name = "blocked",
    .kernels = kernels,
    .normalize = normalize,
    .unit_bytes = PETAL_LINE_BYTES,
    .hash_words = 1,
    .places = places,
    .positions = positions_of,
    .split = split_hash,
    .max_hashes = WORDS,
    .step_bits = PETAL_LINE_BITS,
    .fold_bits = PETAL_LINE_BITS,
    .max_bits = (uint64_t)1 << 48,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
    .bits_set_sd = bits_set_sd,
};

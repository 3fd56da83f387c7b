/* petal_inline.h - inlines the hot loop of a `blocked` filter into your own loop. This header is
 * optional: answers and bits are the same as with petal.h.
 *
 * If the filter fits into the cache, a lookup is so fast that the function call takes half of its
 * time. This header avoids the call, and lets the compiler overlap each lookup with the next.
 * Compile with -march=native (or -mavx2, -mavx512f) to get vector instructions: the library checks
 * the CPU at run time, but an inlined loop can use only the instructions that it was compiled for.
 *
 *     petal_inline hot = PETAL_INLINE_INIT;
 *     if (petal_inline_begin(filter, &hot, NULL) != PETAL_OK) ... // use petal.h instead
 *     for (i = 0; i < n; i++) hits += petal_inline_contains_i64(&hot, keys[i]);
 *
 * For batches, and for filters larger than the caches, the calls in petal.h are faster, because
 * they hash keys and fetch bits ahead of time. */
#ifndef PETAL_INLINE_H
#define PETAL_INLINE_H

#include <petal/petal.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The filter data that the loop needs. The pointers are borrowed from the filter. The fields are
 * private. */
typedef struct petal_inline {
    uint32_t struct_size;
    uint32_t for_adding;
    unsigned char *lines; /* of 64 bytes */
    uint64_t line_count;  /* at least 1 */
    /* 16-bit masks that select the k words of a key, indexed by the seven high bits of y; see
     * petal_inline_row_words() */
    const uint16_t *patterns;
    const unsigned char *masks; /* the same masks, as bytes of 0 or 1 */
    uint64_t seed_flip;         /* XXH3's secret combined with the seed, for 8-byte keys */
    uint64_t added;             /* number of keys added since petal_inline_begin_adding() */
} petal_inline;
#define PETAL_INLINE_INIT PETAL_STRUCT_INIT(petal_inline)

/* Prepares *hot for lookups. The filter must not change until after the last use of *hot. Any
 * number of threads may use *hot.
 *   PETAL_ERR_UNSUPPORTED  the filter is not a `blocked` filter with hash xxh3, one layer and one
 *                          line per key; threads share the filter (petal_allow_threads()); or the
 *                          library is newer than this header and no longer supports its loop, so
 *                          use petal.h instead */
PETAL_NODISCARD PETAL_API petal_status petal_inline_begin(const petal_filter *filter,
                                                          petal_inline *hot, petal_error *error);

/* Prepares *hot for lookups and for adding, by one thread. Until petal_inline_end(), other calls
 * must not use the filter. Fails like petal_inline_begin(), with PETAL_ERR_UNSUPPORTED if the
 * filter refuses keys when it is overfull, and like petal_add() if the filter cannot be written. If
 * the filter is a map, a forked child must not use *hot: nothing would stop it from changing the
 * file. */
PETAL_NODISCARD PETAL_API petal_status petal_inline_begin_adding(petal_filter *filter,
                                                                 petal_inline *hot,
                                                                 petal_error *error);

/* Adds the number of keys that were added through *hot to the filter's items. Do not use *hot
 * afterwards. After lookups alone, this call is not needed. */
PETAL_API void petal_inline_end(petal_filter *filter, petal_inline *hot);

/* ----------------------------------------------------------------------- one line, for each CPU */

/* The library's kernels consist of the same functions. Each kernel file selects a form and a
 * target; in your own program, the compiler flags determine the best form. */
#ifndef PETAL_INLINE_TARGET
#define PETAL_INLINE_TARGET
#if defined(__AVX512F__)
#define PETAL_INLINE_AVX512
#elif defined(__AVX2__)
#define PETAL_INLINE_AVX2
#elif defined(__SSE4_1__)
#define PETAL_INLINE_SSE4
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define PETAL_INLINE_NEON
#elif defined(__wasm_simd128__)
#define PETAL_INLINE_SIMD128
#endif
#endif

#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2) || defined(PETAL_INLINE_SSE4)
#include <immintrin.h>
#elif defined(PETAL_INLINE_NEON)
#include <arm_neon.h>
#elif defined(PETAL_INLINE_SIMD128)
#include <wasm_simd128.h>
#endif

/* A prime near 2^32 / golden ratio. Multiplying x by this constant yields y, whose high bits are
 * the start (4 bits) and the stride (3 bits) of the words. */
#define PETAL_INLINE_GOLDEN 0x9E3779B1u

/* One salt for each word. The first eight are those of Parquet's split-block filter, and the others
 * are odd constants from well-known hash functions. */
static const uint32_t petal_inline_salts[16] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff,
};

/* The seven high bits of y (start and stride) select the words of a key from a table for the
 * filter's k. The best form of the table depends on the CPU:
 *   a 16-bit mask        for CPUs with mask registers, and for code that visits bits one by one
 *   16 bytes of 0 or 1   for other vectors, which shift each word's byte to the place of its bit.
 *                        The last eight words' bytes are stored 512 bytes after the first eight
 *                        words', because they equal the first eight for the start that is 8
 *                        higher */
#if defined(PETAL_INLINE_AVX2) || defined(PETAL_INLINE_SSE4) || defined(PETAL_INLINE_NEON) || \
    defined(PETAL_INLINE_SIMD128)
#define PETAL_INLINE_MASKS
typedef unsigned char petal_inline_row;
typedef const unsigned char *petal_inline_words;

static inline petal_inline_words petal_inline_row_words(const petal_inline_row *row, uint32_t x)
{
    return row + (size_t)8 * (x * PETAL_INLINE_GOLDEN >> 25);
}
#else
typedef uint16_t petal_inline_row;
typedef uint32_t petal_inline_words;

static inline petal_inline_words petal_inline_row_words(const petal_inline_row *row, uint32_t x)
{
    return row[x * PETAL_INLINE_GOLDEN >> 25];
}
#endif

/* These functions take a line, a key's x (the low half of its hash), and the key's words.
 *   petal_inline_line_add    sets the key's bits; returns true if any bit was clear
 *   petal_inline_line_has    returns true if all of the key's bits are set */

#if defined(PETAL_INLINE_AVX512)

/* Returns, for each word of the line, the position of the bit that the key sets if this word is one
 * of its words. */
static inline PETAL_INLINE_TARGET __m512i petal_inline_places(uint32_t x)
{
    __m512i salts = _mm512_loadu_si512(petal_inline_salts);
    return _mm512_srli_epi32(_mm512_mullo_epi32(_mm512_set1_epi32((int)x), salts), 27);
}

/* Sets the key's bits. Returns the words in which the bit was clear. */
static inline PETAL_INLINE_TARGET __mmask16 petal_inline_words_added(unsigned char *line,
                                                                     uint32_t x,
                                                                     petal_inline_words words)
{
    __m512i one = _mm512_set1_epi32(1), old = _mm512_loadu_si512(line);
    __m512i bits = _mm512_maskz_sllv_epi32((__mmask16)words, one, petal_inline_places(x));
    _mm512_storeu_si512(line, _mm512_or_si512(old, bits));
    return _mm512_mask_testn_epi32_mask((__mmask16)words, old, bits);
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_add(unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    return petal_inline_words_added(line, x, words) != 0;
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    __m512i bits = _mm512_sllv_epi32(_mm512_set1_epi32(1), petal_inline_places(x));
    return _mm512_mask_testn_epi32_mask((__mmask16)words, bits, _mm512_loadu_si512(line)) == 0;
}

#elif defined(PETAL_INLINE_AVX2)

/* Returns the key's bits in eight words, starting with word number `first`. Every lane of `x`
 * contains the key's x. */
static inline PETAL_INLINE_TARGET __m256i petal_inline_bits_of(__m256i x, petal_inline_words words,
                                                               uint32_t first)
{
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)(petal_inline_salts + first));
    __m128i mask = _mm_loadl_epi64((const __m128i *)(const void *)(words + (size_t)64 * first));
    __m256i place = _mm256_srli_epi32(_mm256_mullo_epi32(x, salt), 27);
    return _mm256_sllv_epi32(_mm256_cvtepu8_epi32(mask), place);
}

static inline PETAL_INLINE_TARGET __m256i petal_inline_bits(uint32_t x, petal_inline_words words,
                                                            uint32_t first)
{
    return petal_inline_bits_of(_mm256_set1_epi32((int)x), words, first);
}

static inline PETAL_INLINE_TARGET __m256i petal_inline_load(const unsigned char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline PETAL_INLINE_TARGET void petal_inline_store(unsigned char *at, __m256i value)
{
    _mm256_storeu_si256((__m256i *)(void *)at, value);
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_add(unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    __m256i low = petal_inline_bits(x, words, 0), high = petal_inline_bits(x, words, 8);
    __m256i old_low = petal_inline_load(line), old_high = petal_inline_load(line + 32);
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(old_low, low), _mm256_andnot_si256(old_high, high));
    petal_inline_store(line, _mm256_or_si256(old_low, low));
    petal_inline_store(line + 32, _mm256_or_si256(old_high, high));
    return !_mm256_testz_si256(missing, missing);
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    __m256i missing = _mm256_or_si256(
        _mm256_andnot_si256(petal_inline_load(line), petal_inline_bits(x, words, 0)),
        _mm256_andnot_si256(petal_inline_load(line + 32), petal_inline_bits(x, words, 8)));
    return _mm256_testz_si256(missing, missing);
}

#elif defined(PETAL_INLINE_SSE4)

/* Returns the key's bits in four words, starting with word number `first`. SSE4 can't shift each
 * word by its own count, so 2^place is computed as a float and converted. Only 2^31 is too large,
 * and converting it happens to yield exactly that bit. */
static inline PETAL_INLINE_TARGET __m128i petal_inline_bits(uint32_t x, petal_inline_words words,
                                                            uint32_t first)
{
    const __m128i one = _mm_set1_epi32(127 << 23);
    __m128i salt = _mm_loadu_si128((const __m128i *)(const void *)(petal_inline_salts + first));
    __m128i place = _mm_srli_epi32(_mm_mullo_epi32(_mm_set1_epi32((int)x), salt), 27);
    __m128i bits =
        _mm_cvttps_epi32(_mm_castsi128_ps(_mm_add_epi32(_mm_slli_epi32(place, 23), one)));
    int32_t mask;
    memcpy(&mask, words + first % 8 + (size_t)512 * (first / 8), sizeof mask);
    return _mm_sign_epi32(bits, _mm_cvtepu8_epi32(_mm_cvtsi32_si128(mask)));
}

static inline PETAL_INLINE_TARGET __m128i petal_inline_load(const unsigned char *line,
                                                            uint32_t first)
{
    return _mm_loadu_si128((const __m128i *)(const void *)(line + (size_t)4 * first));
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_add(unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    __m128i missing = _mm_setzero_si128();
    for (uint32_t first = 0; first < 16; first += 4) {
        __m128i bits = petal_inline_bits(x, words, first), old = petal_inline_load(line, first);
        missing = _mm_or_si128(missing, _mm_andnot_si128(old, bits));
        _mm_storeu_si128((__m128i *)(void *)(line + (size_t)4 * first), _mm_or_si128(old, bits));
    }
    return !_mm_testz_si128(missing, missing);
}

static inline PETAL_INLINE_TARGET bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                                             petal_inline_words words)
{
    __m128i missing = _mm_setzero_si128();
    for (uint32_t first = 0; first < 16; first += 4)
        missing = _mm_or_si128(missing, _mm_andnot_si128(petal_inline_load(line, first),
                                                         petal_inline_bits(x, words, first)));
    return _mm_testz_si128(missing, missing);
}

#elif defined(PETAL_INLINE_NEON)

/* Returns the key's bits in four words, starting with word number `first`. */
static inline uint32x4_t petal_inline_bits(uint32_t x, petal_inline_words words, uint32_t first)
{
    uint16x8_t half = vmovl_u8(vld1_u8(words + first / 8 * 512));
    uint32x4_t ones = first & 4 ? vmovl_high_u16(half) : vmovl_u16(vget_low_u16(half));
    uint32x4_t place = vshrq_n_u32(vmulq_n_u32(vld1q_u32(petal_inline_salts + first), x), 27);
    return vshlq_u32(ones, vreinterpretq_s32_u32(place));
}

static inline uint32x4_t petal_inline_load(const unsigned char *line, uint32_t first)
{
    return vreinterpretq_u32_u8(vld1q_u8(line + (size_t)4 * first));
}

static inline bool petal_inline_line_add(unsigned char *line, uint32_t x, petal_inline_words words)
{
    uint32x4_t missing = vdupq_n_u32(0);
    for (uint32_t first = 0; first < 16; first += 4) {
        uint32x4_t bits = petal_inline_bits(x, words, first), old = petal_inline_load(line, first);
        missing = vorrq_u32(missing, vbicq_u32(bits, old));
        vst1q_u8(line + (size_t)4 * first, vreinterpretq_u8_u32(vorrq_u32(old, bits)));
    }
    return vmaxvq_u32(missing) != 0;
}

static inline bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                         petal_inline_words words)
{
    uint32x4_t missing = vdupq_n_u32(0);
    for (uint32_t first = 0; first < 16; first += 4)
        missing = vorrq_u32(
            missing, vbicq_u32(petal_inline_bits(x, words, first), petal_inline_load(line, first)));
    return vmaxvq_u32(missing) == 0;
}

#elif defined(PETAL_INLINE_SIMD128)

/* Handles all sixteen words at the same time, with one byte per word: the place of the key's bit in
 * the word, from 0 to 31. That is bit place % 8 of byte place / 8. SIMD128 can't shift each lane by
 * its own count, so both are looked up with swizzles, in which an index above 15 yields 0. */
static inline v128_t petal_inline_products(uint32_t x, uint32_t first)
{
    v128_t product =
        wasm_i32x4_mul(wasm_i32x4_splat((int32_t)x), wasm_v128_load(petal_inline_salts + first));
    return wasm_u32x4_shr(product, 27);
}

static inline v128_t petal_inline_places(uint32_t x)
{
    return wasm_u8x16_narrow_i16x8(
        wasm_u16x8_narrow_i32x4(petal_inline_products(x, 0), petal_inline_products(x, 4)),
        wasm_u16x8_narrow_i32x4(petal_inline_products(x, 8), petal_inline_products(x, 12)));
}

/* The bit of each word within its byte, or 0 for words that are not among the key's words. */
static inline v128_t petal_inline_bits(v128_t places, petal_inline_words words)
{
    const v128_t bits = wasm_u8x16_const(1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0);
    v128_t bit = wasm_i8x16_swizzle(bits, wasm_v128_and(places, wasm_i8x16_const_splat(7)));
    v128_t mask = wasm_v128_load64_lane(words + 512, wasm_v128_load64_zero(words), 1);
    return wasm_v128_and(bit, wasm_i8x16_neg(mask));
}

/* The index of each word's byte in the line. */
static inline v128_t petal_inline_bytes(v128_t places)
{
    const v128_t begin =
        wasm_u8x16_const(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    v128_t byte = wasm_v128_and(wasm_u16x8_shr(places, 3), wasm_i8x16_const_splat(3));
    return wasm_i8x16_add(begin, byte);
}

static inline bool petal_inline_line_add(unsigned char *line, uint32_t x, petal_inline_words words)
{
    const v128_t own = wasm_u8x16_const(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    v128_t places = petal_inline_places(x), missing = wasm_i32x4_const_splat(0);
    v128_t all = petal_inline_bits(places, words), bytes = petal_inline_bytes(places);
    for (uint32_t part = 0; part < 4; part++) {
        /* Each byte of the quarter gets the bit of its word, if that bit is in this byte. */
        v128_t word = wasm_u8x16_shr(wasm_i8x16_add(own, wasm_i8x16_splat((int8_t)(16 * part))), 2);
        v128_t mine = wasm_i8x16_eq(wasm_i8x16_swizzle(bytes, word),
                                    wasm_i8x16_add(own, wasm_i8x16_splat((int8_t)(16 * part))));
        v128_t set = wasm_v128_and(wasm_i8x16_swizzle(all, word), mine);
        v128_t old = wasm_v128_load(line + 16 * part);
        missing = wasm_v128_or(missing, wasm_v128_andnot(set, old));
        wasm_v128_store(line + 16 * part, wasm_v128_or(old, set));
    }
    return wasm_v128_any_true(missing);
}

static inline bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                         petal_inline_words words)
{
    v128_t places = petal_inline_places(x), bytes = petal_inline_bytes(places);
    v128_t found = wasm_i8x16_swizzle(wasm_v128_load(line), bytes);
    for (uint32_t part = 1; part < 4; part++)
        found = wasm_v128_or(
            found,
            wasm_i8x16_swizzle(wasm_v128_load(line + 16 * part),
                               wasm_i8x16_sub(bytes, wasm_i8x16_splat((int8_t)(16 * part)))));
    return !wasm_v128_any_true(wasm_v128_andnot(petal_inline_bits(places, words), found));
}

#else /* portable: bit by bit; the words of a line are little-endian, so bit b of word w is in \
         byte 4 w + b / 8 */

/* Returns the number of the lowest word in a nonzero mask. */
static inline uint32_t petal_inline_first_word(uint32_t words)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(words);
#else
    uint32_t word = 0;
    while (!(words >> word & 1)) word++;
    return word;
#endif
}

static inline uint32_t petal_inline_place(uint32_t x, uint32_t word)
{
    return 32 * word + (x * petal_inline_salts[word] >> 27);
}

static inline bool petal_inline_line_add(unsigned char *line, uint32_t x, petal_inline_words words)
{
    uint32_t changed = 0;
    for (; words; words &= words - 1) {
        uint32_t place = petal_inline_place(x, petal_inline_first_word(words)),
                 old = line[place / 8];
        line[place / 8] = (unsigned char)(old | 1u << place % 8);
        changed |= ~old & 1u << place % 8;
    }
    return changed != 0;
}

static inline bool petal_inline_line_has(const unsigned char *line, uint32_t x,
                                         petal_inline_words words)
{
    for (; words; words &= words - 1) {
        uint32_t place = petal_inline_place(x, petal_inline_first_word(words));
        if (!(line[place / 8] >> place % 8 & 1)) return false;
    }
    return true;
}

#endif

/* ------------------------------------------------------------------------------------- the loop */

/* floor(hash * lines / 2^64) */
static inline uint64_t petal_inline_mulhi(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__) /* where it calls a function */
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = (al * bl >> 32) + (uint32_t)(ah * bl) + (uint32_t)(al * bh);
    return ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32);
#endif
}

static inline unsigned char *petal_inline_line(const petal_inline *hot, uint64_t hash)
{
    return hot->lines + petal_inline_mulhi(hash, hot->line_count) * 64;
}

static inline petal_inline_words petal_inline_words_of(const petal_inline *hot, uint64_t hash)
{
#ifdef PETAL_INLINE_MASKS
    return petal_inline_row_words(hot->masks, (uint32_t)hash);
#else
    return petal_inline_row_words(hot->patterns, (uint32_t)hash);
#endif
}

/* Like petal_contains_hash() and petal_add_hash(), but adding returns true for a new key. The hash
 * must come from petal_hash_key(), or be another well-mixed hash. */
static inline PETAL_INLINE_TARGET bool petal_inline_contains_hash(const petal_inline *hot,
                                                                  uint64_t hash)
{
    return petal_inline_line_has(petal_inline_line(hot, hash), (uint32_t)hash,
                                 petal_inline_words_of(hot, hash));
}

static inline PETAL_INLINE_TARGET bool petal_inline_add_hash(petal_inline *hot, uint64_t hash)
{
    hot->added++;
    return petal_inline_line_add(petal_inline_line(hot, hash), (uint32_t)hash,
                                 petal_inline_words_of(hot, hash));
}

/* Computes XXH3_64bits_withSeed of an 8-byte key, read as little-endian: this is XXH3's branch for
 * 4 to 8 bytes, specialized for 8 bytes. It mixes x ^ rotl(x, 49) ^ rotl(x, 24), where x is the key
 * with its halves swapped, xored with the secret combined with the seed. This is linear, so the
 * contribution of the secret and the seed is precomputed in seed_flip. */
static inline uint64_t petal_inline_xxh3(uint64_t key, uint64_t seed_flip)
{
    uint64_t h = (key << 32 | key >> 32) ^ (key << 17 | key >> 47);
    h = (h ^ ((key << 56 | key >> 8) ^ seed_flip)) * 0x9fb21c651e98df25u;
    h = (h ^ ((h >> 35) + 8)) * 0x9fb21c651e98df25u;
    return h ^ h >> 28;
}

/* Like petal_contains_i64() and petal_add_i64(), but adding returns true for a new key. */
static inline PETAL_INLINE_TARGET bool petal_inline_contains_i64(const petal_inline *hot,
                                                                 int64_t value)
{
    return petal_inline_contains_hash(hot, petal_inline_xxh3((uint64_t)value, hot->seed_flip));
}

static inline PETAL_INLINE_TARGET bool petal_inline_add_i64(petal_inline *hot, int64_t value)
{
    return petal_inline_add_hash(hot, petal_inline_xxh3((uint64_t)value, hot->seed_flip));
}

#ifdef __cplusplus
}
#endif
#endif

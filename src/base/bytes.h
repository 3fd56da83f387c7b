/* bytes.h - loads and stores numbers in a given byte order, and defines 64-bit operations that C
 * lacks.
 *
 * All numbers that are stored or hashed are accessed with these functions, never through a cast
 * pointer, so the code is correct on big-endian machines and at any alignment. Compilers turn each
 * function into one instruction. */
#ifndef PETAL_BASE_BYTES_H
#define PETAL_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PETAL_BIG_ENDIAN 1
#else
#define PETAL_BIG_ENDIAN 0
#endif

static inline uint32_t swap32(uint32_t x)
{
    return x << 24 | (x << 8 & 0x00ff0000u) | (x >> 8 & 0x0000ff00u) | x >> 24;
}

static inline uint64_t swap64(uint64_t x)
{
    return (uint64_t)swap32((uint32_t)x) << 32 | swap32((uint32_t)(x >> 32));
}

static inline uint32_t load32le(const void *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return PETAL_BIG_ENDIAN ? swap32(x) : x;
}

static inline uint64_t load64le(const void *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return PETAL_BIG_ENDIAN ? swap64(x) : x;
}

/* Loads `count` bytes, at most 8, as a little-endian number. The missing high bytes are zero. A
 * memcpy() of a length known only at run time would be a function call, which costs more than
 * hashing a short key. */
static inline uint64_t load_tail64le(const uint8_t *from, size_t count)
{
    if (count >= 4) return load32le(from) | (uint64_t)load32le(from + count - 4) << 8 * (count - 4);
    if (count == 0) return 0;
    return from[0] | (uint64_t)from[count / 2] << 8 * (count / 2) |
           (uint64_t)from[count - 1] << 8 * (count - 1);
}

static inline void store32le(void *to, uint32_t x)
{
    if (PETAL_BIG_ENDIAN) x = swap32(x);
    memcpy(to, &x, sizeof x);
}

static inline void store64le(void *to, uint64_t x)
{
    if (PETAL_BIG_ENDIAN) x = swap64(x);
    memcpy(to, &x, sizeof x);
}

static inline uint32_t load32be(const void *from)
{
    return swap32(load32le(from));
}

static inline void store32be(void *to, uint32_t x)
{
    store32le(to, swap32(x));
}

static inline uint64_t load64be(const void *from)
{
    return swap64(load64le(from));
}

static inline void store64be(void *to, uint64_t x)
{
    store64le(to, swap64(x));
}

/* Doubles are stored as their IEEE-754 bits. */
static inline double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t rotl32(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static inline uint32_t rotr32(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static inline uint64_t rotr64(uint64_t x, unsigned by)
{
    return x >> by | x << (64 - by);
}

static inline uint64_t rotl64(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* Returns the high 64 bits of a 128-bit product, and stores the low 64 bits. WebAssembly has no
 * 128-bit multiplication, so the compiler would call a function. */
static inline uint64_t multiply64(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t lows = a_low * b_low;
    uint64_t middle = a_high * b_low + (lows >> 32);
    uint64_t carry = a_low * b_high + (uint32_t)middle;
    *low = carry << 32 | (uint32_t)lows;
    return a_high * b_high + (middle >> 32) + (carry >> 32);
#endif
}

/* Returns the high 64 bits of a 128-bit product. This maps a well-mixed `a` evenly onto 0 .. b-1
 * without a division. */
static inline uint64_t mulhi64(uint64_t a, uint64_t b)
{
    uint64_t low;
    return multiply64(a, b, &low);
}

/* Returns the XOR of the two halves of a 128-bit product. */
static inline uint64_t mulfold64(uint64_t a, uint64_t b)
{
    uint64_t low, high = multiply64(a, b, &low);
    return low ^ high;
}

/* On plain x86-64 the compiler's builtin is a function call. */
static inline unsigned popcount64(uint64_t x)
{
#if defined(__GNUC__) && (!defined(__x86_64__) || defined(__POPCNT__))
    return (unsigned)__builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (unsigned)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

static inline unsigned popcount32(uint32_t x)
{
    return popcount64(x);
}

/* Returns the index of the lowest set bit. x must not be 0. */
static inline unsigned lowest_bit64(uint64_t x)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(x);
#else
    return popcount64(~x & (x - 1));
#endif
}

#endif

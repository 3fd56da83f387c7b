/* walk.h - what walk.inc needs for every walk: operations on single bits, and how many keys are in
 * flight. */
#ifndef PETAL_SCHEME_WALK_H
#define PETAL_SCHEME_WALK_H

#include "base/bytes.h"
#include "base/checked.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "scheme/scheme.h"

/* ---- one bit: bit i % 8 of byte i / 8 -------------------------------------------------------- */

/* The lowest bit of the result is the tested bit. The bits above it belong to other keys, and are
 * dropped at the end of a walk. */
static inline uint32_t test_bit(const uint8_t *bytes, uint64_t i)
{
    return (uint32_t)__atomic_load_n(bytes + (i >> 3), __ATOMIC_RELAXED) >>
           (i & 7); /* a plain load, but without a data race */
}

/* Sets the bit. Returns its earlier value in the form of test_bit(). */
static inline uint32_t set_bit(uint8_t *bytes, uint64_t i)
{
    uint32_t old = bytes[i >> 3], shift = i & 7;
    bytes[i >> 3] = (uint8_t)(old | 1u << shift);
    return old >> shift;
}

typedef uint32_t visit(uint8_t *bytes, uint64_t i);

/* For several threads. The bits of a key are spread over the array, so no stripe covers all of
 * them. Each bit is set by an atomic OR, unless it is already set. */
static inline uint32_t set_bit_shared(uint8_t *bytes, uint64_t i)
{
    uint32_t shift = i & 7, old = test_bit(bytes, i);
    return old & 1 ? old
                   : (uint32_t)__atomic_fetch_or(bytes + (i >> 3), (uint8_t)(1u << shift),
                                                 __ATOMIC_RELAXED) >>
                         shift;
}

/* ---- for x86-64 CPUs since 2013 (AMD: 2015) -------------------------------------------------- */

#if defined(__x86_64__) && defined(__GNUC__)
#define WALK_BMI2 __attribute__((target("bmi2"), flatten))
#endif

/* ---- how many at a time ---------------------------------------------------------------------- */

/* An array above this size is not in the second-level cache. So positions are computed, and their
 * bytes prefetched, before the first one is needed; then the cache misses overlap. If the array is
 * in the cache, that costs more than it saves. */
static inline bool is_far(const struct bit_array *array)
{
    return array->size_bytes > PETAL_CACHED_BYTES;
}

#define ADD_GROUP 16u /* keys in flight */
/* This is more than for adding, since few bits are prefetched at a time. */
#define ASK_GROUP 128u
#define GROUP_POSITIONS PETAL_MAX_HASHES /* for all keys of a group together */
#define FIRST_ROUND 2u                   /* bits prefetched for each key */
#define NEXT_ROUND 8u                    /* prefetched for keys for which all of these are set */

/* ---- building by regions: see parts in scheme.h ---------------------------------------------- */

/* The parts of a key are its positions, by byte number. */
static inline uint32_t walk_kinds(const struct shape *shape)
{
    (void)shape;
    return 1;
}

static inline uint32_t walk_words(const struct shape *shape)
{
    return shape->hashes;
}

#define WORDS_AHEAD 64u

static inline void walk_add_words(const struct bit_array *array, uint32_t kind,
                                  const uint64_t *words, size_t count)
{
    (void)kind;
    uint8_t *bytes = array->bytes;
    for (size_t i = 0; i < count; i++) {
        if (i + WORDS_AHEAD < count) __builtin_prefetch(bytes + (words[i + WORDS_AHEAD] >> 3), 1);
        bytes[words[i] >> 3] |= (uint8_t)(1u << (words[i] & 7));
    }
}

/* The members that a walk named `walk` provides for its scheme's row. */
#define WALKED(walk) \
    .kernels = walk##_kernels, .places = walk##_places, .trace = walk##_trace, \
    .bit_order = walk##_bit_order

#endif

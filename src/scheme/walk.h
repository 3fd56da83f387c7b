/* walk.h - defines the parts of walk.inc that don't depend on the walk: operations on single bits,
 * and the number of keys in flight. */
#ifndef PETAL_SCHEME_WALK_H
#define PETAL_SCHEME_WALK_H

#include "base/bytes.h"
#include "base/checked.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "scheme/scheme.h"

/* ---- one bit: bit i % 8 of byte i / 8 -------------------------------------------------------- */

/* Tests a bit, and returns it as the lowest bit of the result. The higher bits of the result are
 * meaningless, and are dropped at the end of a walk. */
static inline uint32_t test_bit(const uint8_t *bytes, uint64_t i)
{
    return (uint32_t)__atomic_load_n(bytes + (i >> 3), __ATOMIC_RELAXED) >>
           (i & 7); /* a plain load, but without a data race */
}

/* Sets a bit, and returns its previous value in the same form as test_bit(). */
static inline uint32_t set_bit(uint8_t *bytes, uint64_t i)
{
    uint32_t old = bytes[i >> 3], shift = i & 7;
    bytes[i >> 3] = (uint8_t)(old | 1u << shift);
    return old >> shift;
}

typedef uint32_t visit(uint8_t *bytes, uint64_t i);

/* Sets a bit while other threads may be setting bits. The bits of a key are spread over the array,
 * so no stripe covers all of them. Each bit is set by an atomic OR, unless it is already set. */
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

/* Returns true if the array doesn't fit into the second-level cache. In this case, the positions of
 * a group of keys are computed, and their bytes prefetched, before the first position is needed, so
 * that the cache misses overlap. If the array is in the cache, prefetching costs more than it
 * saves. */
static inline bool is_far(const struct bit_array *array)
{
    return array->size_bytes > PETAL_CACHED_BYTES;
}

#define ADD_GROUP 16u /* keys in flight */
/* A group of queries is larger than a group of adds, since few bits per key are prefetched at a
 * time. */
#define ASK_GROUP 128u
#define GROUP_POSITIONS PETAL_MAX_HASHES /* the maximum number of positions in a group */
#define FIRST_ROUND 2u                   /* number of bits first prefetched for each key */
#define NEXT_ROUND 8u                    /* number of bits prefetched in each later round */

/* ---- building region by region: see parts in scheme.h --------------------------------------- */

/* The parts of a key are the bit numbers of its positions. */
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

/* Initializes the members of a scheme's row that a walk named `walk` provides. */
#define WALKED(walk) \
    .kernels = walk##_kernels, .places = walk##_places, .trace = walk##_trace, \
    .bit_order = walk##_bit_order

#endif

/* counting.c - the scheme `counting`: classic with a 4-bit counter in place of each bit, so that
 * keys can be removed.
 *
 * Counting Bloom filters are due to Fan, Cao, Almeida and Broder ("Summary cache", 2000). A key has
 * the positions of classic, and counts each distinct one once. Counter i is the low (i even) or
 * high (i odd) half of byte i / 2:
 *
 *     byte     0           1           2               m = 5, two keys at 0, 2, 4 and at 2, 3, 4
 *     bits     7..4 3..0   7..4 3..0   7..4 3..0
 *     counter     1    0      3    2      -    4
 *     value       0    1      1    2      0    2
 *
 * A counter that has reached 15 may stand for more, so it sticks: it is never decremented again.
 * That costs false positives, never a key. */
#include "base/bytes.h"
#include "base/memory.h"
#include "scheme/classic.h"

#define COUNTER_BITS 4u
#define MAX 15u /* and it sticks */

#define POSITIONS_PER_BYTE 2u

/* ---- one counter ----------------------------------------------------------------------------- */

static inline unsigned shift_of(uint64_t position)
{
    return (unsigned)(position % POSITIONS_PER_BYTE) * COUNTER_BITS;
}

static inline unsigned value_at(const uint8_t *bytes, uint64_t position)
{
    return bytes[position / POSITIONS_PER_BYTE] >> shift_of(position) & MAX;
}

/* ---- one key --------------------------------------------------------------------------------- */

/* Has this position occurred before? k is small, and the list is in registers or close to them. */
static inline bool is_repeat(const uint64_t *positions, uint32_t i)
{
    bool repeat = false;
    for (uint32_t j = 0; j < i; j++) repeat |= positions[j] == positions[i];
    return repeat;
}

static inline bool test_all(uint8_t *bytes, const uint64_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (value_at(bytes, positions[i]) == 0) return false;
    return true;
}

/* True: some counter was zero. */
static inline bool count_up(uint8_t *bytes, const uint64_t *positions, uint32_t count)
{
    bool changed = false;
    for (uint32_t i = 0; i < count; i++) {
        unsigned value = value_at(bytes, positions[i]);
        if (value == MAX || is_repeat(positions, i)) continue;
        bytes[positions[i] / POSITIONS_PER_BYTE] += (uint8_t)(1u << shift_of(positions[i]));
        changed |= value == 0;
    }
    return changed;
}

/* False: some counter is zero, so the key is absent, and nothing was changed. */
static inline bool count_down(uint8_t *bytes, const uint64_t *positions, uint32_t count)
{
    if (!test_all(bytes, positions, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (value_at(bytes, positions[i]) == MAX || is_repeat(positions, i)) continue;
        bytes[positions[i] / POSITIONS_PER_BYTE] -= (uint8_t)(1u << shift_of(positions[i]));
    }
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A batch computes the positions of a group of keys and prefetches their bytes before the first is
 * needed, so that the misses overlap. */
#define GROUP_KEYS 16u
#define GROUP_POSITIONS (GROUP_KEYS * CLASSIC_MAX_HASHES)

static void find_positions(const struct bit_array *array, const uint64_t *hashes, size_t count,
                           uint64_t *positions)
{
    for (size_t key = 0; key < count; key++) {
        struct walk at = walk_from(array, &hashes[key]);
        for (uint32_t i = 0; i < array->shape.hashes; i++) {
            uint64_t position = walk_next(&at);
            __builtin_prefetch(array->bytes + (position / POSITIONS_PER_BYTE));
            *positions++ = position;
        }
    }
}

static inline size_t many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results, bool (*each)(uint8_t *, const uint64_t *, uint32_t))
{
    uint64_t positions[GROUP_POSITIONS];
    uint32_t k = array->shape.hashes;
    size_t sum = 0;
    for (size_t from = 0; from < count; from += GROUP_KEYS) {
        size_t group = count - from < GROUP_KEYS ? count - from : GROUP_KEYS;
        find_positions(array, hashes + from, group, positions);
        for (size_t i = 0; i < group; i++)
            sum += results[from + i] = each(array->bytes, positions + i * k, k);
    }
    return sum;
}

static size_t add_many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *results)
{
    return many(array, hashes, count, results, count_up);
}

static size_t contains_many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                            uint8_t *results)
{
    return many(array, hashes, count, results, test_all);
}

static size_t remove_many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results)
{
    return many(array, hashes, count, results, count_down);
}

static bool add(const struct bit_array *array, const uint64_t *hash)
{
    uint64_t positions[CLASSIC_MAX_HASHES];
    find_positions(array, hash, 1, positions);
    return count_up(array->bytes, positions, array->shape.hashes);
}

static bool contains(const struct bit_array *array, const uint64_t *hash)
{
    struct walk at = walk_from(array, hash);
    for (uint32_t i = 0; i < array->shape.hashes; i++)
        if (value_at(array->bytes, walk_next(&at)) == 0) return false;
    return true;
}

static uint32_t places(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes)
{
    struct walk at = walk_from(array, hash);
    for (uint32_t i = 0; i < array->shape.hashes; i++)
        bytes[i] = walk_next(&at) / POSITIONS_PER_BYTE;
    return array->shape.hashes;
}

static const struct kernel generic = {.name = "generic",
                                      .add = UNLESS_READ_ONLY(add),
                                      .contains = contains,
                                      .add_many = UNLESS_READ_ONLY(add_many),
                                      .contains_many = contains_many};
static const struct kernel *const kernels[] = {&generic, NULL};

/* ---- all counters: 16 to a word, whose byte order does not matter ---------------------------- */

#define LOW_BITS 0x1111111111111111u  /* the lowest bit of every counter */
#define EVEN_ONES 0x0f0f0f0f0f0f0f0fu /* every second counter, with room for a carry */
#define CARRIES 0x1010101010101010u

static inline uint64_t load(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Does not touch pages unless a counter changes. */
static inline void store_changed(uint8_t *to, uint64_t old, uint64_t word)
{
    if (word != old) memcpy(to, &word, sizeof word);
}

/* The lowest bit of every counter that is not zero. */
static inline uint64_t above_zero(uint64_t word)
{
    word |= word >> 1;
    return (word | word >> 2) & LOW_BITS;
}

static struct counts count(const uint8_t *bytes, uint64_t size_bytes)
{
    struct counts counts = {0, 0};
    for (uint64_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = load(bytes + i), all = word & word >> 1;
        counts.not_zero += popcount64(above_zero(word));
        counts.saturated += popcount64((all & all >> 2) & LOW_BITS);
    }
    return counts;
}

static uint64_t count_common(const uint8_t *a, const uint8_t *b, uint64_t size_bytes)
{
    uint64_t common = 0;
    for (uint64_t i = 0; i < size_bytes; i += 8)
        common += popcount64(above_zero(load(a + i)) & above_zero(load(b + i)));
    return common;
}

/* Every second counter: a carry out of a counter sets all its bits. */
static inline uint64_t add_even(uint64_t a, uint64_t b)
{
    uint64_t sum = (a & EVEN_ONES) + (b & EVEN_ONES);
    return (sum | ((sum & CARRIES) >> COUNTER_BITS) * MAX) & EVEN_ONES;
}

/* Every second counter: a borrowed bit above each remains if a >= b. */
static inline uint64_t min_even(uint64_t a, uint64_t b)
{
    a &= EVEN_ONES;
    b &= EVEN_ONES;
    uint64_t take_b = ((((a | CARRIES) - b) & CARRIES) >> COUNTER_BITS) * MAX;
    return (b & take_b) | (a & ~take_b);
}

/* Applies `even` to both halves of each word. */
static inline void combine(uint8_t *to, const uint8_t *from, uint64_t size_bytes,
                           uint64_t (*even)(uint64_t a, uint64_t b))
{
    for (uint64_t i = 0; i < size_bytes; i += 8) {
        uint64_t a = load(to + i), b = load(from + i);
        store_changed(to + i, a,
                      even(a, b) | even(a >> COUNTER_BITS, b >> COUNTER_BITS) << COUNTER_BITS);
    }
}

static void merge(uint8_t *to, const uint8_t *from, uint64_t size_bytes)
{
    combine(to, from, size_bytes, add_even);
}

static void intersect(uint8_t *to, const uint8_t *from, uint64_t size_bytes)
{
    combine(to, from, size_bytes, min_even);
}

/* Packs the lowest bits of a word's 16 counters: halves of 1, 2, 4 and 8 bits move together. */
static inline uint64_t gather(uint64_t word)
{
    word = (word | word >> 3) & 0x0303030303030303u;
    word = (word | word >> 6) & 0x000f000f000f000fu;
    word = (word | word >> 12) & 0x000000ff000000ffu;
    return (word | word >> 24) & 0xffffu;
}

static void to_bits(const struct bit_array *array, uint8_t *bits)
{
    for (uint64_t i = 0; i < array->size_bytes; i += 8) {
        uint64_t sixteen = gather(above_zero(load64le(array->bytes + i)));
        bits[i / 4] = (uint8_t)sixteen;
        bits[i / 4 + 1] = (uint8_t)(sixteen >> 8);
    }
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct counters counters = {
    .bits = COUNTER_BITS,
    .remove_many = UNLESS_READ_ONLY(remove_many),
    .count = count,
    .count_common = count_common,
    .merge = merge,
    .intersect = intersect,
    .bit_scheme = PETAL_SCHEME_CLASSIC,
    .to_bits = to_bits,
};

static uint32_t positions_of(const struct shape *shape, uint64_t hash, uint64_t *positions)
{
    return walk_positions(shape, hash, COUNTER_BITS, positions);
}

const struct scheme_def petal_scheme_counting = {
    .id = PETAL_SCHEME_COUNTING,
    .name = "counting",
    .kernels = kernels,
    .normalize = petal_normalize_classic,
    .unit_bytes = PETAL_LINE_BYTES,
    .hash_words = 1,
    .places = places,
    .positions = positions_of,
    .max_hashes = CLASSIC_MAX_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 46, /* 32 TiB */
    .counters = &counters,
};

/* counting.c - the `counting` scheme, which is like classic, but with a 4-bit counter in place of
 * each bit, so that keys can be removed.
 *
 * Fan, Cao, Almeida and Broder invented counting Bloom filters ("Summary cache", 2000). A key has
 * the same positions as in classic, and raises the counter at each distinct position once. Counter
 * i is the low (i even) or high (i odd) half of byte i / 2:
 *
 *     byte     0           1           2               m = 5, two keys at 0, 2, 4 and at 2, 3, 4
 *     bits     7..4 3..0   7..4 3..0   7..4 3..0
 *     counter     1    0      3    2      -    4
 *     value       0    1      1    2      0    2
 *
 * A counter that has reached 15 may represent more than 15 keys, so it sticks: it is never
 * decremented again. Stuck counters may cause false positives, but never lose a key. */
#include "base/bytes.h"
#include "base/memory.h"
#include "scheme/classic.h"
#include "scheme/walk.h"

#define COUNTER_BITS 4u
#define MAX 15u /* a counter with this value is stuck */

#define POSITIONS_PER_BYTE 2u

/* ---- one counter, by words of 16 ------------------------------------------------------------- */

/* CPUs take shift counts modulo 64. Compilers drop the & 63 only if they don't see the
 * multiplication by 4. */
static inline unsigned shift_of(uint64_t position)
{
    uint64_t shift = position * COUNTER_BITS;
    __asm__("" : "+r"(shift));
    return shift & 63;
}

static inline unsigned value_at(const uint8_t *bytes, uint64_t position)
{
    return load64le(bytes + position / 16 * 8) >> shift_of(position) & MAX;
}

static inline bool is_zero(const uint8_t *bytes, uint64_t position)
{
    return !(load64le(bytes + position / 16 * 8) & (uint64_t)MAX << shift_of(position));
}

static inline void set_value(uint8_t *bytes, uint64_t position, uint64_t value)
{
    uint8_t *at = bytes + position / 16 * 8;
    uint64_t word = load64le(at);
    unsigned shift = shift_of(position);
    store64le(at, word ^ ((word >> shift ^ value) & MAX) << shift);
}

/* ---- one key --------------------------------------------------------------------------------- */

/* All counters are read before the first one is written. If a position occurs twice, both writes
 * store the same value, so the position is counted once. A position has 46 bits, and the counter's
 * new value is stored above these bits. With two arrays, GCC would generate two loops and compute
 * the walk twice. */
#define POSITION_BITS 46u

/* Stores the key's positions in `counted`, each together with its counter plus 1 or minus 1. A
 * stuck counter keeps its value. Returns false if any counter is zero: subtracting 1 sets
 * the highest bit only of a zero. */
static inline bool read_values(const struct bit_array *array, uint64_t hash, bool adds,
                               uint64_t *counted)
{
    struct walk at = walk_from(array, &hash);
    const uint8_t *bytes = array->bytes;
    uint32_t k = array->shape.hashes, wrapped = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t position = walk_next(&at);
        unsigned value = value_at(bytes, position);
        wrapped |= value - 1;
        uint64_t next = adds ? value + (value < MAX) : value - (value < MAX);
        counted[i] = next << POSITION_BITS | position;
    }
    return !(wrapped >> 31);
}

static inline void write_values(const struct bit_array *array, const uint64_t *counted)
{
    uint8_t *bytes = array->bytes;
    uint32_t k = array->shape.hashes;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t position = counted[i] & (((uint64_t)1 << POSITION_BITS) - 1);
        set_value(bytes, position, counted[i] >> POSITION_BITS);
    }
}

/* Increments the counter of each distinct position. Returns true if some counter was zero. */
static __attribute__((noinline)) bool count_distinct(const struct bit_array *array, uint64_t hash)
{
    uint64_t key[CLASSIC_MAX_HASHES];
    bool was_in = read_values(array, hash, true, key);
    write_values(array, key);
    return !was_in;
}

#ifdef __wasm__ /* in WebAssembly, code size matters more than speed */
static inline bool count_up(const struct bit_array *array, uint64_t hash)
{
    return count_distinct(array, hash);
}
#else
/* The fast version processes one position after another, directly in the bytes. This table contains
 * the next value of each byte, and above these 8 bits, the number of counters that become nonzero.
 * The preprocessor computes the table. */
#define FILLED 32768u

#define UP(value) ((value) + ((value) < MAX))
#define EVEN_UP(byte) (((byte)&0xf0u) | UP((byte)&MAX) | ((byte)&MAX ? 0 : FILLED))
#define ODD_UP(byte) (((byte)&MAX) | UP((byte) >> 4) << 4 | ((byte) >> 4 ? 0 : FILLED))
#define BYTE(byte) \
    { \
        EVEN_UP(byte), ODD_UP(byte) \
    }
#define FOUR(byte) BYTE(byte), BYTE((byte) + 1), BYTE((byte) + 2), BYTE((byte) + 3)
#define SIXTEEN(byte) FOUR(byte), FOUR((byte) + 4), FOUR((byte) + 8), FOUR((byte) + 12)
#define SIXTY_FOUR(byte) \
    SIXTEEN(byte), SIXTEEN((byte) + 16), SIXTEEN((byte) + 32), SIXTEEN((byte) + 48)

static const uint16_t counted_up[256][POSITIONS_PER_BYTE] = {SIXTY_FOUR(0u), SIXTY_FOUR(64u),
                                                             SIXTY_FOUR(128u), SIXTY_FOUR(192u)};

/* The index of a byte that contains a counter, and the byte's previous value. */
struct visited {
    uint64_t byte, before;
};

static __attribute__((noinline)) void take_back(const struct bit_array *array,
                                                const struct visited *visited)
{
    for (uint32_t i = array->shape.hashes; i-- > 0;)
        array->bytes[visited[i].byte] = (uint8_t)visited[i].before;
}

/* Returns true if some counter was zero. If a position occurs twice, this function counts it twice,
 * and the byte at the position then exceeds the value that was first written. To detect such bytes,
 * the sum of the bytes is compared with the sum of the written values. No byte is lower than any
 * value written to it, and FILLED exceeds the largest possible difference for 64 bytes. (Two
 * positions that share a byte look the same, and cost a little time.) */
static inline bool count_up(const struct bit_array *array, uint64_t hash)
{
    struct visited visited[CLASSIC_MAX_HASHES];
    struct walk at = walk_from(array, &hash);
    uint8_t *bytes = array->bytes;
    uint32_t k = array->shape.hashes, sum = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t position = walk_next(&at), byte = position / POSITIONS_PER_BYTE;
        uint8_t before = bytes[byte];
        uint32_t next = counted_up[before][position % POSITIONS_PER_BYTE];
        visited[i] = (struct visited){byte, before};
        /* Without this, GCC generates two loops and computes the walk twice. */
        __asm__ volatile("" : "+r"(byte));
        bytes[byte] = (uint8_t)next;
        sum += next;
    }
    for (uint32_t i = 0; i < k; i++) sum -= bytes[visited[i].byte];
    if (sum % FILLED == 0) return sum != 0;
    take_back(array, visited);
    return count_distinct(array, hash);
}
#endif

/* Returns false, and changes nothing, if some counter is zero, because the key is then absent. */
static inline bool count_down(const struct bit_array *array, uint64_t hash)
{
    uint64_t key[CLASSIC_MAX_HASHES];
    bool is_in = read_values(array, hash, false, key);
    if (is_in) write_values(array, key);
    return is_in;
}

/* Tests two counters per branch. In a half-full filter, no branch predictor can predict the result
 * for a single counter. */
static inline bool has_key(const struct bit_array *array, uint64_t hash)
{
    struct walk at = walk_from(array, &hash);
    const uint8_t *bytes = array->bytes;
    uint32_t left = array->shape.hashes;
    for (; left >= 2; left -= 2) {
        bool one = is_zero(bytes, walk_next(&at)), other = is_zero(bytes, walk_next(&at));
        if (one | other) return false;
    }
    return left == 0 || !is_zero(bytes, walk_next(&at));
}

/* ---- batches --------------------------------------------------------------------------------- */

/* If the array is not in cache, the counters of a group of keys are prefetched before the first
 * counter is needed, so that the cache misses overlap. */
#define GROUP_KEYS 16u

static inline void fetch(const struct bit_array *array, const uint64_t *hashes, size_t count)
{
    for (size_t key = 0; key < count; key++) {
        struct walk at = walk_from(array, &hashes[key]);
        for (uint32_t i = 0; i < array->shape.hashes; i++)
            __builtin_prefetch(array->bytes + walk_next(&at) / POSITIONS_PER_BYTE);
    }
}

static inline size_t many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results, bool (*each)(const struct bit_array *, uint64_t))
{
    size_t sum = 0;
    for (size_t from = 0, group; from < count; from += group) {
        group = at_most(count - from, GROUP_KEYS);
        if (is_far(array)) fetch(array, hashes + from, group);
        for (size_t i = from; i < from + group; i++) sum += results[i] = each(array, hashes[i]);
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
    return many(array, hashes, count, results, has_key);
}

static size_t remove_many(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results)
{
    return many(array, hashes, count, results, count_down);
}

static inline bool add_key(const struct bit_array *array, uint64_t hash)
{
    if (is_far(array)) fetch(array, &hash, 1);
    return count_up(array, hash);
}

static bool add(const struct bit_array *array, const uint64_t *hash)
{
    return add_key(array, *hash);
}

static bool contains(const struct bit_array *array, const uint64_t *hash)
{
    return has_key(array, *hash);
}

/* ---- one key, with its hash: see direct in scheme.h ------------------------------------------ */

static bool direct_contains(const struct direct *way, const void *key, size_t key_bytes)
{
    uint64_t hash;
    classic_hash(way->seed, key_bytes ? key : "", key_bytes, &hash);
    return has_key(way->array, hash);
}

static bool direct_contains_i64(const struct direct *way, int64_t value)
{
    return has_key(way->array, petal_inline_xxh3((uint64_t)value, way->flip));
}

static inline petal_status direct_add_hash(const struct direct *way, uint64_t hash)
{
    *way->items = saturating_add(*way->items, 1);
    return status_of_add(add_key(way->array, hash));
}

static petal_status direct_add(const struct direct *way, const void *key, size_t key_bytes)
{
    uint64_t hash;
    classic_hash(way->seed, key_bytes ? key : "", key_bytes, &hash);
    return direct_add_hash(way, hash);
}

static petal_status direct_add_i64(const struct direct *way, int64_t value)
{
    return direct_add_hash(way, petal_inline_xxh3((uint64_t)value, way->flip));
}

/* The same code, compiled with instructions that multiply and shift without fixed registers
 * (BMI2). */
#ifdef WALK_BMI2
static WALK_BMI2 bool direct_contains_bmi2(const struct direct *way, const void *key,
                                           size_t key_bytes)
{
    return direct_contains(way, key, key_bytes);
}

static WALK_BMI2 bool direct_contains_i64_bmi2(const struct direct *way, int64_t value)
{
    return direct_contains_i64(way, value);
}

static WALK_BMI2 petal_status direct_add_bmi2(const struct direct *way, const void *key,
                                              size_t key_bytes)
{
    return direct_add(way, key, key_bytes);
}

static WALK_BMI2 petal_status direct_add_i64_bmi2(const struct direct *way, int64_t value)
{
    return direct_add_i64(way, value);
}
#endif

static bool direct(struct direct *way, uint32_t hash)
{
    way->calls = (struct direct_calls){.contains = direct_contains,
                                       .contains_i64 = direct_contains_i64,
                                       .add = UNLESS_READ_ONLY(direct_add),
                                       .add_i64 = UNLESS_READ_ONLY(direct_add_i64)};
#ifdef WALK_BMI2
    if (petal_cpu_has(CPU_BMI2))
        way->calls = (struct direct_calls){.contains = direct_contains_bmi2,
                                           .contains_i64 = direct_contains_i64_bmi2,
                                           .add = UNLESS_READ_ONLY(direct_add_bmi2),
                                           .add_i64 = UNLESS_READ_ONLY(direct_add_i64_bmi2)};
#endif
    return hash == PETAL_HASH_XXH3;
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
                                      .contains_many = contains_many,
                                      .direct = direct};
static const struct kernel *const kernels[] = {&generic, NULL};

/* ---- all counters: 16 per word, whose byte order does not matter ----------------------------- */

#define LOW_BITS 0x1111111111111111u  /* the lowest bit of every counter */
#define EVEN_ONES 0x0f0f0f0f0f0f0f0fu /* every other counter, with room for a carry */
#define CARRIES 0x1010101010101010u

static inline uint64_t load(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Stores the word only if it has changed, so that pages with unchanged counters are not touched. */
static inline void store_changed(uint8_t *to, uint64_t old, uint64_t word)
{
    if (word != old) memcpy(to, &word, sizeof word);
}

/* Returns the lowest bit of every counter that is not zero. */
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

/* Adds every other counter. A carry out of a counter sets all bits of the counter. */
static inline uint64_t add_even(uint64_t a, uint64_t b)
{
    uint64_t sum = (a & EVEN_ONES) + (b & EVEN_ONES);
    return (sum | ((sum & CARRIES) >> COUNTER_BITS) * MAX) & EVEN_ONES;
}

/* Compares every other counter. If a >= b, the guard bit above the counter is still set after the
 * subtraction. */
static inline uint64_t min_even(uint64_t a, uint64_t b)
{
    a &= EVEN_ONES;
    b &= EVEN_ONES;
    uint64_t take_b = ((((a | CARRIES) - b) & CARRIES) >> COUNTER_BITS) * MAX;
    return (b & take_b) | (a & ~take_b);
}

/* Applies the function `even` to the even counters and to the odd counters of each word. */
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

/* Packs the lowest bits of a word's 16 counters into 16 bits. Groups of 1, 2, 4 and 8 bits are
 * moved in turn. */
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
    .max_bits = (uint64_t)1 << POSITION_BITS, /* 32 TiB */
    .counters = &counters,
};

/* valkey_bloom_scheme.c - the scheme of valkey-bloom, which comes from the Rust crate bloomfilter.
 * a and b are the words of the key's hash. The first two positions are a mod m and b mod m. For i =
 * 2 to k - 1 the position is ((a + i * b) mod p) mod m, where the sum is a 64-bit number, and p =
 * 2^64 - 59 is the largest prime below 2^64. See docs/formats/valkey-bloom.md.
 *
 *     a = 1, b = 2^64 - 3, m = 1000      1, 613, (1 - 6) mod p mod m = 2^64 - 5 - p = 54 */
#include "scheme/scheme.h"

#define PRIME 0xffffffffffffffc5u

struct walk {
    uint64_t sum, step;
    uint32_t number;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash[0], hash[1], 0, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t word = at->number == 1 ? at->step : at->sum;
    if (at->number > 1 && word >= PRIME) word -= PRIME;
    at->sum += at->step;
    at->number++;
    return rest_of(word, at->bits);
}

#define WALK valkey_bloom
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_valkey_bloom = {
    .id = PETAL_SCHEME_VALKEY_BLOOM,
    .name = "valkey-bloom",
    WALKED(valkey_bloom),
    .hash_words = 2,
    .counts_new_only = true,
    .max_hashes = PETAL_MAX_HASHES,
    .step_bits = 8,
    .max_bits = (uint64_t)1 << 48,
    /* The second position is b mod m instead of (a + b) mod m. tests/stat/courses shows that this
     * difference doesn't affect the rates. */
    COURSE(COURSE_WRAPPED, 64, {0, 0, 64, false}, {1, 0, 64, false}),
};

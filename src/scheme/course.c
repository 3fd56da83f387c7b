/* course.c - see course.h.
 *
 * For a small filter with given bits, the rate is computed without assumptions: the scheme's own
 * walk is tried for all starts a = 0 .. m-1 and all remainders of b mod m. For a fixed b, the bits
 * at position i for all m starts are the array, rotated. So the starts of all false positives are
 * the AND of k rotated arrays, 64 starts per word.
 *
 * Otherwise the rate is a sum of three terms:
 *  1. Nearly all keys have k different positions, which behave like random positions.
 *  2. A few keys have fewer positions, because q steps lead back to the start:
 *     q * b = p * 2^w mod m, where p is the number of times that the q steps wrap. The k steps then
 *     form q chains. Where a chain wraps one time more or less, it continues elsewhere. The number
 *     of steps until then depends on the distance of b / 2^w from p / q. Let g = gcd(p, q). For
 *     each j, the probability of exactly D = q + g * j different positions is about
 *     2 / (q/g * (k - q)).
 *  3. Some queries run parallel to an added key, with the same step b, or with a step of the same
 *     length in the opposite direction.
 *
 * Term 2 is computed from m, k and w. If nothing wraps, term 3 is computed in the same way;
 * otherwise it uses a factor determined by simulation. The neglected terms are proportional to
 * 1 / m^2. If m is below MIN_BITS_PER_HASH * k, these terms matter, and the rate is NAN.
 * tests/stat/courses.c compares the computed rates with real filters. */
#include "scheme/course.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/popcount.h"
#include "hash/hash.h"
#include "scheme/model.h"
#include "scheme/scheme.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

#define MIN_BITS_PER_HASH 96u
#define MAX_CHAINS 24u /* the terms for more chains are below fill^24, which is negligible */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static double power(double x, uint32_t k)
{
    double product = 1;
    for (; k; k >>= 1, x *= x)
        if (k & 1) product *= x;
    return product;
}

/* The Möbius function: 0 for multiples of a square. For other numbers, 1 if the number of prime
 * factors is even, and -1 if it is odd. */
static int moebius(uint32_t n)
{
    int sign = 1;
    for (uint32_t d = 2; d <= n; d++) {
        if (n % d != 0) continue;
        n /= d;
        sign = -sign;
        if (n % d == 0) return 0;
    }
    return sign;
}

static bool never_wraps(const struct course *course)
{
    return course->kind == COURSE_STRAIGHT || course->kind == COURSE_CURVED;
}

/* ---- keys with fewer than k different positions ---------------------------------------------- */

/* The effect of keys with only D < k distinct positions. A query with D positions passes with
 * probability fill^D. An added key with D positions sets k - D bits fewer. */
struct repeats {
    uint32_t hashes;
    double fill, all;  /* `all` is fill^k */
    double more, lost; /* `more` is the amount added to the rate */
};

/* The steps that form one arithmetic progression: all k steps, or every `every`-th step. In the
 * latter case, `copies` progressions run in parallel. A folded course also visits the mirror images
 * of its positions. */
struct chain {
    uint64_t bits, wrap; /* `wrap` is 2^w mod m */
    uint32_t length, every, copies, mirrors;
};

static void note_chain(struct repeats *sum, const struct chain *chain, double weight,
                       uint64_t positions)
{
    if (positions >= chain->length) return;
    uint32_t less = (chain->length - (uint32_t)positions) * chain->copies;
    sum->lost += weight * less;
    sum->more += weight * (power(sum->fill, sum->hashes - less) - sum->all);
}

/* If nothing wraps, phi(d) values of b have order d for each divisor d of m, where phi is Euler's
 * totient function. */
static void straight_repeats(struct repeats *sum, const struct chain *chain)
{
    double each = (double)common_divisor(chain->every, chain->bits) / (double)chain->bits;
    for (uint32_t d = 1; d < chain->length; d++) {
        uint32_t coprime = 0;
        if (chain->bits % d != 0) continue;
        for (uint32_t i = 1; i <= d; i++) coprime += common_divisor(d, i) == 1;
        note_chain(sum, chain, coprime * each, (uint64_t)d * chain->mirrors);
    }
}

/* Returns the number of values b for which q * every * b = p * wrap mod m. */
static uint64_t solutions(const struct chain *chain, uint32_t q, uint32_t p)
{
    uint64_t common = common_divisor((uint64_t)q * chain->every, chain->bits);
    return p * (chain->wrap % common) % common == 0 ? common : 0;
}

/* Like solutions(), but counts only values b for which no smaller number of steps leads back to the
 * start in the same direction. */
static double least_solutions(const struct chain *chain, uint32_t q, uint32_t p, uint32_t common)
{
    double sum = 0;
    for (uint32_t e = 1; e <= common; e++)
        if (common % e == 0) sum += moebius(e) * (double)solutions(chain, q / e, p / e);
    return sum;
}

static void note_slope(struct repeats *sum, const struct chain *chain, uint32_t q, uint32_t p)
{
    uint32_t common = (uint32_t)common_divisor(q, p), length = chain->length;
    double count = least_solutions(chain, q, p, common);
    double width = count / (double)chain->bits / chain->mirrors * common / (q * (length - q));
    uint64_t most = chain->bits / common_divisor(chain->wrap, chain->bits) * q * chain->mirrors;
    if (p == 0 || p == q) width /= 2; /* values of b exist only on one side of the slope */
    for (uint32_t positions = q; positions < length; positions += common) {
        uint64_t there = positions < most ? positions : most;
        note_chain(sum, chain, positions == q ? width : 2 * width, there);
    }
}

static void wrapped_repeats(struct repeats *sum, const struct chain *chain)
{
    for (uint32_t q = 1; q < chain->length && q <= MAX_CHAINS; q++)
        for (uint32_t p = 0; p <= q; p++) note_slope(sum, chain, q, p);
}

static uint64_t wrap_of(const struct course *course, uint64_t bits)
{
    return ((UINT64_MAX >> (64 - course->wrap_bits)) % bits + 1) % bits;
}

/* Computes the mean effect of repeated positions over added keys, and over queries of a filter with
 * this fill. */
static struct repeats repeats_of(const struct course *course, uint64_t bits, uint32_t hashes,
                                 double fill)
{
    struct repeats sum = {hashes, fill, power(fill, hashes), 0, 0};
    uint64_t wrap = never_wraps(course) ? 0 : wrap_of(course, bits);
    struct chain chain = {bits, wrap, hashes, 1, 1, course->kind == COURSE_FOLDED ? 2 : 1};
    if (course->kind == COURSE_CURVED) return sum;
    if (course->kind == COURSE_WOVEN) chain.every = 4, chain.length = (hashes + 3) / 4;
    if (course->kind == COURSE_WOVEN) chain.copies = 2;
    if (wrap == 0)
        straight_repeats(&sum, &chain);
    else
        wrapped_repeats(&sum, &chain);
    if (course->kind == COURSE_HALVED) sum.more /= 2, sum.lost /= 2;
    if (course->kind == COURSE_WOVEN) sum.more *= 2, sum.lost *= 2;
    return sum;
}

/* ---- queries that run parallel to a key ------------------------------------------------------ */

/* In each direction, k - o positions are shared with the other key, and the remaining o positions
 * are set by chance. Keys with half or double the step, or with other ratios, add a little. */
#define OTHER_RATIOS 2.5
static double straight_neighbours(uint32_t hashes, double fill)
{
    double sum = 1, chance = fill;
    for (uint32_t o = 1; o + 3 <= hashes; o++, chance *= fill) sum += 2 * chance;
    return 2 * sum + OTHER_RATIOS;
}

/* If one of two parallel keys wraps where the other doesn't, their positions separate. The
 * remaining effect is proportional to 1 / k^3, since there are k^3 / pi^2 ways to wrap in k steps.
 * The factors were determined by simulation for k = 7 to 20. */
#define WRAPPED_NEIGHBOURS 2400.0
#define FOLDED_NEIGHBOURS 1100.0
static double wrapped_neighbours(double factor, uint32_t hashes, double fill)
{
    double k = hashes, number = factor / (k * k * k), most = straight_neighbours(hashes, fill);
    return number < most ? number : most;
}

/* The caller multiplies the result by keys / m^2. In a curved course, only keys with equal a and
 * equal b count. */
static double neighbours_of(const struct course *course, uint64_t bits, uint32_t hashes,
                            double fill)
{
    switch (course->kind) {
    case COURSE_STRAIGHT: return straight_neighbours(hashes, fill);
    case COURSE_WRAPPED:
        return wrap_of(course, bits) == 0 ? straight_neighbours(hashes, fill)
                                          : wrapped_neighbours(WRAPPED_NEIGHBOURS, hashes, fill);
    case COURSE_FOLDED:
    case COURSE_HALVED: return wrapped_neighbours(FOLDED_NEIGHBOURS, hashes, fill);
    case COURSE_CURVED: return 1;
    default: return 0;
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

/* In filters of at least this size, the correction terms are usually negligible, because k
 * positions rarely coincide. */
#define MIN_INDEPENDENT_BITS ((uint64_t)1 << 20)
static bool is_as_independent(uint64_t bits, double rate)
{
    return bits >= MIN_INDEPENDENT_BITS && rate * (double)bits > 1e4;
}

/* If b is a rotated by n bits, it is a * 2^n mod 2^32 - 1. So if d divides both 2^32 - 1 and m, a
 * key's b mod d determines all its positions mod d. The keys then form d classes of randomly
 * varying sizes. */
static uint64_t start_unit(const struct course *course, uint64_t bits)
{
    return course->step.is_rotated ? common_divisor(UINT32_MAX, bits) : 1;
}

/* Returns true if the varying class sizes make the model wrong by more than about 5 %. The factor
 * was determined by simulation. */
static bool is_in_classes(const struct course *course, const struct shape *shape, double keys)
{
    double d = (double)start_unit(course, shape->bits), k = shape->hashes;
    return d > 1 && 0.008 * d * d * k * k / 2 > 0.05 * keys;
}

/* Returns true if no model is good enough for this filter. */
static bool is_beyond(const struct course *course, const struct shape *shape, double keys)
{
    return shape->bits < (uint64_t)MIN_BITS_PER_HASH * shape->hashes ||
           is_in_classes(course, shape, keys);
}

static double with_others(const struct course *course, const struct shape *shape, double rate,
                          double fill, double keys)
{
    double bits = (double)shape->bits;
    rate += repeats_of(course, shape->bits, shape->hashes, fill).more;
    rate += keys / bits / bits * neighbours_of(course, shape->bits, shape->hashes, fill);
    return rate < 1 ? rate : 1;
}

double petal_course_rate(const struct scheme_def *scheme, const struct shape *shape, double keys)
{
    const struct course *course = &scheme->course;
    if (course->kind == COURSE_UNKNOWN) return NAN;
    if (keys <= 0) return 0;
    if (is_beyond(course, shape, keys)) return NAN;
    if (shape->bits >= MIN_INDEPENDENT_BITS) {
        double uniform = petal_uniform_rate(scheme, shape, keys);
        if (is_as_independent(shape->bits, uniform)) return uniform;
    }
    double lost = repeats_of(course, shape->bits, shape->hashes, 0).lost;
    double per_key = shape->hashes - lost;
    double fill = petal_model_hit(per_key / (double)shape->bits, keys);
    double rate = petal_model_distinct_rate(shape->bits, shape->hashes, per_key, keys);
    return with_others(course, shape, rate, fill, keys);
}

/* ---- given the bits of a small filter -------------------------------------------------------- */

#define MAX_RING_BITS 4096u
#define MAX_RING_HASHES 64u
#define BLOCK_WORDS 8u /* number of words of starts examined at a time */
#define BLOCK_BITS (64u * BLOCK_WORDS)
#define RING_WORDS (2 * MAX_RING_BITS / 64 + BLOCK_WORDS + 2)
/* The maximum amount of work: number of values of b times number of words in the array. This work
 * takes several milliseconds per filter. */
#define MAX_WORK ((uint64_t)1 << 19)
/* The number of values of b that are tried for each remainder mod m. These values wrap differently.
 * Values that lead back to the start after a few steps are rare, but cause most false positives, so
 * more of them are tried. */
#define ROUNDS 2u
#define ROUNDS_IF_LOOP 64u
#define MAX_LOOP 6u

/* The array, repeated in both directions as far as an offset plus a block can reach. `starts` marks
 * the starts that are possible, relative to the current key's start. */
struct rings {
    uint32_t bits, start_count;
    uint64_t forwards[RING_WORDS], backwards[RING_WORDS], starts[RING_WORDS];
};

static void make_rings(const struct scheme_def *scheme, const struct bit_array *array,
                       struct rings *rings)
{
    uint32_t bits = (uint32_t)array->shape.bits, order = scheme->bit_order,
             unit = (uint32_t)start_unit(&scheme->course, bits);
    memset(rings, 0, sizeof *rings);
    rings->bits = bits;
    rings->start_count = bits / unit;
    for (uint32_t i = 0; i < bits; i += unit) rings->starts[i / 64] |= (uint64_t)1 << i % 64;
    for (uint32_t i = 0; i < 64 * RING_WORDS; i++) {
        uint32_t forwards = i % bits ^ order, backwards = (bits - i % bits) % bits ^ order;
        uint64_t bit = (uint64_t)1 << i % 64;
        if (array->bytes[forwards / 8] >> forwards % 8 & 1) rings->forwards[i / 64] |= bit;
        if (array->bytes[backwards / 8] >> backwards % 8 & 1) rings->backwards[i / 64] |= bit;
    }
}

/* The positions of one key, as offsets in a ring. The ring of a position depends on the direction
 * in which the position moves when the start moves. */
struct track {
    const uint64_t *rings[MAX_RING_HASHES];
    uint32_t offsets[MAX_RING_HASHES];
};

/* Returns the number of starts for which the bits at the positions numbered `from`, `from` +
 * `every`, ... are all set. */
static uint64_t starts_found(const struct rings *rings, const struct track *track, uint32_t from,
                             uint32_t every, uint32_t hashes)
{
    uint64_t sum = 0;
    for (uint32_t first = 0; first < rings->bits; first += BLOCK_BITS) {
        uint64_t found[BLOCK_WORDS], any = 1;
        memcpy(found, rings->starts + first / 64, sizeof found);
        for (uint32_t i = from; i < hashes && any; i += every) {
            uint32_t offset = track->offsets[i] + first, shift = offset % 64;
            const uint64_t *ring = track->rings[i] + offset / 64;
            any = 0;
            for (uint32_t w = 0; w < BLOCK_WORDS; w++) {
                found[w] &= ring[w] >> shift | ring[w + 1] << 1 << (63 - shift);
                any |= found[w];
            }
        }
        if (any) sum += petal_popcount((const uint8_t *)found, sizeof found);
    }
    return sum;
}

static uint64_t next_random(uint64_t *state)
{
    return fmix64(*state += 0x9e3779b97f4a7c15u);
}

/* Stores in the hash a random number with the given remainder mod m. */
static void put_number(uint64_t *hash, const struct course_number *at, uint32_t word, uint64_t bits,
                       uint64_t rest, uint64_t random)
{
    uint64_t mask = UINT64_MAX >> (64 - at->bits), number = random & mask;
    number -= number % bits;
    number = number <= mask - rest ? number + rest : rest;
    hash[word] &= ~(mask << at->shift);
    hash[word] |= number << at->shift;
    if (at->is_rotated) hash[word] = (number << at->shift | number >> (32 - at->shift)) & mask;
}

/* For woven courses, returns the remainder of the second b. The second b has the same remainders as
 * the first, in an unrelated order. */
static uint64_t other_rest(uint64_t rest, uint64_t bits)
{
    return fmix64(rest + 1) % bits;
}

/* Creates a random hash in which b has this remainder, and is in the part of b's range that `part`
 * selects. */
static void make_hash(const struct course *course, uint64_t bits, uint64_t rest, uint64_t part,
                      uint64_t *state, uint64_t *hash)
{
    for (uint32_t i = 0; i < PETAL_COURSE_WORDS; i++) hash[i] = next_random(state);
    part >>= 64 - course->step.bits;
    if (never_wraps(course)) part >>= 1; /* b may be signed */
    put_number(hash, &course->step, course->step.word, bits, rest, part);
    if (course->kind == COURSE_WOVEN)
        put_number(hash, &course->step, course->step.word + 1u, bits, other_rest(rest, bits), part);
}

/* Returns true if a few steps with this b can lead back to the start. Whether they do depends on
 * how often they wrap. */
static bool is_loop(const struct course *course, uint64_t bits, uint64_t rest)
{
    if (never_wraps(course)) return false;
    uint64_t wrap = wrap_of(course, bits), every = course->kind == COURSE_WOVEN ? 4 : 1;
    if (course->kind == COURSE_HALVED) wrap = 2 * wrap % bits;
    for (uint32_t q = 1; q <= MAX_LOOP; q++)
        for (uint32_t p = 0; p <= q; p++)
            if (rest * q * every % bits == wrap * p % bits) return true;
    return false;
}

static uint32_t rounds_of(const struct course *course, uint64_t bits, uint64_t rest)
{
    if (never_wraps(course)) return 1;
    if (is_loop(course, bits, rest)) return ROUNDS_IF_LOOP;
    if (course->kind == COURSE_WOVEN && is_loop(course, bits, other_rest(rest, bits)))
        return ROUNDS_IF_LOOP;
    return ROUNDS;
}

/* When the start moves forwards, a folded position moves backwards. */
static void make_track(const struct scheme_def *scheme, const struct bit_array *array,
                       const struct rings *rings, uint64_t *hash, struct track *track)
{
    uint64_t here[MAX_RING_HASHES], next[MAX_RING_HASHES];
    uint32_t bits = rings->bits;
    bool is_folded = scheme->course.kind == COURSE_FOLDED;
    scheme->trace(array, hash, here);
    if (is_folded) {
        hash[scheme->course.start.word] += (uint64_t)1 << scheme->course.start.shift;
        scheme->trace(array, hash, next);
    }
    for (uint32_t i = 0; i < array->shape.hashes; i++) {
        uint32_t at = (uint32_t)here[i];
        bool goes_back = is_folded && next[i] == (at + bits - 1) % bits;
        track->rings[i] = goes_back ? rings->backwards : rings->forwards;
        track->offsets[i] = goes_back ? (bits - at) % bits : at;
    }
}

/* Returns the share of starts that yield a false positive with this key's b. In a woven course, the
 * key's two progressions have separate starts. */
static double share_found(const struct scheme_def *scheme, const struct rings *rings,
                          const struct track *track, uint32_t hashes)
{
    double starts = rings->start_count;
    if (scheme->course.kind != COURSE_WOVEN || hashes == 1)
        return (double)starts_found(rings, track, 0, 1, hashes) / starts;
    return (double)starts_found(rings, track, 0, 2, hashes) / starts *
           (double)starts_found(rings, track, 1, 2, hashes) / starts;
}

static double measure(const struct scheme_def *scheme, const struct bit_array *array)
{
    const struct course *course = &scheme->course;
    struct rings rings;
    uint64_t bits = array->shape.bits, state = bits;
    double sum = 0;
    make_rings(scheme, array, &rings);
    for (uint64_t rest = 0; rest < bits; rest++) {
        uint32_t rounds = rounds_of(course, bits, rest);
        uint64_t width = UINT64_MAX / rounds, from = fmix64(rest) / rounds;
        double found = 0;
        for (uint32_t i = 0; i < rounds; i++) {
            uint64_t hash[PETAL_COURSE_WORDS];
            struct track track;
            make_hash(course, bits, rest, from + i * width, &state, hash);
            make_track(scheme, array, &rings, hash, &track);
            found += share_found(scheme, &rings, &track, array->shape.hashes);
        }
        sum += found / rounds;
    }
    return sum / (double)bits;
}

static bool can_measure(const struct shape *shape, uint64_t layers)
{
    return shape->bits > 0 && shape->bits <= MAX_RING_BITS && shape->hashes <= MAX_RING_HASHES &&
           shape->bits * (shape->bits / 64 + BLOCK_WORDS) * layers <= MAX_WORK;
}

double petal_course_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers)
{
    const struct course *course = &scheme->course;
    const struct shape *shape = &array->shape;
    uint64_t reachable = petal_scheme_reachable(scheme, shape->bits);
    double bits = (double)reachable, fill = (double)bits_set / bits, k = shape->hashes;
    double rate = power(fill, shape->hashes);
    if (bits_set == reachable) return 1;
    if (course->kind == COURSE_UNKNOWN) return NAN;
    if (is_as_independent(shape->bits, rate)) return rate;
    if (can_measure(shape, layers)) return measure(scheme, array);
    double keys = petal_model_items((double)bits_set, bits, k);
    if (is_beyond(course, shape, keys)) return NAN;
    double distinct = 1 - k * (k - 1) / 2 * (1 / fill - 1) / bits;
    return with_others(course, shape, distinct > 0 ? rate * distinct : 0, fill, keys);
}

/* plan.c - see plan.h.
 *
 * The models compute a rate from a shape and a number of keys. plan.c inverts the models by
 * searching. For numbers of hashes around the best one, it finds the smallest array that keeps the
 * rate. It then chooses the smallest of these arrays. Among equally small arrays, it prefers the
 * lowest rate, then the fewest hashes. */
#include "scheme/plan.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "scheme/model.h"

#include <math.h> /* isnan, a macro */

/* Below this rate, a blocked filter may use two lines per key. Two lines save a tenth of the bits
 * at this rate, and more at lower rates. */
#define TWO_LINES_BELOW 2e-4
/* In a filter with fewer lines than this, a key's two lines coincide too often for the model, which
 * treats the lines as independent. */
#define TWO_LINES_MIN_LINES 64u
/* The maximum number of bits per key, which is the size of a line. A rate that needs more bits per
 * key is unreachable. */
#define MAX_BITS_PER_KEY 512u

/* The number of significant bits in planned sizes. Rounding sizes up to this precision takes at
 * most 0.003 % more memory. Without rounding, a search would end by comparing two nearly equal
 * numbers, but machines with an exp() that differs in the last bit must plan the same filter. */
#define SIGNIFICANT_BITS 16u

static uint64_t round_up_significant(uint64_t x)
{
    unsigned drop = 0;
    while (x >> drop >> SIGNIFICANT_BITS) drop++;
    uint64_t unit = (uint64_t)1 << drop;
    return (x + unit - 1) & ~(unit - 1);
}

static double rate_at(const struct scheme_def *scheme, struct shape shape, uint64_t steps,
                      uint64_t keys)
{
    shape.bits = steps * scheme->step_bits;
    return petal_scheme_rate(scheme, &shape, (double)keys);
}

/* Rounds down to a number with SIGNIFICANT_BITS significant bits. */
static uint64_t round_down_significant(uint64_t x)
{
    unsigned drop = 0;
    while (x >> drop >> SIGNIFICANT_BITS) drop++;
    return x >> drop << drop;
}

/* ---- the fewest bits --------------------------------------------------------------------------
 *
 * The logarithm of the rate is almost linear in the bits, so a few evaluations of the model are
 * enough. Starting from a guess, the search follows the classic filter's slope until the size is
 * bracketed. Then it uses the false position method, and halves the value at the retained end (the
 * Illinois algorithm). Only numbers with few significant bits are tried, and the result is the
 * smallest of these numbers that keeps the rate. */

/* The state of the search. `low` doesn't keep the rate. `high` keeps the rate, or is 0 if no such
 * size is known yet; its rate is rate_high. above_low and above_high are the logarithms of the two
 * sizes' rates, minus the logarithm of the requested rate. */
struct enclosure {
    uint64_t low, high;
    double above_low, above_high, rate_high;
};

struct inverse {
    const struct scheme_def *scheme;
    struct shape shape;
    uint64_t keys;
    uint64_t max; /* max_steps, rounded up to a few significant bits; stands for max_steps */
    uint64_t max_steps;
    double rate;
};

static bool note(const struct inverse *of, struct enclosure *at, uint64_t steps)
{
    uint64_t real = steps < of->max_steps ? steps : of->max_steps;
    double got = rate_at(of->scheme, of->shape, real, of->keys);
    double above = petal_model_ln(got / of->rate);
    bool keeps = !(got > of->rate);
    if (keeps) at->high = steps, at->above_high = above, at->rate_high = got;
    if (!keeps) at->low = steps, at->above_low = above;
    return keeps;
}

/* Returns the absolute value of d ln rate / d ln bits for the classic filter. */
static double slope_at(const struct inverse *of, double steps)
{
    double k = of->shape.hashes,
           load = k * (double)of->keys / (steps * (double)of->scheme->step_bits);
    double clear = petal_model_pow(2.718281828459045, -load);
    double slope = k * load * clear / (1 - clear);
    return slope > 0.01 ? slope : 0.01;
}

static uint64_t clamp(double steps, uint64_t low, uint64_t high)
{
    uint64_t whole = steps < (double)low ? low : steps < (double)high ? (uint64_t)steps : high;
    uint64_t few = round_up_significant(whole);
    return few > high ? round_down_significant(high) : few;
}

/* Returns the size at which the rate is expected to be reached, extrapolated from the only known
 * end of the range, plus a margin. */
static uint64_t along_slope(const struct inverse *of, const struct enclosure *at, double margin)
{
    double from = (double)(at->high ? at->high : at->low),
           above = at->high ? at->above_high : at->above_low;
    double part = above / slope_at(of, from);
    double factor = part < 0 ? 1 / (1 - part + part * part / 2) : 1 + part + part * part / 2;
    if (!(factor > 0.25)) factor = 0.25;
    if (factor > 4) factor = 4;
    factor = at->high ? factor / (1 + margin) : factor * (1 + margin);
    return at->high ? clamp(from * factor, 1, at->high - 1)
                    : clamp(from * factor, at->low + 1, of->max);
}

/* Returns the fewest steps that keep the rate, or 0 if no size does. at->low is 0, or a number of
 * steps that is known not to keep the rate. */
static uint64_t fewest_steps(const struct inverse *of, struct enclosure *at, uint64_t guess)
{
    double margin = 0.01;
    if (!at->high) (void)note(of, at, guess);
    for (; at->high == 0 || (at->low == 0 && at->high > 1); margin *= 3) {
        if (at->low >= of->max) return 0;
        (void)note(of, at, along_slope(of, at, margin));
    }
    int side = 0; /* the end that was moved last: 1 for high, -1 for low */
    while (at->low && round_up_significant(at->low + 1) < at->high) {
        double width = (double)(at->high - at->low),
               part = at->above_low / (at->above_low - at->above_high);
        if (!(part > 0 && part < 1)) part = 0.5;
        uint64_t next = clamp((double)at->low + width * part, at->low + 1, at->high - 1);
        bool keeps = note(of, at, next);
        if (keeps && side == 1) at->above_low /= 2;
        if (!keeps && side == -1) at->above_high /= 2;
        side = keeps ? 1 : -1;
    }
    return at->high;
}

/* Rates that differ by less than this count as equal. The model's sums are no more accurate, and
 * their rounding depends on libm and the CPU. */
#define SAME_RATE 1e-12

/* A candidate for the planned shape. The rate is INFINITY if no candidate has been found yet. */
struct candidate {
    struct shape shape;
    double rate;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (isinf(b->rate)) return true;
    if (a->shape.bits != b->shape.bits) return a->shape.bits < b->shape.bits;
    if (a->rate + SAME_RATE < b->rate) return true;
    if (b->rate + SAME_RATE < a->rate) return false;
    if (a->shape.lines_per_key != b->shape.lines_per_key)
        return a->shape.lines_per_key < b->shape.lines_per_key;
    return a->shape.hashes < b->shape.hashes;
}

static uint64_t min_steps(uint32_t lines_per_key)
{
    return lines_per_key == 2 ? TWO_LINES_MIN_LINES : 1;
}

/* Returns the maximum number of steps worth trying for this number of keys. */
static uint64_t max_steps(const struct scheme_def *scheme, uint32_t lines_per_key, uint64_t keys)
{
    uint64_t max = scheme->max_bits / scheme->step_bits, worth;
    if (checked_mul(keys, MAX_BITS_PER_KEY / scheme->step_bits, &worth) && worth < max) max = worth;
    return max < min_steps(lines_per_key) ? min_steps(lines_per_key) : max;
}

/* Returns a guess for the number of steps: the size of a classic filter with k hashes, plus a
 * little for the blocked scheme. */
static uint64_t guess_steps(const struct inverse *of)
{
    double k = of->shape.hashes, root = petal_model_pow(of->rate, 1 / k);
    double bits = -k * (double)of->keys / petal_model_ln(1 - root);
    if (of->shape.lines_per_key) bits *= 1.07;
    return clamp(bits / (double)of->scheme->step_bits, 1, of->max);
}

/* Returns the number of hashes with which the search starts. */
static uint32_t guess_hashes(double rate, uint32_t lines_per_key, uint32_t from, uint32_t to)
{
    double bits = -petal_model_log2(rate);
    double k = lines_per_key == 1 ? 0.86 * bits + 0.4 : lines_per_key == 2 ? 0.9 * bits : bits;
    return k < from ? from : k > to ? to : (uint32_t)(k + 0.5);
}

/* The search for one value of lines_per_key. */
struct search {
    struct inverse of;
    uint64_t min, fewest;         /* numbers of steps; `fewest` is the lowest number found so far,
                                   * or 0 */
    struct candidate *best, last; /* `last` is the previous try, which had `fewest` steps */
};

/* Tries a number of hashes. Returns true if trying further numbers in the same direction is
 * useless. */
static bool try_hashes(struct search *with, uint32_t hashes)
{
    struct inverse *of = &with->of;
    struct enclosure at = {0};
    of->shape.hashes = hashes;
    bool is_least = with->fewest && with->fewest == with->min;
    if (with->fewest && !note(of, &at, with->fewest)) return true;
    if (is_least && at.rate_high > 2 * with->best->rate) return true;
    /* If another hash increases the rate at this size, it also increases the rate at smaller
     * sizes. */
    if (hashes > with->last.shape.hashes && at.rate_high > with->last.rate) return true;
    uint64_t steps =
        is_least ? with->min : fewest_steps(of, &at, with->fewest ? with->fewest : guess_steps(of));
    if (steps == 0) return false;
    bool is_known = steps >= with->min && steps <= of->max_steps;
    if (steps < with->min) steps = with->min;
    with->fewest = steps;
    struct candidate try = {of->shape, at.rate_high};
    try.shape.bits = steps * of->scheme->step_bits;
    if (!is_known) try.rate = petal_scheme_rate(of->scheme, &try.shape, (double)of->keys);
    if (is_better(&try, with->best)) *with->best = try;
    with->last = try;
    return false;
}

/* Returns true if a filter with two lines per key would probably need fewer lines than its minimum
 * number. */
static bool fewest_of_two_is_above(const struct scheme_def *scheme, const struct shape *two,
                                   uint64_t keys, double rate)
{
    struct inverse of = {scheme, *two, keys, max_steps(scheme, 2, keys), 0, rate};
    if (of.shape.hashes == 0) of.shape.hashes = guess_hashes(rate, 2, 2, 2 * scheme->max_hashes);
    return guess_steps(&of) < TWO_LINES_MIN_LINES;
}

/* Tries numbers of hashes (only wanted->hashes if that is set) for the given number of lines per
 * key, and stores the best candidate in *best. As the number of hashes grows, the required number
 * of bits first falls and then rises. So the search proceeds up and down from a guess until the
 * number of bits rises. */
static void search(const struct scheme_def *scheme, const struct shape *wanted, uint64_t keys,
                   double rate, struct candidate *best)
{
    uint32_t lines = wanted->lines_per_key ? wanted->lines_per_key : 1;
    uint32_t from = wanted->hashes ? wanted->hashes : lines,
             to = wanted->hashes ? from : scheme->max_hashes * lines;
    uint32_t begin = guess_hashes(rate, wanted->lines_per_key, from, to);
    uint64_t max = max_steps(scheme, wanted->lines_per_key, keys);
    struct search with = {{scheme, *wanted, keys, round_up_significant(max), max, rate},
                          min_steps(wanted->lines_per_key),
                          isinf(best->rate) ? 0 : best->shape.bits / scheme->step_bits,
                          best,
                          {*wanted, INFINITY}};
    if (with.fewest && with.fewest < with.min) return;
    for (uint32_t k = begin; k <= to && !try_hashes(&with, k);) k++;
    for (uint32_t k = begin; k > from && !try_hashes(&with, k - 1);) k--;
}

/* Returns the lowest reachable rate with any number of hashes, or `lowest` if it is lower. An error
 * message reports this rate. */
static double lowest_rate(const struct scheme_def *scheme, struct shape shape, uint64_t keys,
                          double lowest)
{
    uint32_t lines = shape.lines_per_key ? shape.lines_per_key : 1, fixed = shape.hashes;
    uint64_t max = max_steps(scheme, shape.lines_per_key, keys);
    for (uint32_t k = fixed ? fixed : lines; k <= (fixed ? fixed : scheme->max_hashes * lines);
         k++) {
        shape.hashes = k;
        double rate = rate_at(scheme, shape, max, keys);
        if (rate < lowest) lowest = rate;
    }
    return lowest;
}

/* Plans a shape for a number of keys and a rate. */
static petal_status plan_rate(const struct scheme_def *scheme, uint64_t keys, double rate,
                              struct shape *shape, petal_error *error)
{
    struct candidate best = {*shape, INFINITY};
    struct shape one = *shape, two = *shape;
    bool choose = scheme->id == PETAL_SCHEME_BLOCKED && shape->lines_per_key == 0,
         fits_one = !choose || shape->hashes <= scheme->max_hashes,
         wants_two = choose && (rate < TWO_LINES_BELOW || !fits_one) && shape->hashes != 1;
    double floor = 1;
    if (choose) one.lines_per_key = 1;
    two.lines_per_key = 2;
    /* The variant that probably needs fewer bits is tried first, so that the search for the other
     * variant can stop early. */
    bool begin_with_one = fits_one && fewest_of_two_is_above(scheme, &two, keys, rate);
    if (begin_with_one) search(scheme, &one, keys, rate, &best);
    if (wants_two) search(scheme, &two, keys, rate, &best);
    if (fits_one && !begin_with_one) search(scheme, &one, keys, rate, &best);
    if (isinf(best.rate) && fits_one) floor = lowest_rate(scheme, one, keys, floor);
    if (isinf(best.rate) && wants_two) floor = lowest_rate(scheme, two, keys, floor);
    if (isinf(best.rate))
        return petal_fail(
            error, PETAL_ERR_UNREACHABLE,
            "no %s filter keeps a rate of %.3g for %llu keys; the lowest it reaches is %.2g",
            scheme->name, rate, (unsigned long long)keys, floor);
    *shape = best.shape;
    return PETAL_OK;
}

/* For the given bits, chooses the number of hashes (and lines per key) with the lowest rate. */
static void plan_hashes(const struct scheme_def *scheme, uint64_t keys, struct shape *shape)
{
    struct candidate best = {*shape, INFINITY};
    bool blocked = scheme->id == PETAL_SCHEME_BLOCKED;
    uint32_t from = shape->lines_per_key ? shape->lines_per_key : 1;
    uint32_t to = !blocked ? from : shape->lines_per_key ? from : 2;
    for (uint32_t lines = from; lines <= to; lines++) {
        if (lines == 2 && from == 1 && best.rate >= TWO_LINES_BELOW) break;
        for (uint32_t k = lines; k <= scheme->max_hashes * lines; k++) {
            struct candidate try = best;
            try.shape.hashes = k;
            try.shape.lines_per_key = blocked ? lines : 0;
            try.rate = petal_scheme_rate(scheme, &try.shape, (double)keys);
            if (try.rate < best.rate) best = try;
        }
    }
    *shape = best.shape;
}

/* Sets *bits to the size of the maximum number of whole lines that fit into the given memory. */
static petal_status bits_of_memory(const struct scheme_def *scheme, uint64_t memory_bytes,
                                   uint64_t *bits, petal_error *error)
{
    uint64_t lines = memory_bytes / PETAL_LINE_BYTES;
    uint64_t bits_per_line = PETAL_LINE_BITS / (scheme->counters ? scheme->counters->bits : 1);
    if (lines == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 64 bytes of memory");
    if (!checked_mul(lines, bits_per_line, bits))
        return petal_fail(error, PETAL_ERR_LIMIT, "%llu bytes of memory are too many",
                          (unsigned long long)memory_bytes);
    return PETAL_OK;
}

petal_status petal_plan_check(const petal_options *o, uint64_t keys, petal_error *error)
{
    const char *wrong = NULL;
    if (o->rate != 0 && !(o->rate > 0 && o->rate < 1)) /* also true for NaN */
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a false-positive rate must be above 0 and below 1, not %g", o->rate);
    if (o->bits != 0 && o->memory_bytes != 0)
        wrong = "bits and memory both fix the size; give one of them";
    else if (o->memory_bytes != 0 && o->rate != 0 && keys != 0)
        wrong = "two of keys, rate and memory fix the third; leave one out";
    else if (o->bits != 0 && o->hashes == 0 && o->rate != 0)
        wrong = "rate and bits both fix the size; give one of them";
    else if (o->rate != 0 && o->memory_bytes == 0 && keys == 0)
        wrong = "a rate needs a number of keys, or memory; give one of them";
    else if (o->memory_bytes != 0 && o->rate == 0 && keys == 0)
        wrong = "memory needs a number of keys, or a rate; give one of them";
    else if (o->bits != 0 && o->hashes == 0 && keys == 0)
        wrong = "bits need a number of hashes, or of keys; give one of them";
    else if (o->bits == 0 && o->memory_bytes == 0 && o->rate == 0)
        wrong = "no size; give two of keys, rate and memory, or bits and hashes";
    return wrong ? petal_fail(error, PETAL_ERR_ARGUMENT, "%s", wrong) : PETAL_OK;
}

static petal_status plan_size(const struct scheme_def *scheme, const petal_options *o,
                              struct shape *shape, petal_error *error)
{
    if (o->bits == 0 && o->memory_bytes == 0)
        return plan_rate(scheme, o->capacity, o->rate, shape, error);
    shape->bits = o->bits;
    if (o->memory_bytes != 0) {
        petal_status status = bits_of_memory(scheme, o->memory_bytes, &shape->bits, error);
        if (status != PETAL_OK) return status;
    }
    if (shape->hashes != 0) return PETAL_OK;
    if (petal_check_most_bits(scheme, shape->bits, error) != PETAL_OK) return PETAL_ERR_LIMIT;
    shape->bits = shape->bits < scheme->step_bits ? scheme->step_bits : shape->bits;
    plan_hashes(scheme, o->capacity, shape);
    return PETAL_OK;
}

static bool is_native(uint32_t id)
{
    return id == PETAL_SCHEME_BLOCKED || id == PETAL_SCHEME_CLASSIC || id == PETAL_SCHEME_COUNTING;
}

/* Checks that the scheme accepts this number of hashes with this many lines per key. */
static petal_status check_hashes(const struct scheme_def *scheme, const struct shape *wanted,
                                 petal_error *error)
{
    bool blocked = scheme->id == PETAL_SCHEME_BLOCKED;
    uint32_t hashes = wanted->hashes, lines = wanted->lines_per_key;
    if (!blocked && lines != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "lines per key are for the blocked scheme only; leave them out");
    if (lines > 2)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "blocked takes 1 or 2 lines per key, not %u",
                          lines);
    uint32_t min = lines == 2 ? 2 : 1, max = scheme->max_hashes * (blocked && lines != 1 ? 2 : 1);
    if (hashes == 0 || (hashes >= min && hashes <= max)) return PETAL_OK;
    if (lines == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes up to %u hashes, not %u",
                          scheme->name, max, hashes);
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "%s with %u line%s per key takes %u to %u hashes, not %u", scheme->name,
                      lines, lines == 2 ? "s" : "", min, max, hashes);
}

/* Numbers with many divisors. A size that is a multiple of the first number can be folded to many
 * smaller sizes. From an eighth of the size downwards, each of these sizes is at most 9/8 of the
 * next smaller one: 8 to 16 all divide the number, and the later steps are no larger. */
static const uint64_t divisible[] = {720720, 5040, 60};

static petal_status make_foldable(const struct scheme_def *scheme, struct shape *shape,
                                  petal_error *error)
{
    uint64_t steps = shape->bits / scheme->step_bits;
    for (size_t i = 0; i < sizeof divisible / sizeof *divisible; i++) {
        uint64_t unit = divisible[i] * scheme->step_bits;
        if (steps < divisible[i]) continue;
        if (!checked_round_up(shape->bits, unit, &shape->bits)) shape->bits = UINT64_MAX;
        return petal_check_most_bits(scheme, shape->bits, error);
    }
    return PETAL_OK;
}

petal_status petal_plan_shape(const petal_options *options, struct shape *shape, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    uint32_t id = options->scheme == PETAL_SCHEME_DEFAULT ? PETAL_SCHEME_BLOCKED : options->scheme;
    const struct scheme_def *scheme = petal_scheme_find(id);
    if (!scheme)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no scheme number %d", (int)id);
    if (!is_native(id))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "scheme %s belongs to another library; use its format instead",
                          scheme->name);
    struct shape plan = {id, options->hashes, options->lines_per_key, 0};
    petal_status status = check_hashes(scheme, &plan, error);
    if (status == PETAL_OK) status = plan_size(scheme, options, &plan, error);
    if (status == PETAL_OK) status = petal_normalize(&plan, error);
    if (status == PETAL_OK && options->foldable) status = make_foldable(scheme, &plan, error);
    if (status == PETAL_OK) *shape = plan;
    return status;
}

/* ---- folding --------------------------------------------------------------------------------- */

static bool keeps_rate(const struct scheme_def *scheme, struct shape shape, uint64_t steps,
                       uint64_t keys, double rate)
{
    return rate_at(scheme, shape, steps, keys) <= rate; /* false if unknown */
}

/* Returns the smallest divisor of `of` that is at least `least`. Both arguments must be at least
 * 1. */
static uint64_t divisor_from(uint64_t of, uint64_t least)
{
    uint64_t best = of;
    for (uint64_t i = 1; i <= of / i; i++) {
        if (of % i != 0) continue;
        if (i >= least) return i < best ? i : best;
        if (of / i >= least) best = of / i;
    }
    return best;
}

uint64_t petal_plan_folded_bits(const struct shape *shape, uint64_t keys, double rate)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    uint64_t steps = shape->bits / scheme->step_bits, min = min_steps(shape->lines_per_key),
             low = 0, high = steps;
    if (!keeps_rate(scheme, *shape, steps, keys, rate)) return 0;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (keeps_rate(scheme, *shape, middle, keys, rate))
            high = middle;
        else
            low = middle;
    }
    uint64_t least = high > min ? high : min;
    return (least < steps ? divisor_from(steps, least) : steps) * scheme->step_bits;
}

uint64_t petal_plan_capacity(const struct shape *shape, double rate)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    uint64_t steps = shape->bits / scheme->step_bits, low = 0, high = 1;
    while (high <= UINT64_MAX / 4 && keeps_rate(scheme, *shape, steps, high, rate)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1 + (low >> SIGNIFICANT_BITS)) {
        uint64_t middle = low + (high - low) / 2;
        if (keeps_rate(scheme, *shape, steps, middle, rate))
            low = middle;
        else
            high = middle;
    }
    return round_down_significant(low);
}

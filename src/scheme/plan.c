/* plan.c - see plan.h.
 *
 * The models only go forward: shape and keys -> rate. Inverting them is a search: for each number of hashes, bisect to
 * the smallest array that keeps the rate; take the smallest of all, and of equals the one with the lowest rate. */
#include "scheme/plan.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

#include <math.h> /* isnan, a macro */

/* From this rate on down a blocked filter may use two lines a key: they save a tenth of the bits there, and more below. */
#define TWO_LINES_BELOW 2e-4
/* With fewer lines than this the two of a key meet too often for the model's two independent factors. */
#define TWO_LINES_LEAST_LINES 64u
/* A key is worth at most a line of its own; a rate that needs more is out of the scheme's reach. */
#define MOST_BITS_A_KEY 512u

/* Planned sizes keep this many significant bits (at most 0.003 % more memory). A search ends where two nearly equal numbers are
 * compared, and machines whose exp() differs in the last bit must still plan the same filter. */
#define SIGNIFICANT_BITS 16u

static uint64_t round_up_significant(uint64_t x)
{
    unsigned drop = 0;
    while (x >> drop >> SIGNIFICANT_BITS) drop++;
    uint64_t unit = (uint64_t)1 << drop;
    return (x + unit - 1) & ~(unit - 1);
}

static double rate_at(const struct scheme_def *scheme, struct shape shape, uint64_t steps, uint64_t keys)
{
    shape.bits = steps * scheme->step_bits;
    return scheme->rate(&shape, (double)keys);
}

/* The fewest steps of bits that keep `rate`, of at most `most`; 0 where none does. */
static uint64_t fewest_steps(const struct scheme_def *scheme, const struct shape *shape, uint64_t keys, double rate,
                             uint64_t most)
{
    double guess = petal_textbook_bits((double)keys, rate) / (double)scheme->step_bits;
    uint64_t high = guess < 1              ? 1
                    : guess < (double)most ? (uint64_t)guess
                                           : most,
             low = 0; /* low: known not to keep it */
    while (rate_at(scheme, *shape, high, keys) > rate) {
        if (high >= most) return 0;
        low = high;
        high = high < most - high / 4 - 1 ? high + high / 4 + 1 : most;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (rate_at(scheme, *shape, middle, keys) > rate)
            low = middle;
        else
            high = middle;
    }
    return round_up_significant(high);
}

/* The best found so far. rate is INFINITY while there is none. */
struct candidate {
    struct shape shape;
    double rate;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (isinf(b->rate)) return true;
    return a->shape.bits < b->shape.bits || (a->shape.bits == b->shape.bits && a->rate < b->rate);
}

static uint64_t least_steps(uint32_t lines_per_key)
{
    return lines_per_key == 2 ? TWO_LINES_LEAST_LINES : 1;
}

/* The most steps that are worth trying for so many keys. */
static uint64_t most_steps(const struct scheme_def *scheme, uint32_t lines_per_key, uint64_t keys)
{
    uint64_t most = scheme->max_bits / scheme->step_bits, worth;
    if (checked_mul(keys, MOST_BITS_A_KEY / scheme->step_bits, &worth) && worth < most) most = worth;
    return most < least_steps(lines_per_key) ? least_steps(lines_per_key) : most;
}

/* Tries every number of hashes (or only that of `wanted`) with these lines a key; the best goes into *best. *floor becomes the
 * lowest rate met. */
static void search(const struct scheme_def *scheme, const struct shape *wanted, uint64_t keys, double rate,
                   struct candidate *best, double *floor)
{
    uint32_t lines = wanted->lines_per_key ? wanted->lines_per_key : 1;
    uint32_t from = wanted->hashes ? wanted->hashes : lines, to = wanted->hashes ? from : scheme->max_hashes * lines;
    uint64_t most = most_steps(scheme, wanted->lines_per_key, keys), least = least_steps(wanted->lines_per_key);
    uint64_t fewest = UINT64_MAX;
    uint32_t worse = 0; /* bits over hashes falls, then rises: three in a row above the fewest end the search */
    for (uint32_t k = from; k <= to && worse < 3; k++) {
        struct candidate try = {*wanted, 0};
        try.shape.hashes = k;
        uint64_t steps = fewest_steps(scheme, &try.shape, keys, rate, most);
        double lowest = rate_at(scheme, try.shape, most, keys);
        if (lowest < *floor) *floor = lowest;
        if (steps == 0) continue;
        try.shape.bits = (steps < least ? least : steps) * scheme->step_bits;
        try.rate = scheme->rate(&try.shape, (double)keys);
        worse = try.shape.bits > fewest ? worse + 1 : 0;
        if (try.shape.bits < fewest) fewest = try.shape.bits;
        if (is_better(&try, best)) *best = try;
    }
}

/* For `keys` and `rate`. */
static petal_status plan_rate(const struct scheme_def *scheme, uint64_t keys, double rate, struct shape *shape,
                              petal_error *error)
{
    struct candidate best = {*shape, INFINITY};
    struct shape wanted = *shape;
    double floor = 1;
    bool blocked = scheme->id == PETAL_SCHEME_BLOCKED, choose = blocked && wanted.lines_per_key == 0;
    if (choose) wanted.lines_per_key = 1;
    if (!choose || wanted.hashes <= scheme->max_hashes) search(scheme, &wanted, keys, rate, &best, &floor);
    if (choose && (rate < TWO_LINES_BELOW || wanted.hashes > scheme->max_hashes) && wanted.hashes != 1) {
        wanted.lines_per_key = 2;
        search(scheme, &wanted, keys, rate, &best, &floor);
    }
    if (isinf(best.rate))
        return petal_fail(error, PETAL_ERR_UNREACHABLE,
                          "no %s filter keeps a rate of %.3g for %llu keys; the lowest it reaches is %.2g",
                          scheme->name, rate, (unsigned long long)keys, floor);
    *shape = best.shape;
    return PETAL_OK;
}

/* For given bits: the number of hashes (and of lines a key) with the lowest rate. */
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
            try.rate = scheme->rate(&try.shape, (double)keys);
            if (try.rate < best.rate) best = try;
        }
    }
    *shape = best.shape;
}

/* Keys and memory: as many whole lines as fit. */
static petal_status bits_of_memory(const struct scheme_def *scheme, uint64_t memory_bytes, uint64_t *bits,
                                   petal_error *error)
{
    uint64_t lines = memory_bytes / PETAL_LINE_BYTES;
    uint64_t bits_a_line = PETAL_LINE_BITS / (scheme->counters ? scheme->counters->bits : 1);
    if (lines == 0) return petal_fail(error, PETAL_ERR_ARGUMENT, "a filter needs at least 64 bytes of memory");
    if (!checked_mul(lines, bits_a_line, bits))
        return petal_fail(error, PETAL_ERR_LIMIT, "%llu bytes of memory are too many",
                          (unsigned long long)memory_bytes);
    return PETAL_OK;
}

petal_status petal_plan_check(const petal_options *o, uint64_t keys, petal_error *error)
{
    const char *wrong = NULL;
    if (o->rate != 0 && !(o->rate > 0 && o->rate < 1)) /* or not a number */
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a false-positive rate is above 0 and below 1, not %g", o->rate);
    if (o->bits != 0 && o->memory_bytes != 0)
        wrong = "bits and memory both fix the size; give one of them";
    else if (o->memory_bytes != 0 && o->rate != 0)
        wrong = "rate and memory both fix the size; give one of them";
    else if (o->bits != 0 && o->hashes == 0 && o->rate != 0)
        wrong = "rate and bits both fix the size; give one of them";
    else if (o->rate != 0 && keys == 0)
        wrong = "a rate holds for a number of keys; give that too";
    else if (o->memory_bytes != 0 && keys == 0)
        wrong = "memory fixes the size for a number of keys; give that too";
    else if (o->bits != 0 && o->hashes == 0 && keys == 0)
        wrong = "the number of hashes is open; give it, or the number of keys";
    else if (o->bits == 0 && o->memory_bytes == 0 && o->rate == 0)
        wrong = "no size; give keys and rate, keys and memory, or bits and hashes";
    return wrong ? petal_fail(error, PETAL_ERR_ARGUMENT, "%s", wrong) : PETAL_OK;
}

static petal_status plan_size(const struct scheme_def *scheme, const petal_options *o, struct shape *shape,
                              petal_error *error)
{
    if (o->bits == 0 && o->memory_bytes == 0) return plan_rate(scheme, o->capacity, o->rate, shape, error);
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

static bool is_native(petal_scheme id)
{
    return id == PETAL_SCHEME_BLOCKED || id == PETAL_SCHEME_CLASSIC || id == PETAL_SCHEME_COUNTING;
}

/* A number of hashes, and of lines per key, that the scheme takes together. */
static petal_status check_hashes(const struct scheme_def *scheme, const struct shape *wanted, petal_error *error)
{
    bool blocked = scheme->id == PETAL_SCHEME_BLOCKED;
    uint32_t hashes = wanted->hashes, lines = wanted->lines_per_key;
    if (!blocked && lines != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "lines per key are for the blocked scheme only; leave them out");
    if (lines > 2) return petal_fail(error, PETAL_ERR_ARGUMENT, "blocked takes 1 or 2 lines per key, not %u", lines);
    uint32_t least = lines == 2 ? 2 : 1, most = scheme->max_hashes * (blocked && lines != 1 ? 2 : 1);
    if (hashes == 0 || (hashes >= least && hashes <= most)) return PETAL_OK;
    if (lines == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes up to %u hashes, not %u", scheme->name, most, hashes);
    return petal_fail(error, PETAL_ERR_ARGUMENT, "%s with %u line%s per key takes %u to %u hashes, not %u",
                      scheme->name, lines, lines == 2 ? "s" : "", least, most, hashes);
}

petal_status petal_plan_shape(const petal_options *options, struct shape *shape, petal_error *error)
{
    petal_scheme id = options->scheme == PETAL_SCHEME_DEFAULT ? PETAL_SCHEME_BLOCKED : options->scheme;
    const struct scheme_def *scheme = petal_scheme_find(id);
    if (!scheme) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no scheme number %d", (int)id);
    if (!is_native(id))
        return petal_fail(error, PETAL_ERR_ARGUMENT, "scheme %s is of another library; ask for its format instead",
                          scheme->name);
    struct shape plan = {id, options->hashes, options->lines_per_key, 0};
    petal_status status = check_hashes(scheme, &plan, error);
    if (status == PETAL_OK) status = plan_size(scheme, options, &plan, error);
    if (status == PETAL_OK) status = scheme->settle(&plan, error);
    if (status == PETAL_OK) *shape = plan;
    return status;
}

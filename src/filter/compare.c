/* compare.c - estimates from the bits how many keys two filters have in common.
 *
 * The bits of the union are A | B, so |A or B| is estimated like the number of keys in any filter,
 * and |A and B| = |A| + |B| - |A or B|. The bits A & B are useless for this estimate, since
 * different keys in A and in B may have set the same bit.
 *
 * The accuracy of the estimate: let n(S) be the estimate for a set S of keys, and V(s) its variance
 * if S has s keys. Each key leaves a bit clear with the same probability, independently of other
 * keys. Let q(s) be the probability that s keys leave it clear. Let S and T be sets with s and t
 * keys, and C the set of their c common keys. Then for bits i and j
 *
 *     P(S leaves i clear, T leaves j clear) = q(s - c) q(t - c) P(C leaves both clear)
 *
 * Summed over all i and j, minus q(s) q(t), this is Cov(X_S, X_T) = Var(X_C) q(s) q(t) / q(c)^2.
 * The slope of the estimate as a function of X is proportional to 1 / q, so to first order (the
 * delta method)
 *
 *     Cov(n(S), n(T)) = V(c)
 *
 * for every scheme. If A has a keys, B has b, their intersection c and their union u, it follows
 * that
 *
 *     Var |A and B| = V(a) + V(b) + V(u) + 2 V(c) - 2 V(a) - 2 V(b) = V(u) + 2 V(c) - V(a) - V(b)
 *     Cov(|A and B|, |A|) = V(c)        Cov(|A and B|, |A or B|) = V(a) + V(b) - V(u)
 *     Var(|A and B| / |T|) = (Var |A and B| + r^2 V(t) - 2 r Cov(|A and B|, |T|)) / t^2
 *
 * where r is the ratio |A and B| / |T|.
 *
 * The interval is a score interval (for a proportion, that is Wilson's). It contains each c that is
 * compatible with the estimate: if c were the true number, the estimate would differ from it by at
 * most 1.96 sd. So its width is never zero, even if the sets seem equal or disjoint. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "scheme/model.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

#define NORMAL_95_PERCENT 1.959964

/* Numbers of set bits or, in counting filters, of nonzero counters. */
struct overlap {
    uint64_t a, b, both;
};

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static struct overlap overlap_of_bits(const struct bit_array *a, const struct bit_array *b)
{
    struct overlap counts = {0, 0, 0};
    uint64_t i = 0;
    for (; i + 8 <= a->size_bytes; i += 8) {
        uint64_t of_a = word_at(a->bytes + i), of_b = word_at(b->bytes + i);
        counts.a += popcount64(of_a);
        counts.b += popcount64(of_b);
        counts.both += popcount64(of_a & of_b);
    }
    for (; i < a->size_bytes; i++) {
        counts.a += popcount64(a->bytes[i]);
        counts.b += popcount64(b->bytes[i]);
        counts.both += popcount64(a->bytes[i] & b->bytes[i]);
    }
    return counts;
}

static struct overlap overlap_of(const struct scheme_def *scheme, const struct bit_array *a,
                                 const struct bit_array *b)
{
    const struct counters *counters = scheme->counters;
    if (!counters) return overlap_of_bits(a, b);
    return (struct overlap){counters->count(a->bytes, a->size_bytes).not_zero,
                            counters->count(b->bytes, b->size_bytes).not_zero,
                            counters->count_common(a->bytes, b->bytes, a->size_bytes)};
}

/* Two sets, with a and b keys, in filters of this shape. */
struct pair {
    const struct scheme_def *scheme;
    const struct shape *shape;
    double a, b, variance_a, variance_b;
    double common; /* the estimated number of common keys */
};

static double least(double x, double y)
{
    return x < y ? x : y;
}

/* Returns V(keys). */
static double variance_of(const struct pair *pair, double keys)
{
    double sd = petal_model_items_sd((double)pair->shape->bits,
                                     petal_filter_bits_per_key(pair->scheme, pair->shape), keys,
                                     petal_scheme_bits_set_sd(pair->scheme, pair->shape, keys));
    return sd * sd;
}

/* The divisor of the number of common keys: 1, or the number of keys in the union, in A or in B. */
enum share { OF_ONE, OF_UNION, OF_A, OF_B };

static double share_of(const struct pair *pair, enum share share, double common)
{
    switch (share) {
    case OF_UNION: return common / (pair->a + pair->b - common);
    case OF_A: return common / pair->a;
    case OF_B: return common / pair->b;
    default: return common;
    }
}

/* Returns the share's standard deviation if there are `common` common keys. `common` may exceed the
 * estimated size of the smaller set, since that estimate may be too low. In that case the sd is
 * computed as if one set contained the other. */
static double sd_of_share(const struct pair *pair, enum share share, double common)
{
    double c = least(common, least(pair->a, pair->b)), u = pair->a + pair->b - c;
    double of_common = variance_of(pair, c), of_union = variance_of(pair, u),
           ratio = share_of(pair, share, c);
    double variance = of_union + 2 * of_common - pair->variance_a - pair->variance_b, by = 1;
    if (share == OF_UNION) {
        variance +=
            ratio * ratio * of_union - 2 * ratio * (pair->variance_a + pair->variance_b - of_union);
        by = u;
    } else if (share != OF_ONE) {
        variance += ratio * ratio * (share == OF_A ? pair->variance_a : pair->variance_b) -
                    2 * ratio * of_common;
        by = share == OF_A ? pair->a : pair->b;
    }
    return variance > 0 ? petal_model_sqrt(variance) / by : 0;
}

/* Returns true if the observed bits are plausible for `common` common keys. */
static bool is_plausible(const struct pair *pair, enum share share, double common)
{
    double off = share_of(pair, share, common) - share_of(pair, share, pair->common);
    return (off < 0 ? -off : off) <= NORMAL_95_PERCENT * sd_of_share(pair, share, common);
}

/* Returns the last plausible number between the estimate and `end`, found by bisection. */
static double reach(const struct pair *pair, enum share share, double end)
{
    double good = pair->common, bad = end;
    if (is_plausible(pair, share, end)) return end;
    for (int i = 0; i < 50; i++) {
        double middle = (good + bad) / 2;
        if (is_plausible(pair, share, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* The share is largest if the number of common keys is `most`. */
static petal_estimate estimate(const struct pair *pair, enum share share, double most)
{
    return (petal_estimate){share_of(pair, share, pair->common),
                            share_of(pair, share, reach(pair, share, 0)),
                            share_of(pair, share, reach(pair, share, most))};
}

/* If the set has no keys, the ratio is undefined. */
static petal_estimate estimate_ratio(const struct pair *pair, enum share share, double most)
{
    return most > 0 ? estimate(pair, share, most) : (petal_estimate){NAN, NAN, NAN};
}

/* Returns |A| + |B| - |A or B|. The order of the sum makes the result exact if one set contains the
 * other. */
static double common_keys(double a, double b, double in_union)
{
    double common = a < b ? a - (in_union - b) : b - (in_union - a);
    return common > 0 ? common : 0;
}

static void compare_sets(petal_comparison *out, const struct scheme_def *scheme,
                         const struct shape *shape)
{
    struct pair pair = {scheme, shape, out->items_a.value, out->items_b.value, 0, 0, 0};
    pair.variance_a = variance_of(&pair, pair.a);
    pair.variance_b = variance_of(&pair, pair.b);
    pair.common = common_keys(pair.a, pair.b, out->union_items.value);
    out->intersection = estimate(&pair, OF_ONE, least(out->items_a.high, out->items_b.high));
    out->jaccard = estimate_ratio(&pair, OF_UNION, (pair.a + pair.b) / 2);
    out->containment_a_in_b = estimate_ratio(&pair, OF_A, pair.a);
    out->containment_b_in_a = estimate_ratio(&pair, OF_B, pair.b);
}

/* If every bit of the union is set, the union provides no information about the overlap. */
static void give_bounds(petal_comparison *out)
{
    const petal_estimate any = {NAN, 0, 1};
    out->saturated = true;
    out->intersection = (petal_estimate){NAN, 0, least(out->items_a.high, out->items_b.high)};
    out->jaccard = out->containment_a_in_b = out->containment_b_in_a = any;
}

static void compare_arrays(petal_comparison *out, const struct scheme_def *scheme,
                           const struct bit_array *a, const struct bit_array *b)
{
    struct overlap counts = overlap_of(scheme, a, b);
    uint64_t in_union = counts.a + counts.b - counts.both;
    *out = PETAL_COMPARISON_INIT;
    out->items_a = petal_filter_estimate_items(scheme, &a->shape, counts.a);
    out->items_b = petal_filter_estimate_items(scheme, &a->shape, counts.b);
    out->union_items = petal_filter_estimate_items(scheme, &a->shape, in_union);
    if (in_union == a->shape.bits)
        give_bounds(out);
    else
        compare_sets(out, scheme, &a->shape);
}

petal_status petal_compare(const petal_filter *a, const petal_filter *b,
                           petal_comparison *comparison, petal_error *error)
{
    petal_comparison own;
    petal_status status = petal_sized_check(comparison, "PETAL_COMPARISON_INIT", error);
    if (status == PETAL_OK) status = petal_filter_check_alike(a, b, error);
    if (status == PETAL_OK && a->scheme->is_in_turn)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "the bits of static filters do not tell how their keys overlap; equal "
                          "content ids mean equal sets");
    if (status == PETAL_OK && !(petal_filter_is_single(a) && petal_filter_is_single(b)))
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "filters of several layers cannot be compared: which layer has a key depends on when it was added");
    if (status == PETAL_OK) status = petal_filter_check_present(a, error);
    if (status == PETAL_OK) status = petal_filter_check_present(b, error);
    if (status == PETAL_OK) status = petal_guard_check_all(a, error);
    if (status == PETAL_OK) status = petal_guard_check_all(b, error);
    if (status != PETAL_OK) return status;
    compare_arrays(&own, a->scheme, &a->layers->array, &b->layers->array);
    petal_sized_give(&own, sizeof own, comparison);
    return PETAL_OK;
}

/* model.c - see model.h. docs/format.md, section "Rates", derives the models. */
#include "scheme/model.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/* ---- classic --------------------------------------------------------------------------------- */

/* Up to this size, the rate is computed exactly. For larger filters, the mean and the variance of
 * the number of set bits are accurate enough. At m = 1024 and k <= 16, the two results differ by
 * less than 1e-4 of the rate if there is at least half a key per bit, and by 5e-4 in emptier
 * filters (tests/unit/model.c). */
#define EXACT_BITS 1024u

/* With this many balls per bin, a bin is empty with probability e^-64, so the filter is full. */
#define FULL_BALLS_PER_BIT 64.0

/* The distribution of the number of occupied bins among `bins`, which is at most EXACT_BITS. p[x]
 * is the probability of x occupied bins, for x from low to high. Outside this range, the
 * probability is below 1e-30. So every rate above 1e-20 is exact. */
struct occupancy {
    uint32_t bins, low, high;
    double p[EXACT_BITS + 1];
};

static void empty_bins(struct occupancy *of, uint32_t bins)
{
    of->bins = bins;
    of->low = of->high = 0;
    of->p[0] = 1;
}

/* Throws one more ball. The probability p[x] is divided between x (the ball hits an occupied bin)
 * and x + 1. */
static void throw_ball(struct occupancy *of)
{
    double *p = of->p, each = 1.0 / of->bins;
    uint32_t bins = of->bins;
    if (of->high < bins) p[++of->high] = 0;
    for (uint32_t x = of->high; x > of->low; x--)
        p[x] = p[x] * (x * each) + p[x - 1] * ((bins - x + 1) * each);
    p[of->low] *= of->low * each;
    while (of->low < of->high && p[of->low] < 1e-30) of->low++;
    while (of->low < of->high && p[of->high] < 1e-30) of->high--;
}

/* Computes (x / bins)^k for each x from 0 to bins. This is the probability that k further balls all
 * hit occupied bins. */
static void set_powers(uint32_t bins, uint32_t k, double *powers)
{
    for (uint32_t x = 0; x <= bins; x++) powers[x] = pow((double)x / bins, k);
}

/* Returns the mean of these powers over the distribution. */
static double all_occupied(const struct occupancy *of, const double *powers)
{
    double sum = 0;
    for (uint32_t x = of->low; x <= of->high; x++) sum += of->p[x] * powers[x];
    return sum;
}

/* Computes the rate ball by ball, for few balls or few bins. */
static double rate_by_balls(uint32_t bits, uint32_t hashes, uint64_t balls)
{
    struct occupancy of;
    double powers[EXACT_BITS + 1];
    empty_bins(&of, bits);
    for (uint64_t ball = 0; ball < balls; ball++) throw_ball(&of);
    set_powers(bits, hashes, powers);
    return all_occupied(&of, powers);
}

#define TWO_PI 6.283185307179586

struct complex {
    double re, im;
};

static struct complex product(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Returns e^(i angle), computed from the series for an eighth of the angle. In WebAssembly, the C
 * library's sin() and cos() would add too much code. */
static struct complex at_angle(double angle)
{
    double x = (angle - TWO_PI * floor(angle / TWO_PI + 0.5)) / 8, y = x * x;
    double sine =
        x * (1 - y * (1.0 / 6 -
                      y * (1.0 / 120 - y * (1.0 / 5040 - y * (1.0 / 362880 - y / 39916800)))));
    double cosine =
        1 -
        y * (0.5 - y * (1.0 / 24 -
                        y * (1.0 / 720 - y * (1.0 / 40320 - y * (1.0 / 3628800 - y / 479001600)))));
    struct complex z = {cosine, sine};
    for (int i = 0; i < 3; i++) z = product(z, z);
    return z;
}

/* Q(w) = sum of p_j w^j */
static struct complex polynomial(const struct occupancy *of, struct complex w)
{
    struct complex sum = {0, 0};
    for (uint32_t j = of->high + 1; j-- > 0;) {
        sum = product(sum, w);
        if (j >= of->low) sum.re += of->p[j];
    }
    return sum;
}

/* Computes the same rate as rate_by_balls() in closed form. After n balls are thrown into m bins,
 * the j bins of a query are all occupied with probability n! / m^n [z^n] e^(mz) (1 - e^-z)^j. A
 * query has j bins with probability p_j that k balls occupy j bins. So
 *
 *     rate = n! / m^n [z^n] e^(mz) Q(1 - e^-z) = n! / m^n r^-n mean of e^(mz) e^-int Q(1 - e^-z)
 *
 * over the circle z = r e^it. With equally spaced points, the result is exact, except for the
 * coefficients at distances that are multiples of the number of points. Most of these coefficients
 * are negligible. All coefficients are positive, so nothing cancels if r is near the saddle point:
 *
 *     m - n / r + k / (e^r - 1) = 0 */
static double rate_by_circle(uint32_t bits, uint32_t hashes, uint32_t balls)
{
    struct occupancy query; /* the distribution of the number of bins of a query */
    double m = bits, n = balls, k = hashes, r = n / m, less = 0, sum = 0;
    empty_bins(&query, bits);
    for (uint32_t i = 0; i < hashes; i++) throw_ball(&query);
    for (int i = 0; i < 4; i++) { /* r = n / m * (1 - less) */
        less = k / n * r / expm1(r);
        r = n / m * (1 - less);
    }
    /* Even for the wider Poisson distribution with mean n, the probability outside this range is
     * only 1e-17. */
    double points = floor(9 * sqrt(n) + 30);
    for (double i = 0; 2 * i <= points; i++) {
        double angle = TWO_PI / points * i;
        struct complex z = at_angle(angle);
        z.re *= r, z.im *= r;
        /* At this point, the factor is e^-42, and it is smaller at later points. */
        if ((m - k) * (r - z.re) > 42) break;
        struct complex clear = at_angle(-z.im);
        double size = exp(-z.re), height = exp(m * (z.re - r));
        struct complex q =
            polynomial(&query, (struct complex){1 - size * clear.re, -size * clear.im});
        struct complex term = product(q, at_angle(m * z.im - n * angle));
        bool is_own_mirror = i == 0 || 2 * i == points;
        sum += (is_own_mirror ? 1 : 2) * height * term.re;
    }
    /* n! e^(mr) / (mr)^n is, by Stirling's formula, sqrt(2 pi n) times an exponential. */
    double stirling =
        (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / n / n) / n / n) / n / n) / n;
    return sum / points * sqrt(TWO_PI * n) * exp(stirling - n * (less + log1p(-less)));
}

static double small_classic_rate(uint32_t bits, uint32_t hashes, uint64_t balls)
{
    bool is_few = balls < 32 || balls < 2 * (uint64_t)hashes || bits < 2 * hashes;
    return is_few ? rate_by_balls(bits, hashes, balls)
                  : rate_by_circle(bits, hashes, (uint32_t)balls);
}

/* Returns the probability that a given bit is set. */
static double classic_fill(double bits, double balls)
{
    return bits == 1 ? balls > 0 : -expm1(balls * log1p(-1 / bits));
}

double petal_model_classic_sd(uint64_t bits, uint32_t hashes, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double m = (double)bits, balls = keys * hashes, c = balls / m;
    if (bits == 1) return 0;
    if (bits > EXACT_BITS) return sqrt(m * exp(-c) * (-expm1(-c) - c * exp(-c)));
    double clear = exp(balls * log1p(-1 / m)),
           both_clear = bits == 2 ? balls == 0 : exp(balls * log1p(-2 / m));
    double variance = m * clear + m * (m - 1) * both_clear - m * m * clear * clear;
    return sqrt(fmax(variance, 0));
}

/* Returns E[X^k] for a normal X with mean 1 and sd s: the sum over even j of C(k, j) (j-1)!!
 * s^j. */
static double normal_moment(double s, uint32_t k)
{
    double term = 1, sum = 1;
    for (uint32_t j = 2; j <= k; j += 2) {
        term *= s * s * (k - j + 2) * (k - j + 1) /
                j; /* Computes C(k, j) (j-1)!! from its value for j - 2, since j! / (j-1)!! = j!! */
        sum += term;
    }
    return sum;
}

double petal_model_classic_rate(uint64_t bits, uint32_t hashes, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double balls = keys * hashes;
    if (keys <= 0) return 0;
    if (balls > FULL_BALLS_PER_BIT * (double)bits) return 1;
    if (bits <= EXACT_BITS)
        return fmin(1, small_classic_rate((uint32_t)bits, hashes, (uint64_t)balls));
    double fill = classic_fill((double)bits, balls);
    double sd = petal_model_classic_sd(bits, hashes, keys) / (double)bits;
    /* An absent key is also a false positive if it has the same 64-bit hash as an added key. */
    return fmin(1, pow(fill, hashes) * normal_moment(sd / fill, hashes) + keys * 0x1p-64);
}

/* A key leaves one bit clear with probability 1 - per_key / m, and two bits with 1 - 2 per_key / m
 * + k (k - 1) / (m (m - 1)). In the probability that k different bits are set, X .. (X-k+1)
 * replaces X^k. */
double petal_model_distinct_rate(uint64_t bits, uint32_t hashes, double per_key, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double m = (double)bits, k = hashes, each = per_key / m, pair = k * (k - 1) / (m * (m - 1));
    double clear = exp(keys * log1p(-each)), fill = -expm1(keys * log1p(-each));
    /* P(both clear) / clear^2 - 1 */
    double excess = expm1(keys * log1p((pair - each * each) / ((1 - each) * (1 - each))));
    double variance = m * clear * (1 - clear) + m * (m - 1) * clear * clear * excess;
    double sd = sqrt(fmax(variance, 0)) / m, distinct = 1 - k * (k - 1) / 2 * (1 / fill - 1) / m;
    return fmin(1, pow(fill, k) * normal_moment(sd / fill, hashes) * fmax(distinct, 0));
}

/* ---- blocked --------------------------------------------------------------------------------- */

/* A class of subsets T of the tested words: the sum of the subsets' signs, and the mean share of
 * key patterns that leave the tested bits in T clear. `clear` contains three indexes into
 * clear_shares: for keys that set one word fewer than the query tests, the same number of words,
 * and one word more. */
struct pattern_class {
    int16_t sign;
    uint16_t clear[3];
};

#include "scheme/blocked_model.inc"

/* Computes (1 - (1 - share) / lines)^keys - 1. Most shares are similar, so the value for each share
 * is computed from `less`, the value for the share `anchor`. */
#define SERIES_TERMS 7
struct powers {
    double lines, keys, anchor, less, step;
    double series[SERIES_TERMS]; /* C(keys, j + 1) / keys^(j + 1) */
};

static struct powers powers_of(double lines, double keys)
{
    static const double parts[SERIES_TERMS] = {1,       1.0 / 2, 1.0 / 3, 1.0 / 4,
                                               1.0 / 5, 1.0 / 6, 1.0 / 7};
    struct powers of = {lines, keys, NAN, NAN, NAN, {1}};
    double each = 1 / keys;
    for (int j = 1; j < SERIES_TERMS; j++)
        of.series[j] = of.series[j - 1] * (1 - j * each) * parts[j];
    return of;
}

/* Near the anchor, the base is (1 + u) times the anchor's base. Seven terms of the binomial series
 * of (1 + u)^keys in t = keys u are enough, because the next term is below 2^-55. libm's functions
 * would take ten times as long, and a rate is a sum of hundreds of powers. */
static inline double power_less_one(struct powers *of, double share)
{
    double t = of->keys * ((share - of->anchor) * of->step);
    if (fabs(t) < 1.0 / 32) {
        double sum = of->series[SERIES_TERMS - 1];
        for (int j = SERIES_TERMS - 2; j >= 0; j--) sum = sum * t + of->series[j];
        return of->less + (1 + of->less) * t * sum;
    }
    of->anchor = share;
    of->step = 1 / (of->lines - 1 + share);
    of->less = expm1(of->keys * log1p(-(1 - share) / of->lines));
    return of->less;
}

/* Returns the probability that all `hashes` tested bits of a line are set. Each key adds a pattern
 * of `hashes` words to the line with probability 1/lines, and independently a pattern of `other`
 * words (0 means none) with probability 1/lines. The signs sum to 0, so 1 can be subtracted from
 * each power. With few keys, each power is close to 1, and the sum would suffer from
 * cancellation. */
static double line_rate(double lines, uint32_t hashes, uint32_t other, double keys)
{
    struct powers same = powers_of(lines, other == hashes ? 2 * keys : keys),
                  beside = powers_of(lines, keys);
    double sum = 0, less = 0;
    uint32_t last = UINT32_MAX;
    int which = 1 + (other ? (int)(other - hashes) : 0);
    for (uint32_t i = class_start[hashes]; i < class_start[hashes + 1]; i++) {
        const struct pattern_class *class = &pattern_classes[i];
        if (class->clear[1] != last) less = power_less_one(&same, clear_shares[class->clear[1]]);
        last = class->clear[1];
        double term = less;
        if (which != 1) {
            double other_less = power_less_one(&beside, clear_shares[class->clear[which]]);
            term += other_less + less * other_less;
        }
        sum += class->sign * term;
    }
    return fmin(fmax(sum, 0), 1);
}

/* A pattern has 32 bits of entropy, so each of the line's keys has exactly the query's pattern with
 * probability 2^-32. */
static double with_equal_patterns(double rate, double load)
{
    return rate + (1 - rate) * -expm1(-load * 0x1p-32);
}

double petal_model_blocked_rate(uint64_t lines, uint32_t hashes, uint32_t lines_per_key,
                                double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double load = keys / (double)lines, same_hash = keys * 0x1p-64, n = (double)lines;
    if (keys <= 0) return 0;
    if (lines_per_key == 1)
        return fmin(1, with_equal_patterns(line_rate(n, hashes, 0, keys), load) + same_hash);
    uint32_t first = (hashes + 1) / 2, second = hashes / 2;
    double of_first = with_equal_patterns(line_rate(n, first, second, keys), load),
           of_second = first == second
                           ? of_first
                           : with_equal_patterns(line_rate(n, second, first, keys), load);
    return fmin(1, of_first * of_second + same_hash);
}

/* The number of ordered pairs of bits in different words of a line is 512 * 480. A key sets both
 * bits of a given pair with a probability of (number of ordered pairs of the key's words in the
 * line) / (512 * 480). A pattern never sets two bits of the same word. */
#define PAIRS_PER_LINE 245760.0

double petal_model_blocked_sd(uint64_t lines, uint32_t hashes, uint32_t lines_per_key, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double load = keys / (double)lines, k = hashes,
           first = lines_per_key == 2 ? (hashes + 1) / 2 : hashes;
    double second = k - first,
           pairs = first * first + second * second - k; /* ordered pairs of a key's words in the
                                                         * same line */
    double clear = exp(-load * k / 512);
    /* This is the variance for a Poisson number of keys per line. It consists of each line's own
     * variance, plus the covariance of a key's two lines, minus the part due to the total number of
     * keys, which is known. The last part is (d E[X] / d keys)^2 = (k clear)^2 for each key. */
    double line = 512 * clear * (1 - clear) +
                  PAIRS_PER_LINE * clear * clear * expm1(load * pairs / PAIRS_PER_LINE) +
                  load * clear * clear * (2 * first * second - k * k);
    return sqrt(fmax((double)lines * line, 0));
}

/* ---- split block ----------------------------------------------------------------------------- */

#define BLOCK_BITS 256.0
#define BLOCK_WORDS 8

/* Uses inclusion and exclusion over the tested bits that are clear. After one key, i given bits are
 * still clear with probability 1 - (1 - (31/32)^i) / blocks. The sum is accurate to 1e-14, far
 * below the effect of equal patterns in any real filter. */
double petal_model_split_block_rate(uint64_t blocks, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double sum = 1, choose = 1, clear = 1, load = keys / (double)blocks;
    if (keys <= 0) return 0;
    for (int i = 1; i <= BLOCK_WORDS; i++) {
        choose *= -(BLOCK_WORDS - i + 1.0) / i;
        clear *= 31.0 / 32.0;
        sum += choose * exp(keys * log1p(-(1 - clear) / (double)blocks));
    }
    return fmin(1, with_equal_patterns(fmin(fmax(sum, 0), 1), load) + keys * 0x1p-64);
}

/* The variance is computed from the probability that one bit stays clear, and the probability that
 * two bits stay clear. Two bits in one word and two bits in different blocks have the same
 * probability (`apart`), and two bits in different words of a block have a different one
 * (`beside`). The formula avoids subtracting nearly equal large numbers. */
double petal_model_split_block_sd(uint64_t blocks, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double m = (double)blocks * BLOCK_BITS, q = BLOCK_WORDS / m, word = BLOCK_BITS / BLOCK_WORDS;
    double clear = exp(keys * log1p(-q)), apart = exp(keys * log1p(-2 * q));
    double beside = exp(keys * log1p(-2 * q + q / word));
    double ratio = q / (1 - q); /* (1 - 2q) / (1 - q)^2 = 1 - ratio^2 */
    double variance = m * (clear - apart) + m * (BLOCK_BITS - word) * (beside - apart) +
                      m * m * clear * clear * expm1(keys * log1p(-ratio * ratio));
    return sqrt(fmax(variance, 0));
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define LINE_BITS 512u

/* The number j of keys in the query's line is binomially distributed, with probability 1 / lines
 * for each of `keys` keys. Then k j balls are thrown into the line's bits. Logarithms are used,
 * since the probability of an empty line may be too small for a double. */
static double mean_over_loads(double lines, uint32_t hashes, double keys)
{
    double rate = 0, log_weight = keys * log1p(-1 / lines);
    struct occupancy of;
    /* The powers are computed once, since calling pow() for each load would take seconds. */
    double powers[LINE_BITS + 1];
    empty_bins(&of, LINE_BITS);
    set_powers(LINE_BITS, hashes, powers);
    for (double j = 0; j <= keys; j++) {
        double weight = exp(log_weight);
        if (weight > 1e-25) rate += weight * all_occupied(&of, powers);
        if (weight < 1e-25 && j > keys / lines) break;
        log_weight += log((keys - j) / ((j + 1) * (lines - 1)));
        for (uint32_t i = 0; i < hashes; i++) throw_ball(&of);
    }
    return rate;
}

/* Computes the same rate by inclusion and exclusion over the tested bits. After one key, i given
 * bits are still clear with probability 1 - (1 - (1 - i/512)^k) / lines. This method needs a few
 * powers instead of thousands of balls, but the signs of its terms alternate. Returns NAN if
 * cancellation leaves fewer than nine digits. */
static double by_clear_bits(double lines, uint32_t hashes, double keys)
{
    struct occupancy query; /* the distribution of the query's number of distinct bits */
    double sum = 0, size = 0;
    empty_bins(&query, LINE_BITS);
    for (uint32_t i = 0; i < hashes; i++) throw_ball(&query);
    for (uint32_t i = 0; i <= query.high; i++) {
        double sets = 0, choose = 1; /* the mean of C(j, i), the number of subsets of i bits */
        for (uint32_t j = i; j <= query.high; choose = choose * (j + 1) / (j + 1 - i), j++)
            sets += j >= query.low ? query.p[j] * choose : 0;
        double share = pow(1 - (double)i / LINE_BITS, hashes);
        double term = sets * exp(keys * log1p(-(1 - share) / lines));
        sum += i % 2 ? -term : term;
        size += term;
    }
    return sum > size * 1e-7 ? sum : NAN;
}

double petal_model_lines_rate(uint64_t lines, uint32_t hashes, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    double load = keys / (double)lines;
    if (keys <= 0) return 0;
    if (load * hashes > FULL_BALLS_PER_BIT * LINE_BITS) return 1;
    double rate = lines == 1 ? petal_model_classic_rate(LINE_BITS, hashes, keys)
                             : by_clear_bits((double)lines, hashes, keys);
    if (isnan(rate)) rate = mean_over_loads((double)lines, hashes, keys);
    return fmin(1, with_equal_patterns(rate, load));
}

/* Uses the law of total variance with a Poisson number of keys per line, minus the part due to the
 * total number of keys, which is known. A key leaves one given bit clear with probability a, and
 * two given bits with probability b. */
double petal_model_lines_sd(uint64_t lines, uint32_t hashes, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    const double m = LINE_BITS;
    double load = keys / (double)lines, a = pow(1 - 1 / m, hashes), b = pow(1 - 2 / m, hashes);
    if (lines == 1) return petal_model_classic_sd(LINE_BITS, hashes, keys);
    double clear = exp(load * (a - 1)), both_clear = exp(load * (b - 1)),
           slope = m * (1 - a) * clear;
    double line =
        m * clear + m * (m - 1) * both_clear - m * m * clear * clear - load * slope * slope;
    return sqrt(fmax((double)lines * line, 0));
}

/* ---- estimates and textbook ------------------------------------------------------------------ */

double petal_model_items(double bits_set, double bits, double hashes)
{
    if (bits_set >= bits) return INFINITY;
    if (bits_set <= 0) return 0;
    return log1p(-bits_set / bits) / (hashes * log1p(-1 / bits));
}

/* Divides the standard deviation of X by the derivative of X = m (1 - e^(keys k l)) with respect to
 * keys, where l = ln(1 - 1/m). */
double petal_model_items_sd(double bits, double hashes, double keys, double bits_set_sd)
{
    double log_clear = hashes * log1p(-1 / bits);
    if (bits <= 1 || keys <= 0) return 0;
    return bits_set_sd / (bits * -log_clear * exp(keys * log_clear));
}

double petal_model_hit(double probability, double times)
{
    if (times <= 0) return 0;
    return -expm1(times * log1p(-probability));
}

double petal_model_optimal_bits(double keys, double rate)
{
    return -keys * log(rate) / (log(2) * log(2));
}

double petal_model_split_block_bits(double keys, double rate)
{
    return -8.0 * keys / log(1.0 - pow(rate, 1.0 / 8.0));
}

uint64_t petal_model_round(double x)
{
    return x < 0x1p63 ? (uint64_t)floor(x + 0.5) : UINT64_MAX;
}

double petal_model_ceil(double x)
{
    return ceil(x);
}

double petal_model_ln(double x)
{
    return log(x);
}

double petal_model_logb(double x)
{
    return logb(x);
}

double petal_model_log2(double x)
{
    return log2(x);
}

double petal_model_pow(double x, double y)
{
    return pow(x, y);
}

double petal_model_sqrt(double x)
{
    return sqrt(x);
}

double petal_model_textbook_rate(double bits, double hashes, double keys)
{
    if (!(bits > 0) || !(hashes > 0) || !(keys >= 0)) return NAN;
    return pow(-expm1(-hashes * keys / bits), hashes);
}

/* statistics.h - functions, shared by the statistical tests, that compute the exact moments of the
 * number of set bits, the rate given the bits, and z-scores.
 *
 * Each function's comment contains its derivation. All seeds are fixed, so if a test passes once,
 * it always passes. The stated probabilities are those of a false alarm at the time the seeds were
 * chosen. */
#ifndef PETAL_TESTS_STATISTICS_H
#define PETAL_TESTS_STATISTICS_H

#include "../unit/image.h"

#define WORDS 16
#define STRIDES 8
#define PATTERNS (WORDS * STRIDES)

/* Returns the set of words that a pattern of k words touches. A pattern consists of a start and an
 * odd stride (see section 2 of docs/format.md). */
static inline uint32_t words_of_pattern(uint32_t pattern, uint32_t k)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < k; i++)
        set |= 1u << (pattern / STRIDES + i * (2 * (pattern % STRIDES) + 1)) % WORDS;
    return set;
}

/* ---- the number of set bits ------------------------------------------------------------------ */

struct moments {
    double mean, sd;
};

/* Compares the probability that neither of two bits is set by a throw with the probability for
 * independent bits, and returns the logarithm of their ratio. A throw sets each bit with
 * probability a, and both bits with probability `both`, so P(neither) / (1 - a)^2 - 1 = (both -
 * a^2) / (1 - a)^2. */
static inline double log_excess(double a, double both)
{
    return log1p((both - a * a) / ((1 - a) * (1 - a)));
}

/* Computes the moments for `part` of the m bits of a classic filter with n keys. Each of the kn
 * independent throws sets a given bit with probability 1/m. With q = (1 - 1/m)^(kn), the mean is
 * part * (1 - q), and the variance is part q (1 - q) + part (part - 1) cov. */
static inline struct moments classic_moments(double m, double k, double n, double part)
{
    if (m == 1) return (struct moments){part, 0};
    double q = exp(k * n * log1p(-1 / m)),
           cov = m == 2 ? -q * q : q * q * expm1(k * n * log_excess(1 / m, 0));
    return (struct moments){part * (1 - q),
                            sqrt(fmax(0, part * q * (1 - q) + part * (part - 1) * cov))};
}

/* Computes the moments for `part` (whole lines) of a blocked filter's bits. Each key throws a
 * pattern of k1 words into one of L lines and, with two lines per key, a pattern of k2 words into
 * another line. A pattern sets a given bit with probability a = k / m. It sets two given bits in
 * different words of a line with probability share / (32^2 L). `share` is the share of the 128
 * patterns that touch both words, which depends only on the distance between the words. A pattern
 * never sets two bits in the same word, or bits in different lines. */
static inline struct moments blocked_moments(double m, const uint32_t k[2], double n, double part)
{
    double lines = m / 512, part_lines = part / 512, a[2] = {k[0] / m, k[1] / m};
    double q = exp(n * (log1p(-a[0]) + log1p(-a[1])));
    double apart = q * q * expm1(n * (log_excess(a[0], 0) + log_excess(a[1], 0)));
    double variance = part * q * (1 - q) + (part * 31 + part * 512 * (part_lines - 1)) * apart;
    for (uint32_t distance = 1; distance < WORDS; distance++) {
        double log_both = 0;
        for (int i = 0; i < 2; i++) {
            uint32_t covering = 0, both = 1u | 1u << distance;
            for (uint32_t p = 0; p < PATTERNS; p++)
                covering += (words_of_pattern(p, k[i]) & both) == both;
            log_both += log_excess(a[i], covering / (double)PATTERNS / 1024 / lines);
        }
        variance += part * 32 * q * q * expm1(n * log_both);
    }
    return (struct moments){part * (1 - q), sqrt(fmax(0, variance))};
}

static inline struct moments moments_of(const petal_info *info, double n, double part)
{
    uint32_t first = info->lines_per_key == 2 ? (info->hashes + 1) / 2 : info->hashes;
    uint32_t k[2] = {first, info->hashes - first};
    if (info->scheme == PETAL_SCHEME_CLASSIC)
        return classic_moments((double)info->bits, info->hashes, n, part);
    return blocked_moments((double)info->bits, k, n, part);
}

static inline uint64_t bits_in(const uint8_t *bytes, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (; from < to && from % 8 != 0; from++) count += bytes[from / 8] >> from % 8 & 1;
    for (; from + 8 <= to; from += 8) count += (uint64_t)__builtin_popcount(bytes[from / 8]);
    for (; from < to; from++) count += bytes[from / 8] >> from % 8 & 1;
    return count;
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct sample {
    double sum, squares, count;
};

static inline void take(struct sample *sample, double value)
{
    sample->sum += value;
    sample->squares += value * value;
    sample->count++;
}

static inline double mean_of(const struct sample *sample)
{
    return sample->sum / sample->count;
}

static inline double sd_of(const struct sample *sample)
{
    double mean = mean_of(sample),
           variance = (sample->squares - sample->count * mean * mean) / (sample->count - 1);
    return sample->count < 2 ? 0 : sqrt(fmax(0, variance));
}

/* ---- the rate given the bits ----------------------------------------------------------------- */

/* A query of k words is equally likely to use any pattern of words, and any bit within each word.
 * So the rate is the mean, over all patterns, of the product of the words' fills. Strides s and
 * 16 - s touch the same sets of words, so every other stride is enough. */
static inline double rate_of_line(const uint8_t *payload, uint64_t line, uint32_t k)
{
    double fill[WORDS], sum = 0;
    for (uint64_t w = 0; w < WORDS; w++)
        fill[w] = (double)bits_in(payload, line * 512 + w * 32, line * 512 + w * 32 + 32) / 32;
    for (uint32_t start = 0; start < WORDS; start++)
        for (uint32_t stride = 1; stride < WORDS; stride += 4) {
            double product = 1;
            for (uint32_t i = 0; i < k; i++) product *= fill[(start + i * stride) % WORDS];
            sum += product;
        }
    return sum / (PATTERNS / 2.0);
}

/* The false-positive rate given the bits, and its standard deviation between filters with the same
 * number of keys. */
struct rate {
    double rate, sd;
};

/* Computes the mean rate over all lines. The lines fill almost independently, so the standard
 * deviation of the mean is a single line's standard deviation divided by sqrt(lines). */
static inline struct rate rate_of_lines(const uint8_t *payload, uint64_t lines, uint32_t k)
{
    struct sample sample = {0, 0, 0};
    for (uint64_t line = 0; line < lines; line++) take(&sample, rate_of_line(payload, line, k));
    return (struct rate){mean_of(&sample), sd_of(&sample) / sqrt((double)lines)};
}

/* In a classic filter, the rate is (X/m)^k, whose relative standard deviation is k times that of X.
 * In a blocked filter, a key's two lines are independent. */
static inline struct rate rate_given_bits(const petal_info *info, const uint8_t *payload,
                                          double keys)
{
    if (info->scheme == PETAL_SCHEME_CLASSIC) {
        struct moments bits = moments_of(info, keys, (double)info->bits);
        double rate =
            pow((double)bits_in(payload, 0, info->bits) / (double)info->bits, info->hashes);
        return (struct rate){rate, rate * info->hashes * bits.sd / bits.mean};
    }
    uint32_t first = info->lines_per_key == 2 ? (info->hashes + 1) / 2 : info->hashes,
             second = info->hashes - first;
    struct rate a = rate_of_lines(payload, info->bits / 512, first), b = {1, 0};
    if (second) b = rate_of_lines(payload, info->bits / 512, second);
    return (struct rate){a.rate * b.rate,
                         a.rate * b.sd + b.rate * a.sd}; /* the same lines are full in both */
}

#endif

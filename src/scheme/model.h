/* model.h - the mathematics of Bloom filters: exact models of the false-positive rate, estimates,
 * and textbook formulas. Only model.c uses libm. */
#ifndef PETAL_SCHEME_MODEL_H
#define PETAL_SCHEME_MODEL_H

#include <stdint.h>

/* Compilers must not contract a * b + c into one operation with a single rounding, because computed
 * sizes and rates must be the same on every CPU. The pragma applies until the end of each file that
 * includes this header. gcc ignores the pragma, but contracts nothing with -std=c11. */
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif

/* Returns the rate of k independent uniform probes into m bits, after adding `keys` distinct keys
 * of k independent positions each. This is the mean of (X/m)^k over the distribution of the number
 * X of set bits. */
double petal_model_classic_rate(uint64_t bits, uint32_t hashes, double keys);
/* Returns the rate for keys with k different positions. Some keys have fewer positions, so the mean
 * number is `per_key`. The model uses only the normal distribution, so it requires at least several
 * hundred bits. */
double petal_model_distinct_rate(uint64_t bits, uint32_t hashes, double per_key, double keys);
/* Returns the standard deviation of X in the model of petal_model_classic_rate(). */
double petal_model_classic_sd(uint64_t bits, uint32_t hashes, double keys);

/* Return the rate and the standard deviation for keys with one bit in each of k distinct words of
 * one line, or of ceil(k/2) and floor(k/2) words of two lines. */
double petal_model_blocked_rate(uint64_t lines, uint32_t hashes, uint32_t lines_per_key,
                                double keys);
double petal_model_blocked_sd(uint64_t lines, uint32_t hashes, uint32_t lines_per_key, double keys);

/* Return the rate and the standard deviation for Parquet's split blocks, where a key sets one bit
 * in each of the 8 words of a 256-bit block. */
double petal_model_split_block_rate(uint64_t blocks, double keys);
double petal_model_split_block_sd(uint64_t blocks, double keys);

/* Return the rate and the standard deviation for k independent bits, which can coincide, in a line
 * of 512 bits. */
double petal_model_lines_rate(uint64_t lines, uint32_t hashes, double keys);
double petal_model_lines_sd(uint64_t lines, uint32_t hashes, double keys);

/* Estimates the number of distinct keys from the number of set bits, if each key sets one of m bits
 * k times: ln(1 - X/m) / (k ln(1 - 1/m)). The estimate is infinite if X = m. (The estimate in
 * Swamidass and Baldi 2007, -(m/k) ln(1 - X/m), is the limit for large m.) */
double petal_model_items(double bits_set, double bits, double hashes);

/* Returns the standard deviation of the estimated number of keys if there are `keys` keys.
 * bits_set_sd is the standard deviation of X. */
double petal_model_items_sd(double bits, double hashes, double keys, double bits_set_sd);

/* Returns the probability that an event with probability q happens at least once in n trials: 1 -
 * (1 - q)^n. */
double petal_model_hit(double probability, double times);

/* Other libraries compute sizes with these functions from libm: -n ln p / (ln 2 * ln 2), x rounded
 * half up, x rounded up, ln x, log2 x, the exponent of x, x to the power of y; and for Parquet -8 n
 * / ln(1 - p^(1/8)). */
#define PETAL_LN2 0.693147180559945309417232121458
double petal_model_optimal_bits(double keys, double rate);
uint64_t petal_model_round(double x);
double petal_model_ceil(double x);
double petal_model_split_block_bits(double keys, double rate);
double petal_model_ln(double x);
double petal_model_logb(double x);
double petal_model_log2(double x);
double petal_model_pow(double x, double y);

/* Calls libm's sqrt(), for sums of variances in other files. */
double petal_model_sqrt(double x);

/* Returns (1 - e^(-kn/m))^k, the rate that libraries promise if they plan with this formula.
 * Returns NAN outside the formula's domain. */
double petal_model_textbook_rate(double bits, double hashes, double keys);

#endif

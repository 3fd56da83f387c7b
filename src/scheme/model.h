/* model.h - the mathematics of Bloom filters: exact models of the false-positive rate, estimates,
 * textbook formulas. Only model.c uses libm. */
#ifndef PETAL_SCHEME_MODEL_H
#define PETAL_SCHEME_MODEL_H

#include <stdint.h>

/* a * b + c must not be contracted into one operation with one rounding, because computed sizes and
 * rates must be the same on every CPU. The pragma applies until the end of each file that includes
 * this one. gcc doesn't know it, but contracts nothing with -std=c11. */
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif

/* Returns the rate of k independent uniform probes into m bits, after `keys` distinct keys of k
 * independent positions each: the mean of (X/m)^k over the distribution of the number X of set
 * bits. */
double petal_model_classic_rate(uint64_t bits, uint32_t hashes, double keys);
/* The same if each key has k different positions. Some keys have fewer, so that the mean is
 * `per_key`. It uses only the normal distribution, so it needs at least several hundred bits. */
double petal_model_distinct_rate(uint64_t bits, uint32_t hashes, double per_key, double keys);
/* Returns the standard deviation of X in the first model. */
double petal_model_classic_sd(uint64_t bits, uint32_t hashes, double keys);

/* The same for keys with one bit in each of k distinct words of one line, or of ceil(k/2) and
 * floor(k/2) words of two lines. */
double petal_model_blocked_rate(uint64_t lines, uint32_t hashes, uint32_t lines_per_key,
                                double keys);
double petal_model_blocked_sd(uint64_t lines, uint32_t hashes, uint32_t lines_per_key, double keys);

/* The same for Parquet's split blocks, where a key has one bit in each of the 8 words of a 256-bit
 * block. */
double petal_model_split_block_rate(uint64_t blocks, double keys);
double petal_model_split_block_sd(uint64_t blocks, double keys);

/* The same for k independent bits in a line of 512. They can coincide. */
double petal_model_lines_rate(uint64_t lines, uint32_t hashes, double keys);
double petal_model_lines_sd(uint64_t lines, uint32_t hashes, double keys);

/* Returns the number of distinct keys from the number of set bits, if each key sets one of m bits k
 * times: ln(1 - X/m) / (k ln(1 - 1/m)). It is infinite if X = m. (Swamidass and Baldi 2007 have
 * -(m/k) ln(1 - X/m), its limit for large m.) */
double petal_model_items(double bits_set, double bits, double hashes);

/* Returns the standard deviation of that estimate at `keys` keys, where bits_set_sd is that of
 * X. */
double petal_model_items_sd(double bits, double hashes, double keys, double bits_set_sd);

/* Returns the probability that an event with probability q happens at least once in this many
 * trials: 1 - (1 - q)^n. */
double petal_model_hit(double probability, double times);

/* Other libraries compute sizes with these functions of libm: -n ln p / (ln 2 * ln 2), x rounded
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

/* Returns (1 - e^(-kn/m))^k, the rate that libraries promise if they plan with this formula. NAN
 * outside its domain. */
double petal_model_textbook_rate(double bits, double hashes, double keys);

#endif

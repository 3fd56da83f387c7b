/* course.h - how the rate changes if a key's k positions are not independent.
 *
 * Most libraries compute the k positions of a key from two numbers, a + i * b mod m. If two keys
 * have the same b, or the b of a key is 0 or a small fraction of m, then positions coincide far
 * more often than k independent ones would. That happens to about one in m keys, so it matters if
 * the requested rate is not large compared with 1 / m. A filter for 100 keys at 0.01 % has 2 to 10
 * times as many false positives as (X/m)^k predicts; one for a million keys at 1 % has as many as
 * predicted. docs/formats/README.md, section "Rates". */
#ifndef PETAL_SCHEME_COURSE_H
#define PETAL_SCHEME_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct bit_array;
struct scheme_def;
struct shape;

enum course_kind {
    COURSE_INDEPENDENT = 0, /* k words of a hash, or their equivalent */
    COURSE_STRAIGHT,        /* a + i * b mod m; nothing wraps before the remainder */
    COURSE_WRAPPED,         /* (a + i * b) mod 2^wrap_bits mod m */
    COURSE_HALVED,          /* the same, halved before the remainder: the lost bit may carry */
    COURSE_FOLDED,          /* the same, but the upper half counts downwards */
    COURSE_CURVED,          /* b changes with each step, so no two keys run in parallel */
    COURSE_WOVEN,           /* two of a and two of b, alternating */
    COURSE_UNKNOWN,         /* the hash is too weak to predict a rate */
};

/* Where a number is within a hash's words. */
struct course_number {
    uint8_t word, shift, bits;
    bool is_rotated; /* 32 bits, rotated */
};

/* The maximum number of hash words with a course. */
#define PETAL_COURSE_WORDS 4u

struct course {
    enum course_kind kind;
    uint32_t wrap_bits;
    struct course_number start, step; /* a and b; woven: the next word has another one */
};

/* A scheme row's course and its rate functions. Only rows name these functions, so builds without
 * such schemes leave them out. */
#define COURSE(...) \
    .course = {__VA_ARGS__}, .rate = petal_course_rate, .rate_of_bits = petal_course_rate_of_bits

/* scheme_def.rate and rate_of_bits of a scheme with a course. */
double petal_course_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_course_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);

#endif

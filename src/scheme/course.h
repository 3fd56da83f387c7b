/* course.h - computes the false-positive rate of filters in which a key's k positions are not
 * independent.
 *
 * Most libraries compute the k positions of a key from two numbers: a + i * b mod m. If two keys
 * have the same b, or if a key's b is 0 or a simple fraction of m, positions coincide far more
 * often than independent positions would. This affects about one in m keys, so it matters unless
 * the requested rate is large compared with 1 / m. A filter for 100 keys at 0.01 % has 2 to 10
 * times as many false positives as (X/m)^k predicts. A filter for a million keys at 1 % has as many
 * false positives as the formula predicts. See docs/formats/README.md, section "Rates". */
#ifndef PETAL_SCHEME_COURSE_H
#define PETAL_SCHEME_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct bit_array;
struct scheme_def;
struct shape;

enum course_kind {
    COURSE_INDEPENDENT = 0, /* k independent words of a hash, or equivalent */
    COURSE_STRAIGHT,        /* a + i * b mod m; nothing wraps before the remainder */
    COURSE_WRAPPED,         /* (a + i * b) mod 2^wrap_bits mod m */
    COURSE_HALVED,          /* like COURSE_WRAPPED, but halved before the remainder; the lost bit
                             * may carry */
    COURSE_FOLDED,          /* like COURSE_WRAPPED, but values in the upper half are mirrored, so
                             * they count down */
    COURSE_CURVED,          /* b changes with each step, so no two keys run in parallel */
    COURSE_WOVEN,           /* two values of a and two values of b, used in turn */
    COURSE_UNKNOWN,         /* the hash is too weak to predict a rate */
};

/* The location of a number within the words of a hash. */
struct course_number {
    uint8_t word, shift, bits;
    bool is_rotated; /* 32 bits, rotated */
};

/* The maximum number of words in a hash with a course. */
#define PETAL_COURSE_WORDS 4u

struct course {
    enum course_kind kind;
    uint32_t wrap_bits;
    /* The numbers a and b. In a woven course, the next word contains the second a or b. */
    struct course_number start, step;
};

/* Defines a scheme row's course and rate functions. Only such rows refer to these functions, so a
 * build without such schemes doesn't link them. */
#define COURSE(...) \
    .course = {__VA_ARGS__}, .rate = petal_course_rate, .rate_of_bits = petal_course_rate_of_bits

/* Implement scheme_def.rate and rate_of_bits for schemes with a course. */
double petal_course_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_course_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);

#endif

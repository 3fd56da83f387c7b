/* course.h - the rate of filters in which a key's k positions are not independent.
 *
 * Most libraries compute the k positions of a key from two numbers: a + i * b mod m. If two keys
 * have the same b, or if the b of a key is 0 or a simple fraction of m, positions coincide far more
 * often than independent ones would. That happens to about one in m keys. So it matters if the
 * requested rate is not large compared with 1 / m. A filter for 100 keys at 0.01 % has 2 to 10
 * times as many false positives as (X/m)^k predicts. A filter for a million keys at 1 % has as many
 * as predicted. See docs/formats/README.md, section "Rates". */
#ifndef PETAL_SCHEME_COURSE_H
#define PETAL_SCHEME_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct bit_array;
struct scheme_def;
struct shape;

enum course_kind {
    COURSE_INDEPENDENT = 0, /* k words of a hash, or equivalent */
    COURSE_STRAIGHT,        /* a + i * b mod m; nothing wraps before the remainder */
    COURSE_WRAPPED,         /* (a + i * b) mod 2^wrap_bits mod m */
    COURSE_HALVED,          /* the same, but halved before the remainder; the lost bit may carry */
    COURSE_FOLDED,          /* the same, but the upper half counts downwards */
    COURSE_CURVED,          /* b changes with each step, so no two keys run in parallel */
    COURSE_WOVEN,           /* two values of a and two of b, in turn */
    COURSE_UNKNOWN,         /* the hash is too weak to predict a rate */
};

/* The place of a number within the words of a hash. */
struct course_number {
    uint8_t word, shift, bits;
    bool is_rotated; /* 32 bits, rotated */
};

/* A hash with a course has at most this many words. */
#define PETAL_COURSE_WORDS 4u

struct course {
    enum course_kind kind;
    uint32_t wrap_bits;
    /* The numbers a and b. If the course is woven, the next word has the other one. */
    struct course_number start, step;
};

/* Defines a scheme row's course and its rate functions. Only rows name these functions, so a build
 * without such schemes leaves them out. */
#define COURSE(...) \
    .course = {__VA_ARGS__}, .rate = petal_course_rate, .rate_of_bits = petal_course_rate_of_bits

/* The scheme_def.rate and rate_of_bits of a scheme with a course. */
double petal_course_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_course_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);

#endif

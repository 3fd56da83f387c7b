/* course.h - what it costs that the positions of a key are not k independent ones.
 *
 * Most libraries make the k positions of a key from two numbers, a + i * b mod m. Two keys of the
 * same b, or a key whose b is 0 or a small part of m, then meet far more often than k independent
 * positions would. It happens to 1 of m keys, so it matters where the rate asked for is not large
 * beside 1 / m: a filter of 100 keys at 0.01 % is wrong 2 to 10 times as often as (X/m)^k says, and
 * one of a million keys at 1 % as often. docs/formats/README.md, section "Rates". */
#ifndef PETAL_SCHEME_COURSE_H
#define PETAL_SCHEME_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct bit_array;
struct scheme_def;
struct shape;

enum course_kind {
    COURSE_INDEPENDENT = 0, /* k words of a hash, or as good as that */
    COURSE_STRAIGHT,        /* a + i * b mod m, nothing wraps before the remainder */
    COURSE_WRAPPED,         /* (a + i * b) mod 2^wrap_bits mod m */
    COURSE_HALVED,          /* the same of half of it: a carry comes and goes */
    COURSE_FOLDED,          /* the same, and in its upper half counted downwards */
    COURSE_CURVED,          /* b changes from step to step, so no two keys run side by side */
    COURSE_WOVEN,           /* two of a and two of b in turns */
    COURSE_UNKNOWN,         /* the hash is so weak that no rate can be given */
};

/* Where in the words of a hash a number is. */
struct course_number {
    uint8_t word, shift, bits;
    bool is_rotated; /* of 32 bits: what is shifted out comes in below */
};

/* The most words of a hash with a course. */
#define PETAL_COURSE_WORDS 4u

struct course {
    enum course_kind kind;
    uint32_t wrap_bits;
    struct course_number start, step; /* a and b; woven: the word after it has another one */
};

/* In the row of a scheme: its course, and what it makes of rates. Rows alone name these functions,
 * so that builds without such schemes leave them out. */
#define COURSE(...) \
    .course = {__VA_ARGS__}, .rate = petal_course_rate, .rate_of_bits = petal_course_rate_of_bits

/* scheme_def.rate and rate_of_bits of a scheme with a course. */
double petal_course_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_course_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);

#endif

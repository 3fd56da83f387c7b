/* require.h - defines assertions that print the source line, both expressions and both values of a
 * failed comparison. */
#ifndef PETAL_TESTS_REQUIRE_H
#define PETAL_TESTS_REQUIRE_H

#include "petal/petal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails the test unless the condition is true. The message should name the input. */
#define require(condition, ...) \
    do { \
        if (!(condition)) { \
            print_error("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            print_error(__VA_ARGS__); \
            print_error("\n"); \
            fail(); \
        } \
    } while (0)

/* Fails the test unless the call returned the expected status. `error` must be the petal_error that
 * was passed to the call. */
#define require_status(wanted, call, error) \
    do { \
        petal_status require_status_got = (call); \
        if (require_status_got != (wanted)) { \
            print_error("%s:%d: %s\n    is \"%s\" (%s), wanted \"%s\"\n", __FILE__, __LINE__, \
                        #call, petal_status_name(require_status_got), \
                        require_status_got < 0 ? (error).message : "", petal_status_name(wanted)); \
            fail(); \
        } \
    } while (0)

/* require_that(items, ==, 3): fails the test and prints both values unless the comparison is true.
 * Each side is evaluated once and converted to the type in which C would compare the two. */
#define require_that(a, compares, b) \
    do { \
        __typeof__(true ? (a) : (b)) require_left = (a), require_right = (b); \
        if (!(require_left compares require_right)) { \
            print_error("%s:%d: not so: %s %s %s\n    left:  ", __FILE__, __LINE__, #a, #compares, \
                        #b); \
            REQUIRE_PRINT(require_left); \
            print_error("\n    right: "); \
            REQUIRE_PRINT(require_right); \
            print_error("\n"); \
            fail(); \
        } \
    } while (0)

#define REQUIRE_PRINT(value) \
    _Generic((value), float \
             : require_print_real, double \
             : require_print_real, signed char \
             : require_print_signed, short \
             : require_print_signed, int \
             : require_print_signed, long \
             : require_print_signed, long long \
             : require_print_signed, bool \
             : require_print_unsigned, unsigned char \
             : require_print_unsigned, unsigned short \
             : require_print_unsigned, unsigned \
             : require_print_unsigned, unsigned long \
             : require_print_unsigned, unsigned long long \
             : require_print_unsigned, default \
             : require_print_pointer)(value)

static inline void require_print_real(double value)
{
    print_error("%.17g", value);
}

static inline void require_print_signed(long long value)
{
    print_error("%lld", value);
}

static inline void require_print_unsigned(unsigned long long value)
{
    print_error("%llu (0x%llx)", value, value);
}

static inline void require_print_pointer(const void *value)
{
    print_error("%p", value);
}

#endif

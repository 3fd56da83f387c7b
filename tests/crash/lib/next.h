/* next.h - helps a program that redefines a function of the C library to call the original. */
#ifndef PETAL_TESTS_NEXT_H
#define PETAL_TESTS_NEXT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Returns the C library's function of this name, or its 64-bit variant (such as pwrite64) if that
 * is a separate function. */
static inline void *next_of(const char *name)
{
    char name64[32];
    snprintf(name64, sizeof name64, "%s64", name);
    void *function = dlsym(RTLD_NEXT, name64);
    return function ? function : dlsym(RTLD_NEXT, name);
}

/* Sets a function pointer to the C library's function. ISO C has no cast for that. */
#define FIND(next, name) \
    do { \
        static void *address; \
        if (!address) address = next_of(name); \
        memcpy(&(next), &address, sizeof(next)); \
    } while (0)

#endif

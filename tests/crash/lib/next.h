/* next.h - lets a program that redefines a C library function still call the original. */
#ifndef PETAL_TESTS_NEXT_H
#define PETAL_TESTS_NEXT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Returns the C library function with this name, or its 64-bit variant (such as pwrite64) if the
 * two differ. */
static inline void *next_of(const char *name)
{
    char name64[32];
    snprintf(name64, sizeof name64, "%s64", name);
    void *function = dlsym(RTLD_NEXT, name64);
    return function ? function : dlsym(RTLD_NEXT, name);
}

/* Sets a function pointer to the C library's function. ISO C defines no cast from an object pointer
 * to a function pointer. */
#define FIND(next, name) \
    do { \
        static void *address; \
        if (!address) address = next_of(name); \
        memcpy(&(next), &address, sizeof(next)); \
    } while (0)

#endif

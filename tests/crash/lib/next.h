/* next.h - helps programs that redefine a C library function to call the original. */
#ifndef PETAL_TESTS_NEXT_H
#define PETAL_TESTS_NEXT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The C library's function of this name, or its 64-bit variant (pwrite64) where that is
 * separate. */
static inline void *next_of(const char *name)
{
    char name64[32];
    snprintf(name64, sizeof name64, "%s64", name);
    void *function = dlsym(RTLD_NEXT, name64);
    return function ? function : dlsym(RTLD_NEXT, name);
}

/* Sets a function pointer to the C library's function: ISO C has no cast for it. */
#define FIND(next, name) \
    do { \
        static void *address; \
        if (!address) address = next_of(name); \
        memcpy(&(next), &address, sizeof(next)); \
    } while (0)

#endif

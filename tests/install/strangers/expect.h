/* expect.h - the checks that the programs in this folder share. */
#include <stdio.h>
#include <stdlib.h>

#define expect(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

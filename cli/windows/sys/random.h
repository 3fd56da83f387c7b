/* random.h - for Windows: see windows/posix.c. */
#ifndef PETAL_CLI_WINDOWS_RANDOM_H
#define PETAL_CLI_WINDOWS_RANDOM_H

#include <stddef.h>

int getentropy(void *bytes, size_t size_bytes);

#endif

/* mman.h - for Windows: see windows/posix.c. */
#ifndef PETAL_CLI_WINDOWS_MMAN_H
#define PETAL_CLI_WINDOWS_MMAN_H

#include <sys/types.h>

#define PROT_READ 1
#define MAP_SHARED 1
#define MAP_FAILED ((void *)-1)

/* Whole files, for reading. */
void *mmap(void *at, size_t size_bytes, int protection, int flags, int descriptor, off_t offset);
int munmap(void *bytes, size_t size_bytes);

#endif

/* memory.c - implements memcpy, memmove and memset with WebAssembly's own instructions. */
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size_bytes)
{
    return __builtin_memcpy(to, from, size_bytes);
}

void *memmove(void *to, const void *from, size_t size_bytes)
{
    return __builtin_memmove(to, from, size_bytes);
}

void *memset(void *to, int byte, size_t size_bytes)
{
    return __builtin_memset(to, byte, size_bytes);
}

/* bytes.h - reads and writes the little-endian numbers in headers, dumps and packed batches. */
#ifndef PETAL_REDIS_BYTES_H
#define PETAL_REDIS_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t load_little(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline void store_little(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static inline double load_double(const uint8_t *from)
{
    uint64_t bits = load_little(from, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void store_double(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_little(to, bits, 8);
}

#endif

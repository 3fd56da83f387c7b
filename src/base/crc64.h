/* crc64.h - the CRC that Redis uses: 64 bits, polynomial ad93d23594c935a9 (Jones), reflected,
 * initial value 0. For "123456789" it is e9c6d914c4b8d9ca. The library has no mutable global state,
 * so each use rebuilds the table, which takes microseconds. */
#ifndef PETAL_BASE_CRC64_H
#define PETAL_BASE_CRC64_H

#include <stdint.h>

#define PETAL_CRC64_REFLECTED 0x95ac9329ac4bc9b5u

struct crc64 {
    uint64_t value;
    uint64_t table[256];
};

static inline void crc64_begin(struct crc64 *crc)
{
    crc->value = 0;
    for (uint64_t i = 0; i < 256; i++) {
        uint64_t x = i;
        for (int bit = 0; bit < 8; bit++) x = x >> 1 ^ (x & 1 ? PETAL_CRC64_REFLECTED : 0);
        crc->table[i] = x;
    }
}

static inline void crc64_add(struct crc64 *crc, const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t x = crc->value;
    for (uint64_t i = 0; i < size_bytes; i++) x = crc->table[(x ^ bytes[i]) & 0xff] ^ x >> 8;
    crc->value = x;
}

#endif

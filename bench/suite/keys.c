/* keys.c - see keys.h. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* SplitMix64's output function: a bijection, so different numbers make different keys. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#define FIRST_ABSENT ((uint64_t)1 << 40)

static uint64_t below(uint64_t random, uint64_t limit)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)random * limit >> 64);
}

static void write_address(uint8_t *out, uint64_t number)
{
    static const char start[] = "http://a.io/", digits[] = "0123456789abcdef";
    memcpy(out, start, sizeof start - 1);
    out += sizeof start - 1;
    for (int shift = 60; shift >= 0; shift -= 4) *out++ = (uint8_t)digits[number >> shift & 15];
}

static void write_key(const struct keys *keys, uint8_t *out, uint64_t number)
{
    uint64_t mixed = mix(number + 1);
    if (keys->key_bytes == ADDRESS_BYTES)
        write_address(out, mixed);
    else
        memcpy(out, &mixed, sizeof mixed);
}

bool take_keys(struct keys *keys, size_t max, bool addresses)
{
    size_t size = addresses ? ADDRESS_BYTES : 8;
    void *bytes = take_pages(max * size, true);
    *keys = (struct keys){bytes, size, max};
    return bytes != NULL;
}

void drop_keys(struct keys *keys)
{
    if (keys->bytes) drop_pages((void *)(uintptr_t)keys->bytes, keys->count * keys->key_bytes);
}

size_t fill_keys(struct keys *keys, enum keys_of kind, uint64_t from, size_t count,
                 uint64_t members)
{
    uint8_t *out = (uint8_t *)(uintptr_t)keys->bytes;
    size_t counted = 0;
    for (size_t i = 0; i < count; i++, out += keys->key_bytes) {
        uint64_t number = from + i, coin = mix(~number);
        bool first = coin & 1 || (kind == STREAM && counted == 0);
        if (kind == ABSENT || (kind == MIXED && !first)) number += FIRST_ABSENT;
        if (kind == MIXED && first) number = below(mix(coin), members);
        if (kind == STREAM) number = first ? counted : below(mix(coin), counted);
        counted += first;
        write_key(keys, out, number);
    }
    return counted;
}

struct keys some_keys(const struct keys *keys, size_t from, size_t count)
{
    return (struct keys){key_at(keys, from), keys->key_bytes, count};
}
